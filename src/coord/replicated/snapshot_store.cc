#include "coord/replicated/snapshot_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <expected>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/bytes.h"
#include "base/result.h"

namespace cadastre::coord::replicated {
namespace {

constexpr mode_t kFileMode = 0600;

class Descriptor {
 public:
  explicit Descriptor(int file) noexcept : file_(file) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (file_ >= 0) close(file_);
  }
  [[nodiscard]] int get() const noexcept { return file_; }
  [[nodiscard]] bool is_open() const noexcept { return file_ >= 0; }

 private:
  int file_;
};

std::unexpected<base::Error<FileError>> refused(const std::filesystem::path& path, int code) {
  return base::fail(
      FileError::kFailed,
      path.string() + ": " + std::error_code(code, std::generic_category()).message());
}

// 0 or an errno.
int write_all(int file, base::ByteView bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace

base::Result<std::optional<base::Bytes>, FileError> PosixSnapshotFiles::read(
    std::string_view name) {
  const std::filesystem::path path = directory_ / name;
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) {
    if (errno == ENOENT) return std::nullopt;
    return refused(path, errno);
  }
  struct stat facts{};
  if (fstat(file.get(), &facts) != 0) return refused(path, errno);
  base::Bytes bytes(static_cast<std::size_t>(facts.st_size));
  std::size_t at = 0;
  while (at < bytes.size()) {
    const ssize_t got = ::read(file.get(), bytes.data() + at, bytes.size() - at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return refused(path, errno);
    if (got == 0) break;  // Shorter than it says: its sum will tell.
    at += static_cast<std::size_t>(got);
  }
  bytes.resize(at);
  return bytes;
}

base::Result<void, FileError> PosixSnapshotFiles::write_synced(std::string_view name,
                                                               base::ByteView bytes) {
  const std::filesystem::path path = directory_ / name;
  const Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kFileMode));
  if (!file.is_open()) return refused(path, errno);
  if (const int code = write_all(file.get(), bytes); code != 0) return refused(path, code);
  if (fsync(file.get()) != 0) return refused(path, errno);
  return {};
}

base::Result<void, FileError> PosixSnapshotFiles::rename(std::string_view from,
                                                         std::string_view to) {
  const std::filesystem::path path = directory_ / to;
  if (std::rename((directory_ / from).c_str(), path.c_str()) != 0) return refused(path, errno);
  return {};
}

base::Result<void, FileError> PosixSnapshotFiles::sync_names() {
  const Descriptor names(open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!names.is_open() || fsync(names.get()) != 0) return refused(directory_, errno);
  return {};
}

base::Result<void, FileError> SnapshotStore::save(base::ByteView snapshot) {
  CAD_TRY(files_.write_synced(kSnapshotNewName, snapshot));
  CAD_TRY(files_.rename(kSnapshotNewName, kSnapshotName));
  return files_.sync_names();
}

}  // namespace cadastre::coord::replicated
