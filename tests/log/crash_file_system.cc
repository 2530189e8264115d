#include "tests/log/crash_file_system.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <ranges>
#include <utility>

#include <rocksdb/system_clock.h>

#include "base/check.h"
#include "base/random.h"

namespace cadastre::log {

namespace fs = std::filesystem;
using rocksdb::FileOptions;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

namespace {

std::string directory_of(const std::string& path) {
  return fs::path(path).parent_path().string();
}

void overwrite(const std::string& path, std::uint64_t from, const std::string& bytes) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(from));
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  CAD_CHECK(!file.fail(), "a test can write what a crash leaves");
}

std::string garbage(std::uint64_t bytes, std::uint64_t seed) {
  base::SeededRandom random(seed);
  std::string out(bytes, '\0');
  for (char& c : out)
    c = static_cast<char>(random.below(256));
  return out;
}

// What a policy leaves of the bytes behind `synced`.
void lose_bytes(const std::string& path, std::uint64_t synced, const CrashPolicy& policy) {
  const std::uint64_t bytes = fs::file_size(path);
  const std::uint64_t good = std::min(bytes, synced + policy.kept);
  switch (policy.bytes) {
    case LostBytes::kKeepAll: break;
    case LostBytes::kTear: fs::resize_file(path, good); break;
    case LostBytes::kZeros: overwrite(path, good, std::string(bytes - good, '\0')); break;
    case LostBytes::kGarbage: overwrite(path, good, garbage(bytes - good, policy.seed)); break;
  }
}

class SleeplessClock final : public rocksdb::SystemClockWrapper {
 public:
  SleeplessClock() : SystemClockWrapper(rocksdb::SystemClock::Default()) {}
  [[nodiscard]] const char* Name() const override { return "SleeplessClock"; }
  void SleepForMicroseconds(int /*micros*/) override {}
};

class CrashEnv final : public rocksdb::EnvWrapper {
 public:
  explicit CrashEnv(const std::shared_ptr<CrashFileSystem>& files)
      : EnvWrapper(rocksdb::NewCompositeEnv(files)) {
    file_system_ = files;
    system_clock_ = std::make_shared<SleeplessClock>();
  }
  [[nodiscard]] const char* Name() const override { return "CrashEnv"; }
};

}  // namespace

// An open file: asks its file system before it does anything. Lives no longer than that.
class CrashFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  CrashFile(CrashFileSystem& files,
            std::string path,
            std::shared_ptr<CrashFileSystem::Written> written,
            std::unique_ptr<rocksdb::FSWritableFile> target)
      : FSWritableFileOwnerWrapper(std::move(target)),
        files_(files),
        path_(std::move(path)),
        written_(std::move(written)) {}

  IOStatus Append(const Slice& data,
                  const IOOptions& /*options*/,
                  IODebugContext* /*debug*/) override {
    return files_.append(path_, *written_, *target(), data);
  }
  IOStatus Append(const Slice& data,
                  const IOOptions& /*options*/,
                  const rocksdb::DataVerificationInfo& /*sum*/,
                  IODebugContext* /*debug*/) override {
    return files_.append(path_, *written_, *target(), data);
  }
  IOStatus PositionedAppend(const Slice& /*data*/,
                            std::uint64_t /*offset*/,
                            const IOOptions& /*options*/,
                            IODebugContext* /*debug*/) override {
    return IOStatus::NotSupported("files only grow");
  }
  IOStatus PositionedAppend(const Slice& /*data*/,
                            std::uint64_t /*offset*/,
                            const IOOptions& /*options*/,
                            const rocksdb::DataVerificationInfo& /*sum*/,
                            IODebugContext* /*debug*/) override {
    return IOStatus::NotSupported("files only grow");
  }
  IOStatus Truncate(std::uint64_t size,
                    const IOOptions& /*options*/,
                    IODebugContext* /*debug*/) override {
    return files_.cut(path_, *written_, *target(), size);
  }
  IOStatus Sync(const IOOptions& /*options*/, IODebugContext* /*debug*/) override {
    return files_.sync(path_, *written_);
  }
  IOStatus Fsync(const IOOptions& /*options*/, IODebugContext* /*debug*/) override {
    return files_.sync(path_, *written_);
  }
  // A hint to begin writing: promises nothing.
  IOStatus RangeSync(std::uint64_t /*offset*/,
                     std::uint64_t /*bytes*/,
                     const IOOptions& /*options*/,
                     IODebugContext* /*debug*/) override {
    return IOStatus::OK();
  }
  // RocksDB flushes before it merges.
  void SetIOPriority(rocksdb::Env::IOPriority priority) override {
    files_.set_merged(*written_, priority == rocksdb::Env::IO_LOW);
  }
  // Space is not reserved: that changes no byte, and a file system in memory would pay for it.
  void PrepareWrite(std::size_t /*offset*/,
                    std::size_t /*bytes*/,
                    const IOOptions& /*options*/,
                    IODebugContext* /*debug*/) override {}

 private:
  CrashFileSystem& files_;
  const std::string path_;
  const std::shared_ptr<CrashFileSystem::Written> written_;
};

