// The simulated crash against its own promises, and a log on it: what was acknowledged survives a crash
// at every operation, under every policy (L-2, L-24), and every single failing operation (L-49).

#include "tests/log/crash_file_system.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rocksdb/env.h>

#include "tests/log/raw_log.h"

namespace cadastre::log {
namespace {

namespace fs = std::filesystem;
using rocksdb::IOOptions;
using Mode = rocksdb::WALRecoveryMode;

constexpr std::uint64_t kOperationsMax = 2000;

class CrashFiles : public testing::Test {
 protected:
  CrashFiles() { fs::create_directory(directory_); }

  std::unique_ptr<rocksdb::FSWritableFile> create(const std::string& path) {
    std::unique_ptr<rocksdb::FSWritableFile> file;
    EXPECT_TRUE(files_.NewWritableFile(path, rocksdb::FileOptions(), &file, nullptr).ok());
    return file;
  }
  void sync_directory() {
    std::unique_ptr<rocksdb::FSDirectory> directory;
    ASSERT_TRUE(files_.NewDirectory(directory_, IOOptions(), &directory, nullptr).ok());
    ASSERT_TRUE(directory->Fsync(IOOptions(), nullptr).ok());
  }
  // A file with "abc" synced and "defg" not, after a crash.
  std::string after(const CrashPolicy& policy) {
    auto file = create(path_);
    sync_directory();
    EXPECT_TRUE(file->Append("abc", IOOptions(), nullptr).ok());
    EXPECT_TRUE(file->Sync(IOOptions(), nullptr).ok());
    EXPECT_TRUE(file->Append("defg", IOOptions(), nullptr).ok());
    EXPECT_TRUE(file->RangeSync(0, 7, IOOptions(), nullptr).ok());
    EXPECT_EQ(files_.synced_bytes(path_), 3U);
    file.reset();
    files_.materialise(policy);
    return read_bytes(path_);
  }

  const TemporaryDirectory home_;
  const std::string directory_ = home_ / "files";
  const std::string path_ = directory_ + "/a";
  CrashFileSystem files_;
};

TEST_F(CrashFiles, UnsyncedBytesFollowThePolicy) {
  EXPECT_EQ(after(kDropUnsynced), "abc");
  EXPECT_EQ(after(kKeepAll), "abcdefg");
  EXPECT_EQ(after({.bytes = LostBytes::kTear, .kept = 2}), "abcde");
  EXPECT_EQ(after({.bytes = LostBytes::kTear, .kept = 9}), "abcdefg");
  EXPECT_EQ(after({.bytes = LostBytes::kZeros, .kept = 1}), std::string("abcd\0\0\0", 7));
  const std::string spoiled = after({.bytes = LostBytes::kGarbage, .kept = 1});
  EXPECT_EQ(spoiled.substr(0, 4), "abcd");
  EXPECT_EQ(spoiled.size(), 7U);
  EXPECT_NE(spoiled, "abcdefg");
}

TEST_F(CrashFiles, EntriesAreLostUntilTheDirectoryIsSynced) {
  const std::string other = directory_ + "/b";
  write_bytes(path_, "old");
  (void)create(other);
  ASSERT_TRUE(files_.RenameFile(other, path_, IOOptions(), nullptr).ok());
  EXPECT_EQ(read_bytes(path_), "");
  files_.materialise(kDropUnsynced);
  EXPECT_EQ(read_bytes(path_), "old");
  EXPECT_FALSE(fs::exists(other));

  ASSERT_TRUE(files_.DeleteFile(path_, IOOptions(), nullptr).ok());
  EXPECT_FALSE(fs::exists(path_));
  files_.materialise(kDropUnsynced);
  EXPECT_EQ(read_bytes(path_), "old");

  ASSERT_TRUE(files_.DeleteFile(path_, IOOptions(), nullptr).ok());
  sync_directory();
  files_.materialise(kDropUnsynced);
  EXPECT_FALSE(fs::exists(path_));
}

TEST_F(CrashFiles, NothingHappensBehindTheCrash) {
  auto file = create(path_);
  sync_directory();
  files_.crash_at(files_.operations() + 2);
  EXPECT_TRUE(file->Append("a", IOOptions(), nullptr).ok());
  EXPECT_FALSE(file->Append("b", IOOptions(), nullptr).ok());  // Struck, but in the cache.
  EXPECT_TRUE(files_.crashed());
  EXPECT_FALSE(file->Append("c", IOOptions(), nullptr).ok());
  EXPECT_FALSE(file->Sync(IOOptions(), nullptr).ok());
  EXPECT_FALSE(files_.DeleteFile(path_, IOOptions(), nullptr).ok());
  file.reset();
  files_.materialise(kKeepAll);
  EXPECT_EQ(read_bytes(path_), "ab");
}

TEST_F(CrashFiles, ForgottenBytesAreZerosAlthoughTheNextSyncSucceeds) {
  auto file = create(path_);
  sync_directory();
  EXPECT_TRUE(file->Append("abc", IOOptions(), nullptr).ok());
  files_.fail_at(files_.operations() + 1, FileFault::kForgetDirty);
  EXPECT_FALSE(file->Sync(IOOptions(), nullptr).ok());
  EXPECT_TRUE(files_.fault_met());
  EXPECT_TRUE(file->Append("d", IOOptions(), nullptr).ok());
  EXPECT_TRUE(file->Sync(IOOptions(), nullptr).ok());
  EXPECT_EQ(read_bytes(path_), "abcd");  // From the cache.
  file.reset();
  files_.materialise(kDropUnsynced);
  EXPECT_EQ(read_bytes(path_), std::string("\0\0\0d", 4));
}

TEST_F(CrashFiles, FullDiskIsToldApart) {
  auto file = create(path_);
  files_.fail_at(files_.operations() + 1, FileFault::kNoSpace);
  EXPECT_TRUE(file->Append("abc", IOOptions(), nullptr).IsNoSpace());
  EXPECT_TRUE(file->Append("abc", IOOptions(), nullptr).ok());
}

// A log that is opened, written to, flushed and written to until it fails or all is done.
class LogOnCrashFiles {
 public:
  LogOnCrashFiles() { fs::create_directory(directory_); }

