// CrashFileSystem: a RocksDB file system on a real directory that knows what a crash could leave.
//
// Writes go to the directory at once, as to a page cache: readers see them. Beside it stands what is
// durable: for each file written here the bytes that a Sync or Fsync covered, and for each directory the
// creations, renames and deletions since its last Fsync. Files that were there before are durable.
// After a crash `materialise` turns the directory into what the policy leaves of the rest.
//
//   auto files = std::make_shared<CrashFileSystem>();
//   files->crash_at(files->operations() + 7);   // The seventh change from now is the last one.
//   ... work with the database until it fails, close it ...
//   files->materialise({.bytes = LostBytes::kTear, .kept = 3});
//   ... open it again ...
//
// An operation is one change: append, truncate, sync of a file or directory, create, rename, delete.
// The append at which a crash strikes has reached the page cache; any other operation has not happened.
// Real syncs are not carried out: what is durable is decided here, and tests are faster.
//
// Simplifications. Files only grow: positioned writes, memory maps and recycling are refused. A file cut
// short is so durably. Directories themselves, locks and RocksDB's own text log are not tracked.
//
// Thread-safe. The hook of a slow sync runs outside the lock; what RocksDB asks is done under it.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include "base/mutex.h"

namespace cadastre::log {

// What becomes of the bytes behind the last sync of a file.
enum class LostBytes : std::uint8_t {
  kKeepAll,  // They happened to be written in time.
  kTear,     // The first `kept` of them stay, the file ends there.
  kZeros,    // The file has its full length, what follows the first `kept` reads as zeros.
  kGarbage,  // The same with random bytes, by `seed`.
};
enum class LostEntries : std::uint8_t {
  kKept,
  kDropped
};

struct CrashPolicy {
  LostBytes bytes = LostBytes::kTear;
  std::uint64_t kept = 0;
  std::uint64_t seed = 1;
  LostEntries entries = LostEntries::kDropped;
};
inline constexpr CrashPolicy kDropUnsynced{};
inline constexpr CrashPolicy kKeepAll{
    .bytes = LostBytes::kKeepAll, .kept = 0, .seed = 1, .entries = LostEntries::kKept};

enum class FileFault : std::uint8_t {
  kIoError,      // The operation does not happen and says so.
  kNoSpace,      // The same, with the status of a full disk.
  kTransient,    // The same, and says that it may work when it is tried again.
  kForgetDirty,  // A sync that fails and leaves its bytes for clean: the next one succeeds, and after
                 // a crash they read as zeros. Kernels do this. On other operations: kIoError.
};

enum class TableKind : std::uint8_t {
  kFlushed,  // From memory.
  kMerged,   // Of other tables.
};

class CrashFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  using SyncHook = std::function<void(const std::string& path)>;

  CrashFileSystem();

  // The operations so far, the failed ones included.
  [[nodiscard]] std::uint64_t operations() const CAD_EXCLUDES(mutex_);

  // Operation number `n`, counted from 1, and all after it fail.
  void crash_at(std::uint64_t n) CAD_EXCLUDES(mutex_);
  [[nodiscard]] bool crashed() const CAD_EXCLUDES(mutex_);

  // Operation number `n` fails in this way; those after it work.
  void fail_at(std::uint64_t n, FileFault fault) CAD_EXCLUDES(mutex_);
  // The next sync of a table of this kind does.
  void fail_table(TableKind kind, FileFault fault) CAD_EXCLUDES(mutex_);
  [[nodiscard]] bool fault_met() const CAD_EXCLUDES(mutex_);
  // The file of which an append or a sync met the fault; empty: none did.
  [[nodiscard]] std::string fault_path() const CAD_EXCLUDES(mutex_);

  // Called before each sync of a file. May block.
  void set_sync_hook(SyncHook hook) CAD_EXCLUDES(mutex_);

  // The bytes of a file that a crash now would surely leave.
  [[nodiscard]] std::uint64_t synced_bytes(const std::string& path) const CAD_EXCLUDES(mutex_);

  // The machine comes up again: applies the policy; all that is left is durable, nothing fails any
  // more. No database may be open.
  void materialise(const CrashPolicy& policy) CAD_EXCLUDES(mutex_);

  [[nodiscard]] const char* Name() const override { return "CrashFileSystem"; }