class CrashDirectory final : public rocksdb::FSDirectoryWrapper {
 public:
  CrashDirectory(CrashFileSystem& files,
                 std::string path,
                 std::unique_ptr<rocksdb::FSDirectory> target)
      : FSDirectoryWrapper(std::move(target)), files_(files), path_(std::move(path)) {}

  IOStatus Fsync(const IOOptions& /*options*/, IODebugContext* /*debug*/) override {
    return files_.sync_directory(path_);
  }
  IOStatus FsyncWithDirOptions(const IOOptions& /*options*/,
                               IODebugContext* /*debug*/,
                               const rocksdb::DirFsyncOptions& /*reason*/) override {
    return files_.sync_directory(path_);
  }

 private:
  CrashFileSystem& files_;
  const std::string path_;
};

CrashFileSystem::CrashFileSystem() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}

std::uint64_t CrashFileSystem::operations() const {
  const base::MutexLock lock(mutex_);
  return operations_;
}

void CrashFileSystem::crash_at(std::uint64_t n) {
  const base::MutexLock lock(mutex_);
  CAD_CHECK(n > operations_, "a crash lies in the future");
  crash_at_ = n;
}

bool CrashFileSystem::crashed() const {
  const base::MutexLock lock(mutex_);
  return crash_at_ != 0 && operations_ >= crash_at_;
}

void CrashFileSystem::fail_at(std::uint64_t n, FileFault fault) {
  const base::MutexLock lock(mutex_);
  CAD_CHECK(n > operations_, "a fault lies in the future");
  fail_at_ = n;
  fault_ = fault;
  fault_path_.clear();
}

void CrashFileSystem::fail_table(TableKind kind, FileFault fault) {
  const base::MutexLock lock(mutex_);
  fault_table_ = kind;
  fault_ = fault;
}

bool CrashFileSystem::fault_met() const {
  const base::MutexLock lock(mutex_);
  return fail_at_ != 0 && operations_ >= fail_at_;
}

std::string CrashFileSystem::fault_path() const {
  const base::MutexLock lock(mutex_);
  return fault_path_;
}

void CrashFileSystem::set_sync_hook(SyncHook hook) {
  const base::MutexLock lock(mutex_);
  hook_ = std::move(hook);
}

std::uint64_t CrashFileSystem::synced_bytes(const std::string& path) const {
  const base::MutexLock lock(mutex_);
  const auto found = written_.find(path);
  return found == written_.end() ? fs::file_size(path) : found->second->synced;
}

void CrashFileSystem::materialise(const CrashPolicy& policy) {
  const base::MutexLock lock(mutex_);
  if (policy.entries == LostEntries::kDropped) undo_changes_locked();
  for (const auto& [path, file] : written_) {
    for (const ByteRange& range : file->forgotten)
      overwrite(path, range.begin, std::string(range.end - range.begin, '\0'));
    lose_bytes(path, file->synced, policy);
  }
  while (!changes_.empty())
    forget_changes_locked(directory_of(changes_.front().path));
  written_.clear();
  crash_at_ = 0;
  fail_at_ = 0;
}

IOStatus CrashFileSystem::admit_locked(const std::string& path) {
  ++operations_;
  if (crash_at_ != 0 && operations_ >= crash_at_) return IOStatus::IOError(path, "after the crash");
  if (operations_ != fail_at_) return IOStatus::OK();
  IOStatus failed = fault_ == FileFault::kNoSpace
                        ? IOStatus::NoSpace(path, "the disk is full")
                        : IOStatus::IOError(path, "a fault that was asked for");
  failed.SetRetryable(fault_ == FileFault::kNoSpace || fault_ == FileFault::kTransient);
  return failed;
}