  [[nodiscard]] CrashFileSystem& files() { return *files_; }

  // The sets that were acknowledged, from 1.
  std::uint64_t run() {
    RawLog log(*env_, directory_, Mode::kAbsoluteConsistency);
    if (!log.status().ok()) return 0;
    for (std::uint64_t set = 1; set <= kSets; ++set) {
      if (set == kSets / 2 && !log.begin_flush().ok()) return set - 1;
      if (!log.write(set, 40).ok()) return set - 1;
    }
    return kSets;
  }

  // A start: judges, opens, and gives the sets back, which are 1, 2, ...
  std::uint64_t start() {
    const auto judged = judge_and_cut(directory_);
    EXPECT_TRUE(judged.has_value()) << name(judged.error().fault.kind);
    EXPECT_TRUE(judge_and_cut_manifest(directory_));
    const RawLog log(*env_, directory_, Mode::kAbsoluteConsistency);
    EXPECT_TRUE(log.status().ok()) << log.status().ToString();
    if (!judged || !log.status().ok()) return 0;
    const std::vector<std::uint64_t> found = log.sets();
    std::vector<std::uint64_t> expected(found.size());
    std::iota(expected.begin(), expected.end(), 1U);
    EXPECT_EQ(found, expected);
    return found.size();
  }

  // A start that may fail anywhere.
  void try_start() {
    if (!judge_and_cut(directory_) || !judge_and_cut_manifest(directory_)) return;
    const RawLog log(*env_, directory_, Mode::kAbsoluteConsistency);
  }

  // Whether a write that follows a failed one is refused, too.
  bool refuses_after_failure() {
    RawLog log(*env_, directory_, Mode::kAbsoluteConsistency);
    EXPECT_TRUE(log.write(1, 40).ok());
    files_->fail_at(files_->operations() + 2, FileFault::kForgetDirty);  // Append, then sync.
    EXPECT_FALSE(log.write(2, 40).ok());
    EXPECT_TRUE(files_->fault_met());
    return !log.write(3, 40).ok();
  }

  static constexpr std::uint64_t kSets = 8;

