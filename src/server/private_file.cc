#include "server/private_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "base/result.h"

namespace cadastre::server {
namespace {

enum class Secrecy : std::uint8_t {
  kPublic,
  kPrivate
};

// A descriptor that is closed at the end of its scope.
struct OpenFile {
  int descriptor;
  explicit OpenFile(const char* path) noexcept
      // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): there is no other open(2)
      : descriptor(::open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (descriptor >= 0) ::close(descriptor);
  }
};

auto unreadable(const char* path, int error) {
  return base::fail(PrivateFileError::kUnreadable,
                    fmt::format("{}: {}", path, std::generic_category().message(error)));
}

base::Result<std::string, PrivateFileError> read(const char* path,
                                                 std::size_t bytes_max,
                                                 Secrecy secrecy) {
  const OpenFile file(path);
  if (file.descriptor < 0) return unreadable(path, errno);
  struct stat status{};
  if (::fstat(file.descriptor, &status) != 0) return unreadable(path, errno);
  if (!S_ISREG(status.st_mode)) {
    return base::fail(PrivateFileError::kUnreadable, fmt::format("{} is not a plain file", path));
  }
  if (secrecy == Secrecy::kPrivate && (status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return base::fail(PrivateFileError::kExposed,
                      fmt::format("{} is open to others than its owner: chmod 600", path));
  }
  std::string content(bytes_max + 1, '\0');
  std::size_t filled = 0;
  while (filled < content.size()) {
    const ssize_t got = ::read(file.descriptor, content.data() + filled, content.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return unreadable(path, errno);
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  if (filled > bytes_max) {
    return base::fail(PrivateFileError::kUnreadable,
                      fmt::format("{} has more than {} bytes", path, bytes_max));
  }
  content.resize(filled);
  return content;
}

}  // namespace

base::Result<std::string, PrivateFileError> read_private_file(const char* path,
                                                              std::size_t bytes_max) {
  return read(path, bytes_max, Secrecy::kPrivate);
}

base::Result<std::string, PrivateFileError> read_public_file(const char* path,
                                                             std::size_t bytes_max) {
  return read(path, bytes_max, Secrecy::kPublic);
}

}  // namespace cadastre::server