IOStatus CrashFileSystem::append(const std::string& path,
                                 Written& file,
                                 rocksdb::FSWritableFile& target,
                                 const Slice& data) {
  const base::MutexLock lock(mutex_);
  const IOStatus admitted = admit_locked(path);
  if (operations_ == fail_at_) fault_path_ = path;
  const bool reaches_the_cache = admitted.ok() || operations_ == crash_at_;
  if (!reaches_the_cache) return admitted;
  const IOStatus done = target.Append(data, IOOptions(), nullptr);
  if (!done.ok()) return done;
  file.bytes += data.size();
  return admitted;
}

IOStatus CrashFileSystem::sync(const std::string& path, Written& file) {
  SyncHook hook;
  std::uint64_t bytes = 0;
  {
    const base::MutexLock lock(mutex_);
    hook = hook_;
    bytes = file.bytes;  // What is appended while the sync runs is not part of it.
  }
  if (hook) hook(path);
  const base::MutexLock lock(mutex_);
  const TableKind kind = file.merged ? TableKind::kMerged : TableKind::kFlushed;
  if (fault_table_ == kind && path.ends_with(".sst")) {
    fail_at_ = operations_ + 1;
    fault_table_.reset();
  }
  IOStatus admitted = admit_locked(path);
  if (operations_ == fail_at_) fault_path_ = path;
  const bool forgets = operations_ == fail_at_ && fault_ == FileFault::kForgetDirty;
  if (forgets && !admitted.ok() && bytes > file.synced)
    file.forgotten.push_back({.begin = file.synced, .end = bytes});
  if (admitted.ok() || forgets) file.synced = std::max(file.synced, bytes);
  return admitted;
}

IOStatus CrashFileSystem::cut(const std::string& path,
                              Written& file,
                              rocksdb::FSWritableFile& target,
                              std::uint64_t bytes) {
  const base::MutexLock lock(mutex_);
  IOStatus admitted = admit_locked(path);
  if (!admitted.ok()) return admitted;
  IOStatus done = target.Truncate(bytes, IOOptions(), nullptr);
  if (!done.ok()) return done;
  CAD_CHECK(bytes <= file.bytes, "files grow by appends only");
  file.bytes = bytes;
  file.synced = std::min(file.synced, bytes);
  return done;
}

void CrashFileSystem::set_merged(Written& file, bool merged) {
  const base::MutexLock lock(mutex_);
  file.merged = merged;
}

IOStatus CrashFileSystem::sync_directory(const std::string& path) {
  const base::MutexLock lock(mutex_);
  IOStatus admitted = admit_locked(path);
  if (admitted.ok()) forget_changes_locked(path);
  return admitted;
}

void CrashFileSystem::note_change_locked(const std::string& path) {
  EntryChange change{.path = path, .kept_as = {}, .written_before = nullptr};
  if (fs::exists(path)) {
    change.kept_as = directory_of(path) + ".aside." + std::to_string(++kept_files_);
    fs::create_hard_link(path, change.kept_as);
    const auto found = written_.find(path);
    if (found != written_.end()) change.written_before = found->second;
  }
  changes_.push_back(std::move(change));
}

void CrashFileSystem::undo_changes_locked() {
  for (const EntryChange& change : std::views::reverse(changes_)) {
    fs::remove(change.path);
    written_.erase(change.path);
    if (change.kept_as.empty()) continue;
    fs::rename(change.kept_as, change.path);
    if (change.written_before) written_[change.path] = change.written_before;
  }
  changes_.clear();
}

void CrashFileSystem::forget_changes_locked(const std::string& directory) {
  const auto is_here = [&](const EntryChange& change) {
    return directory_of(change.path) == directory;
  };
  for (const EntryChange& change : changes_) {
    if (is_here(change) && !change.kept_as.empty()) fs::remove(change.kept_as);
  }
  std::erase_if(changes_, is_here);
}

IOStatus CrashFileSystem::NewWritableFile(const std::string& path,
                                          const FileOptions& options,
                                          std::unique_ptr<rocksdb::FSWritableFile>* result,
                                          IODebugContext* debug) {
  const base::MutexLock lock(mutex_);
  IOStatus admitted = admit_locked(path);
  if (!admitted.ok()) return admitted;
  note_change_locked(path);
  fs::remove(path);  // The file before keeps its bytes: it may come back.
  std::unique_ptr<rocksdb::FSWritableFile> target;
  IOStatus made = target_->NewWritableFile(path, options, &target, debug);
  if (!made.ok()) return made;
  auto written = std::make_shared<Written>();
  written_[path] = written;
  *result = std::make_unique<CrashFile>(*this, path, std::move(written), std::move(target));
  return made;
}

