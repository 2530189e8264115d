// DirectoryLock: a directory belongs to the process that opened it, and whoever comes second learns
// which process that is.
//
// The file LOCK in the directory is locked by byte ranges, as open file descriptions (so that a second
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

#include <string>
#include <utility>

#include "base/result.h"
#include "kv/error.h"
#include "kv/kv.h"
#include "kv/lmdb/lmdb_options.h"

namespace cadastre::kv::lmdb {

class DirectoryLock {
 public:
  // kLocked with the holder's process id if the directory is taken.
  [[nodiscard]] static Result<DirectoryLock, Error> acquire(const std::string& directory,
                                                            Access access);

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

}  // namespace cadastre::kv::lmdb
