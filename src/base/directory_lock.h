// DirectoryLock: a directory belongs to the process that opened it, and whoever comes second learns
// which process that is.
//
// A file in the directory (LOCK, if the storage library has no such file of its own) is locked by byte ranges, as open file descriptions (so that a second
// opener in the same process is refused too, and the kernel lets go when the process dies):
//
//   byte        locked
//   0           exclusively by a writer, shared by readers
//   1 + pid     exclusively, by every opener: one opener for each process, and the way from a lock to
//               the process that holds it
//
// Its content is the process id of the last writer, for people. On media that cannot be written a
// reader needs no lock and takes none.

#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/result.h"

namespace cadastre::base {

enum class LockKind : std::uint8_t {
  kReader,
  kWriter
};

// Why there is no lock.
struct LockRefused {
  int system_code = 0;          // errno; 0: another opener has the directory
  std::int64_t holder_pid = 0;  // of that opener; 0: not known

  friend bool operator==(const LockRefused&, const LockRefused&) = default;
};

class DirectoryLock {
 public:
  // `path` is the lock's file; it is made if it is not there.
  [[nodiscard]] static Result<DirectoryLock, LockRefused> acquire(const std::string& path,
                                                                  LockKind kind);

  DirectoryLock(DirectoryLock&& other) noexcept : file_(std::exchange(other.file_, kNoFile)) {}
  DirectoryLock& operator=(DirectoryLock&&) = delete;
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;
  ~DirectoryLock();

 private:
  static constexpr int kNoFile = -1;

  explicit DirectoryLock(int file) noexcept : file_(file) {}

  int file_;
};

}  // namespace cadastre::base