IOStatus CrashFileSystem::ReopenWritableFile(const std::string& path,
                                             const FileOptions& options,
                                             std::unique_ptr<rocksdb::FSWritableFile>* result,
                                             IODebugContext* debug) {
  if (!fs::exists(path)) return NewWritableFile(path, options, result, debug);
  const base::MutexLock lock(mutex_);
  std::unique_ptr<rocksdb::FSWritableFile> target;
  IOStatus opened = target_->ReopenWritableFile(path, options, &target, debug);
  if (!opened.ok()) return opened;
  std::shared_ptr<Written>& written = written_[path];
  if (!written) {
    const std::uint64_t bytes = fs::file_size(path);
    written = std::make_shared<Written>(
        Written{.bytes = bytes, .synced = bytes, .forgotten = {}, .merged = false});
  }
  *result = std::make_unique<CrashFile>(*this, path, written, std::move(target));
  return opened;
}

IOStatus CrashFileSystem::ReuseWritableFile(const std::string& /*path*/,
                                            const std::string& /*old_path*/,
                                            const FileOptions& /*options*/,
                                            std::unique_ptr<rocksdb::FSWritableFile>* /*result*/,
                                            IODebugContext* /*debug*/) {
  return IOStatus::NotSupported("files are not recycled");
}

IOStatus CrashFileSystem::NewRandomRWFile(const std::string& /*path*/,
                                          const FileOptions& /*options*/,
                                          std::unique_ptr<rocksdb::FSRandomRWFile>* /*result*/,
                                          IODebugContext* /*debug*/) {
  return IOStatus::NotSupported("files only grow");
}

IOStatus CrashFileSystem::NewMemoryMappedFileBuffer(
    const std::string& /*path*/, std::unique_ptr<rocksdb::MemoryMappedFileBuffer>* /*result*/) {
  return IOStatus::NotSupported("a map writes unseen");
}

IOStatus CrashFileSystem::NewDirectory(const std::string& path,
                                       const IOOptions& options,
                                       std::unique_ptr<rocksdb::FSDirectory>* result,
                                       IODebugContext* debug) {
  std::unique_ptr<rocksdb::FSDirectory> target;
  IOStatus opened = target_->NewDirectory(path, options, &target, debug);
  if (opened.ok()) *result = std::make_unique<CrashDirectory>(*this, path, std::move(target));
  return opened;
}

IOStatus CrashFileSystem::DeleteFile(const std::string& path,
                                     const IOOptions& options,
                                     IODebugContext* debug) {
  const base::MutexLock lock(mutex_);
  IOStatus admitted = admit_locked(path);
  if (!admitted.ok()) return admitted;
  note_change_locked(path);
  written_.erase(path);
  return target_->DeleteFile(path, options, debug);
}

IOStatus CrashFileSystem::RenameFile(const std::string& from,
                                     const std::string& to,
                                     const IOOptions& options,
                                     IODebugContext* debug) {
  const base::MutexLock lock(mutex_);
  IOStatus admitted = admit_locked(from);
  if (!admitted.ok()) return admitted;
  note_change_locked(from);
  note_change_locked(to);
  written_.erase(to);
  if (auto moved = written_.extract(from); !moved.empty()) {
    moved.key() = to;
    written_.insert(std::move(moved));
  }
  return target_->RenameFile(from, to, options, debug);
}

IOStatus CrashFileSystem::LinkFile(const std::string& from,
                                   const std::string& to,
                                   const IOOptions& options,
                                   IODebugContext* debug) {
  const base::MutexLock lock(mutex_);
  IOStatus admitted = admit_locked(from);
  if (!admitted.ok()) return admitted;
  note_change_locked(to);
  if (const auto found = written_.find(from); found != written_.end()) written_[to] = found->second;
  return target_->LinkFile(from, to, options, debug);
}

IOStatus CrashFileSystem::Truncate(const std::string& path,
                                   std::size_t size,
                                   const IOOptions& options,
                                   IODebugContext* debug) {
  const base::MutexLock lock(mutex_);
  IOStatus admitted = admit_locked(path);
  if (!admitted.ok()) return admitted;
  if (const auto found = written_.find(path); found != written_.end()) {
    found->second->bytes = std::min<std::uint64_t>(found->second->bytes, size);
    found->second->synced = std::min(found->second->synced, found->second->bytes);
  }
  return target_->Truncate(path, size, options, debug);
}

std::unique_ptr<rocksdb::Env> make_crash_env(const std::shared_ptr<CrashFileSystem>& files) {
  return std::make_unique<CrashEnv>(files);
}

}  // namespace cadastre::log
