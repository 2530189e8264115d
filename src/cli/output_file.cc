#include "cli/output_file.h"

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <string>
#include <system_error>

#include "base/bytes.h"
#include "base/result.h"
#include "cli/command_error.h"

namespace cadastre::cli {
namespace {

constexpr mode_t kFileMode = 0666;  // as the user's mask allows

// 0 or an errno.
int write_all(int descriptor, base::ByteView rest) {
  while (!rest.empty()) {
    const auto written = ::write(descriptor, rest.data(), rest.size());
    if (written >= 0) {
      rest = rest.subspan(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

// 0 or an errno. What cannot be synced (a pipe) needs no sync.
int sync(int descriptor) {
  if (::fsync(descriptor) == 0 || errno == EINVAL || errno == EROFS) return 0;
  return errno;
}

int write_to(const std::string& path, int flags, base::ByteView content) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | flags, kFileMode);
  if (descriptor < 0) return errno;
  int error = write_all(descriptor, content);
  if (error == 0) error = sync(descriptor);
  if (::close(descriptor) != 0 && error == 0) error = errno;
  return error;
}

int replace(const std::string& path, base::ByteView content) {
  const std::string beside = path + ".part";
  int error = write_to(beside, O_CREAT | O_TRUNC, content);
  if (error == 0 && ::rename(beside.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) ::unlink(beside.c_str());
  return error;
}

}  // namespace

Result<void, CommandError> write_file(const std::string& path, base::ByteView content) {
  std::error_code unknown;
  const auto status = std::filesystem::status(path, unknown);
  const bool is_special =
      std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
  const int error = is_special ? write_to(path, 0, content) : replace(path, content);
  if (error != 0) return base::fail(cannot_write(path, error));
  return {};
}

}  // namespace cadastre::cli
