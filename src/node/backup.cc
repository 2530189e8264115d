#include "node/backup.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/blake3.h"
#include "base/bytes.h"
#include "base/directory_lock.h"
#include "base/result.h"
#include "log/crash_notes.h"
#include "node/backup_manifest.h"
#include "node/embedded_coordination.h"
#include "node/node_seal.h"
#include "node/space_watch.h"
#include "server/private_file.h"

namespace cadastre::node {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLockName = "LOCK";
constexpr std::string_view kFilesName = "files";
constexpr std::string_view kManifestName = "MANIFEST";
constexpr std::string_view kPartialSuffix = ".partial";
constexpr std::size_t kCopyBytes = std::size_t{1} << 20;
constexpr std::chrono::seconds kClosePatience{10};

auto system_error(const fs::path& path, int error) {
  return base::fail(BackupError::kIo,
                    fmt::format("{}: {}", path.string(), std::generic_category().message(error)));
}
auto system_error(const fs::path& path, const std::error_code& error) {
  return base::fail(BackupError::kIo, fmt::format("{}: {}", path.string(), error.message()));
}

// A descriptor that is closed at the end of its scope.
class File {
 public:
  File(const fs::path& path, int flags) noexcept
      // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): there is no other open(2)
      : descriptor_(::open(path.c_str(), flags | O_CLOEXEC, 0600)) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  [[nodiscard]] bool is_open() const noexcept { return descriptor_ >= 0; }
  [[nodiscard]] int get() const noexcept { return descriptor_; }

