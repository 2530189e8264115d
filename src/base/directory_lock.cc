#include "base/directory_lock.h"

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"

namespace cadastre::base {
namespace {

constexpr mode_t kFileMode = 0600;
constexpr off_t kDirectoryByte = 0;
constexpr off_t kProcessBytes = 1;

// Wide enough for every process id, always written whole: a full device takes it as well.
constexpr std::size_t kContentBytes = 20;

struct flock bytes_locked(short kind, off_t start, off_t length) {
  struct flock lock{};
  lock.l_type = kind;
  lock.l_whence = SEEK_SET;
  lock.l_start = start;
  lock.l_len = length;
  return lock;
}

// 0 or an errno.
int lock_byte(int file, short kind, off_t byte) {
  struct flock lock = bytes_locked(kind, byte, 1);
  return fcntl(file, F_OFD_SETLK, &lock) == 0 ? 0 : errno;
}

// The process of another opener, or 0 if there is none any more.
std::int64_t find_holder(int file) {
  struct flock lock = bytes_locked(F_WRLCK, kProcessBytes, 0);
  if (fcntl(file, F_OFD_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return 0;
  return lock.l_start - kProcessBytes;
}

LockRefused refused(int code, std::int64_t holder_pid) {
  if (code != EAGAIN && code != EACCES) return {.system_code = code};
  return {.holder_pid = holder_pid};
}

Result<void, LockRefused> take(int file, LockKind wanted) {
  const pid_t self = getpid();
  if (const int code = lock_byte(file, F_WRLCK, kProcessBytes + self); code != 0)
    return fail(refused(code, self));
  const short kind = wanted == LockKind::kReader ? F_RDLCK : F_WRLCK;
  if (const int code = lock_byte(file, kind, kDirectoryByte); code != 0)
    return fail(refused(code, find_holder(file)));
  return {};
}

Result<void, LockRefused> write_own_id(int file) {
  std::array<char, kContentBytes> content{};
  content.fill(' ');
  content.back() = '\n';
  std::to_chars(content.data(), content.data() + content.size() - 1, getpid());
  const ssize_t written = pwrite(file, content.data(), content.size(), 0);
  if (written == static_cast<ssize_t>(content.size())) return {};
  return fail(LockRefused{.system_code = written < 0 ? errno : ENOSPC});
}

}  // namespace

Result<DirectoryLock, LockRefused> DirectoryLock::acquire(const std::string& path, LockKind kind) {
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kFileMode);
  if (file < 0) {
    if (errno == EROFS && kind == LockKind::kReader) return DirectoryLock(kNoFile);
    return fail(LockRefused{.system_code = errno});
  }
  DirectoryLock lock(file);
  CAD_TRY(take(file, kind));
  if (kind == LockKind::kWriter) CAD_TRY(write_own_id(file));
  return lock;
}

DirectoryLock::~DirectoryLock() {
  if (file_ != kNoFile) close(file_);
}

}  // namespace cadastre::base