  rocksdb::IOStatus NewWritableFile(const std::string& path,
                                    const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* result,
                                    rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus ReopenWritableFile(const std::string& path,
                                       const rocksdb::FileOptions& options,
                                       std::unique_ptr<rocksdb::FSWritableFile>* result,
                                       rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus ReuseWritableFile(const std::string& path,
                                      const std::string& old_path,
                                      const rocksdb::FileOptions& options,
                                      std::unique_ptr<rocksdb::FSWritableFile>* result,
                                      rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus NewRandomRWFile(const std::string& path,
                                    const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSRandomRWFile>* result,
                                    rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus NewMemoryMappedFileBuffer(
      const std::string& path, std::unique_ptr<rocksdb::MemoryMappedFileBuffer>* result) override;
  rocksdb::IOStatus NewDirectory(const std::string& path,
                                 const rocksdb::IOOptions& options,
                                 std::unique_ptr<rocksdb::FSDirectory>* result,
                                 rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus DeleteFile(const std::string& path,
                               const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus RenameFile(const std::string& from,
                               const std::string& to,
                               const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus LinkFile(const std::string& from,
                             const std::string& to,
                             const rocksdb::IOOptions& options,
                             rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus Truncate(const std::string& path,
                             std::size_t size,
                             const rocksdb::IOOptions& options,
                             rocksdb::IODebugContext* debug) override;

 private:
  friend class CrashFile;
  friend class CrashDirectory;

  struct ByteRange {
    std::uint64_t begin = 0, end = 0;
  };
  // A file written here, whatever its name is now.
  struct Written {
    std::uint64_t bytes = 0;
    std::uint64_t synced = 0;          // At most `bytes`.
    std::vector<ByteRange> forgotten;  // Below `bytes`: synced in name only.
    bool merged = false;               // A table of other tables.
  };
  // A change of a directory since its last Fsync: `path` is now another file than before. The one
  // before, if there was one, lies under `kept_as` and can come back.
  struct EntryChange {
    std::string path;
    std::string kept_as;
    std::shared_ptr<Written> written_before;
  };

  // Counts an operation and says whether it may happen.
  rocksdb::IOStatus admit_locked(const std::string& path) CAD_REQUIRES(mutex_);
  rocksdb::IOStatus append(const std::string& path,
                           Written& file,
                           rocksdb::FSWritableFile& target,
                           const rocksdb::Slice& data) CAD_EXCLUDES(mutex_);
  rocksdb::IOStatus sync(const std::string& path, Written& file) CAD_EXCLUDES(mutex_);
  rocksdb::IOStatus cut(const std::string& path,
                        Written& file,
                        rocksdb::FSWritableFile& target,
                        std::uint64_t bytes) CAD_EXCLUDES(mutex_);
  void set_merged(Written& file, bool merged) CAD_EXCLUDES(mutex_);
  rocksdb::IOStatus sync_directory(const std::string& path) CAD_EXCLUDES(mutex_);

  // Puts the file that has this name aside, and notes that the name has changed.
  void note_change_locked(const std::string& path) CAD_REQUIRES(mutex_);
  void undo_changes_locked() CAD_REQUIRES(mutex_);
  void forget_changes_locked(const std::string& directory) CAD_REQUIRES(mutex_);

  mutable base::Mutex mutex_;
  std::uint64_t operations_ CAD_GUARDED_BY(mutex_) = 0;
  std::uint64_t crash_at_ CAD_GUARDED_BY(mutex_) = 0;  // 0: never.
  std::uint64_t fail_at_ CAD_GUARDED_BY(mutex_) = 0;   // 0: never.
  FileFault fault_ CAD_GUARDED_BY(mutex_) = FileFault::kIoError;
  std::optional<TableKind> fault_table_ CAD_GUARDED_BY(mutex_);
  std::string fault_path_ CAD_GUARDED_BY(mutex_);
  SyncHook hook_ CAD_GUARDED_BY(mutex_);
  std::map<std::string, std::shared_ptr<Written>> written_ CAD_GUARDED_BY(mutex_);
  std::vector<EntryChange> changes_ CAD_GUARDED_BY(mutex_);  // In order.
  std::uint64_t kept_files_ CAD_GUARDED_BY(mutex_) = 0;
};

// What a database is opened with. Its clock does not sleep: RocksDB rests a second after each flush that
// failed.
[[nodiscard]] std::unique_ptr<rocksdb::Env> make_crash_env(
    const std::shared_ptr<CrashFileSystem>& files);

}  // namespace cadastre::log