 private:
  const TemporaryDirectory home_;
  const std::string directory_ = home_ / "log";
  const std::shared_ptr<CrashFileSystem> files_ = std::make_shared<CrashFileSystem>();
  const std::unique_ptr<rocksdb::Env> env_ = make_crash_env(files_);
};

// Runs with a crash at operation 1, 2, 3, ... until one is not met.
void crash_everywhere(const CrashPolicy& policy) {
  for (std::uint64_t n = 1;; ++n) {
    SCOPED_TRACE(n);
    ASSERT_LT(n, kOperationsMax);
    LogOnCrashFiles log;
    log.files().crash_at(n);
    const std::uint64_t acknowledged = log.run();
    const bool crashed = log.files().crashed();
    log.files().materialise(policy);
    const std::uint64_t found = log.start();
    ASSERT_GE(found, acknowledged);
    ASSERT_LE(found, acknowledged + 1);
    if (!crashed) return;
  }
}

TEST(LogOnCrashFiles, KeepsWhatIsAcknowledgedIfAllUnsyncedIsLost) {
  crash_everywhere(kDropUnsynced);
}

TEST(LogOnCrashFiles, KeepsWhatIsAcknowledgedIfNothingIsLost) {
  crash_everywhere(kKeepAll);
}

TEST(LogOnCrashFiles, KeepsWhatIsAcknowledgedIfTailsAreTorn) {
  for (const std::uint64_t kept : {1U, 30U})
    crash_everywhere({.bytes = LostBytes::kTear, .kept = kept});
}

TEST(LogOnCrashFiles, KeepsWhatIsAcknowledgedIfEntriesStayAndBytesGo) {
  crash_everywhere({.bytes = LostBytes::kTear, .kept = 0, .entries = LostEntries::kKept});
}

TEST(LogOnCrashFiles, KeepsWhatIsAcknowledgedIfTailsAreZeros) {
  for (const std::uint64_t kept : {0U, 30U})
    crash_everywhere({.bytes = LostBytes::kZeros, .kept = kept});
}

TEST(LogOnCrashFiles, KeepsWhatIsAcknowledgedIfTailsAreGarbage) {
  for (const std::uint64_t kept : {0U, 30U})
    crash_everywhere({.bytes = LostBytes::kGarbage, .kept = kept, .seed = 7});
}

TEST(LogOnCrashFiles, KeepsWhatIsAcknowledgedIfTheStartCrashesToo) {
  for (const CrashPolicy& policy :
       {kDropUnsynced, kKeepAll, CrashPolicy{.bytes = LostBytes::kZeros, .kept = 8}}) {
    for (std::uint64_t n = 1;; ++n) {
      SCOPED_TRACE(n);
      ASSERT_LT(n, kOperationsMax);
      LogOnCrashFiles log;
      log.files().crash_at(45);
      const std::uint64_t acknowledged = log.run();
      ASSERT_TRUE(log.files().crashed());
      log.files().materialise({.bytes = LostBytes::kZeros, .kept = 8});
      log.files().crash_at(log.files().operations() + n);
      log.try_start();
      const bool crashed = log.files().crashed();
      log.files().materialise(policy);
      ASSERT_GE(log.start(), acknowledged);
      if (!crashed) break;
    }
  }
}

// L-49: after the first failure the process ends; what it acknowledged is there for the next one.
TEST(LogOnCrashFiles, KeepsWhatIsAcknowledgedIfOneOperationFails) {
  for (const FileFault fault :
       {FileFault::kIoError, FileFault::kNoSpace, FileFault::kForgetDirty}) {
    for (std::uint64_t n = 1;; ++n) {
      SCOPED_TRACE(n);
      ASSERT_LT(n, kOperationsMax);
      LogOnCrashFiles log;
      log.files().fail_at(n, fault);
      const std::uint64_t acknowledged = log.run();
      const bool met = log.files().fault_met();
      log.files().materialise(kDropUnsynced);
      ASSERT_GE(log.start(), acknowledged);
      if (!met) break;
    }
  }
}

TEST(LogOnCrashFiles, RocksDbTakesNoWriteAfterAFailedSync) {
  LogOnCrashFiles log;
  EXPECT_TRUE(log.refuses_after_failure());
}

// The kernel has dropped set 2 from the disk and still shows it to the next process, which therefore
// counts it. It must be durable then: recovery writes it again, into a table.
TEST(LogOnCrashFiles, RecoveryMakesDurableWhatItFound) {
  LogOnCrashFiles log;
  (void)log.refuses_after_failure();
  const std::uint64_t found = log.start();
  EXPECT_GE(found, 2U);
  log.files().materialise(kDropUnsynced);
  EXPECT_EQ(log.start(), found);
}

}  // namespace
}  // namespace cadastre::log