 private:
  int descriptor_;
};

base::Result<void, BackupError> write_all(const File& file,
                                          base::ByteView bytes,
                                          const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(file.get(), bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return system_error(path, errno);
    bytes = bytes.subspan(static_cast<std::size_t>(wrote));
  }
  return {};
}

base::Result<void, BackupError> sync(const fs::path& path) {
  const File file(path, O_RDONLY);
  if (!file.is_open() || ::fsync(file.get()) != 0) return system_error(path, errno);
  return {};
}

// Copies and syncs; what was copied.
base::Result<BackupFile, BackupError> copy_synced(const fs::path& from, const fs::path& to) {
  const File in(from, O_RDONLY);
  if (!in.is_open()) return system_error(from, errno);
  const File out(to, O_WRONLY | O_CREAT | O_EXCL);
  if (!out.is_open()) return system_error(to, errno);
  base::Blake3Hasher hasher;
  BackupFile copied{};
  std::vector<std::byte> buffer(kCopyBytes);
  for (;;) {
    const ssize_t got = ::read(in.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error(from, errno);
    if (got == 0) break;
    const auto bytes = base::ByteView(buffer).first(static_cast<std::size_t>(got));
    hasher.update(bytes);
    copied.size += bytes.size();
    CAD_TRY(write_all(out, bytes, to));
  }
  if (::fsync(out.get()) != 0) return system_error(to, errno);
  copied.digest = hasher.finalize();
  return copied;
}

base::Result<void, BackupError> make_directories(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return system_error(path, error);
  return {};
}

// The plain files below `root` but for locks and the ballast, by path.
base::Result<std::vector<std::string>, BackupError> list_files(const fs::path& root) {
  std::vector<std::string> paths;
  std::error_code error;
  for (fs::recursive_directory_iterator at(root, error), end; !error && at != end;
       at.increment(error)) {
    if (at->is_directory(error)) continue;
    const std::string path = at->path().lexically_relative(root).generic_string();
    const fs::path name = at->path().filename();
    if (name == kLockName || path == kBallastName) continue;
    if (name == log::kCrashNoteName || name == log::kCrashNoteNewName)
      continue;  // Of this machine's processes, not of its records.
    if (!at->is_regular_file(error) || !is_plain_path(path))
      return base::fail(BackupError::kIo, path + " is not a plain file");
    paths.push_back(path);
    if (paths.size() > kBackupFilesMax) return base::fail(BackupError::kIo, "too many files");
  }
  if (error) return system_error(root, error);
  std::ranges::sort(paths);
  return paths;
}

// Syncs every directory below `root`, and itself.
base::Result<void, BackupError> sync_directories(const fs::path& root) {
  std::error_code error;
  for (fs::recursive_directory_iterator at(root, error), end; !error && at != end;
       at.increment(error)) {
    if (at->is_directory(error)) CAD_TRY(sync(at->path()));
  }
  if (error) return system_error(root, error);
  return sync(root);
}

// An empty place beside `target`, which is not there or empty.
base::Result<fs::path, BackupError> begin_copy(const fs::path& target) {
  std::error_code error;
  if (fs::exists(target, error) &&
      !(fs::is_directory(target, error) && fs::is_empty(target, error)))
    return base::fail(BackupError::kNotEmpty, target.string() + " is not an empty directory");
  fs::path clean = target.lexically_normal();
  if (!clean.has_filename()) clean = clean.parent_path();
  fs::path partial = clean;
  partial += kPartialSuffix;
  fs::remove_all(partial, error);
  if (error) return system_error(partial, error);
  CAD_TRY(make_directories(partial));
  return partial;
}

base::Result<void, BackupError> finish_copy(const fs::path& partial, const fs::path& target) {
  CAD_TRY(sync_directories(partial));
  std::error_code error;
  fs::rename(partial, target, error);
  if (error) return system_error(target, error);
  return sync(fs::absolute(target).lexically_normal().parent_path());
}

base::Result<base::DirectoryLock, BackupError> lock(const fs::path& directory) {
  auto locked =
      base::DirectoryLock::acquire((directory / kLockName).string(), base::LockKind::kWriter);
  if (locked) return *std::move(locked);
  if (locked.error().system_code != 0) return system_error(directory, locked.error().system_code);
  return base::fail(BackupError::kLocked,
                    fmt::format("process {} has {} open: stop it first", locked.error().holder_pid,
                                directory.string()));
}

// Opening verifies every record.
base::Result<void, BackupError> check_opens(const fs::path& directory, const BackupParts& parts) {
  auto opened = EmbeddedCoordination::open({.directory = directory}, parts.clock, parts.logger);
  if (!opened) return base::fail(BackupError::kDamaged, std::move(opened.error().detail));
  if (!(*opened)->stop(kClosePatience))
    return base::fail(BackupError::kIo, directory.string() + " does not close");
  return {};
}

// A node of a cluster has promised its votes and acknowledgements to the others: an older copy of it would take them
// back (L-48). Damage of the seal is no reason to copy either.
base::Result<void, BackupError> check_own(const fs::path& directory) {
  const auto seal = load_seal(directory);
  if (seal && !*seal) return {};
  return base::fail(
      BackupError::kOfCluster,
      fmt::format(
          "{} is a node of a cluster, and an older copy of a node must never come back: the "
          "other nodes are its backup; `cadastre node replace` puts a new one in its place",
          directory.string()));
}

}  // namespace

base::Result<Copied, BackupError> back_up(const fs::path& directory, const fs::path& to) {
  std::error_code error;
  if (!fs::is_directory(directory, error) || !fs::exists(directory / kLockName, error))
    return base::fail(BackupError::kNoData, directory.string() + " is no data directory");
  const auto held = CAD_TRY(lock(directory));
  CAD_TRY(check_own(directory));
  const fs::path partial = CAD_TRY(begin_copy(to));
  Copied total;
  std::vector<BackupFile> files;
  for (std::string& path : CAD_TRY(list_files(directory))) {
    const fs::path target = partial / kFilesName / path;
    CAD_TRY(make_directories(target.parent_path()));
    BackupFile file = CAD_TRY(copy_synced(directory / path, target));
    file.path = std::move(path);
    ++total.files;
    total.bytes += file.size;
    files.push_back(std::move(file));
  }
  const fs::path manifest = partial / kManifestName;
  {
    const File out(manifest, O_WRONLY | O_CREAT | O_EXCL);
    if (!out.is_open()) return system_error(manifest, errno);
    CAD_TRY(write_all(out, base::as_bytes(format_backup_manifest(files)), manifest));
  }
  CAD_TRY(sync(manifest));
  CAD_TRY(finish_copy(partial, to));
  return total;
}

base::Result<Copied, BackupError> restore(const fs::path& from,
                                          const fs::path& directory,
                                          const BackupParts& parts) {
  const fs::path manifest = from / kManifestName;
  const auto text = server::read_public_file(manifest.c_str(), kBackupManifestBytesMax);
  if (!text) return base::fail(BackupError::kNoData, from.string() + " is no backup");
  const auto files = parse_backup_manifest(*text);
  if (!files) return base::fail(BackupError::kDamaged, files.error().detail);
  const fs::path partial = CAD_TRY(begin_copy(directory));
  Copied total;
  for (const BackupFile& file : *files) {
    const fs::path target = partial / file.path;
    CAD_TRY(make_directories(target.parent_path()));
    const BackupFile copied = CAD_TRY(copy_synced(from / kFilesName / file.path, target));
    if (copied.size != file.size || copied.digest != file.digest)
      return base::fail(BackupError::kDamaged, file.path + " is not what was backed up");
    ++total.files;
    total.bytes += copied.size;
  }
  CAD_TRY(check_opens(partial, parts));
  CAD_TRY(finish_copy(partial, directory));
  return total;
}

}  // namespace cadastre::node
