#include "log/storage/stepwise_deletes.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include <gtest/gtest.h>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include "log/storage/directory_testing.h"

namespace cadastre::log {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kStep = 1'000;

// The operating system's, which notes what is unlinked.
class Noting final : public rocksdb::FileSystemWrapper {
 public:
  Noting() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}
  [[nodiscard]] const char* Name() const override { return "Noting"; }

  rocksdb::IOStatus DeleteFile(const std::string& name,
                               const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override {
    std::error_code ignored;
    unlinked.push_back(fs::path(name).filename().string() + " " +
                       std::to_string(fs::file_size(name, ignored)));
    return FileSystemWrapper::DeleteFile(name, options, debug);
  }
  rocksdb::IOStatus RenameFile(const std::string& from,
                               const std::string& to,
                               const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override {
    if (renames_fail) return rocksdb::IOStatus::IOError("a disk that fails");
    return FileSystemWrapper::RenameFile(from, to, options, debug);
  }
  rocksdb::IOStatus NewDirectory(const std::string& name,
                                 const rocksdb::IOOptions& options,
                                 std::unique_ptr<rocksdb::FSDirectory>* directory,
                                 rocksdb::IODebugContext* debug) override {
    if (names_fail) return rocksdb::IOStatus::IOError("a disk that fails");
    return FileSystemWrapper::NewDirectory(name, options, directory, debug);
  }

  std::vector<std::string> unlinked;  // Names, and how long the files were then.
  bool renames_fail = false;
  bool names_fail = false;
};

class StepwiseDeletes : public testing::Test {
 protected:
  fs::path write(const std::string& name, std::uint64_t bytes) {
    scratch.write(name, std::string(bytes, 'x'));
    return scratch.path() / name;
  }
  using Unlinked = std::vector<std::string>;
  Unlinked remove(const fs::path& path) {
    below->unlinked.clear();
    EXPECT_TRUE(env->DeleteFile(path.string()).ok());
    EXPECT_FALSE(fs::exists(path));
    return below->unlinked;
  }

  const ScratchDirectory scratch;
  const std::shared_ptr<Noting> below = std::make_shared<Noting>();
  const std::unique_ptr<rocksdb::Env> base = rocksdb::NewCompositeEnv(below);
  const std::unique_ptr<rocksdb::Env> env = stepwise_deletes(*base, kStep);
};

TEST_F(StepwiseDeletes, ALargeFileIsShortWhenItIsUnlinked) {
  EXPECT_EQ(remove(write("000012.log", 3'500)), Unlinked{"000012.dbtmp 500"});
  EXPECT_EQ(remove(write("000013.sst", 4'000)), Unlinked{"000013.dbtmp 1000"});
  EXPECT_TRUE(fs::is_empty(scratch.path()));
}

TEST_F(StepwiseDeletes, ASmallFileAndOneOfAnotherKindAreUnlinkedAsTheyAre) {
  EXPECT_EQ(remove(write("000012.log", kStep)), Unlinked{"000012.log 1000"});
  EXPECT_EQ(remove(write("MANIFEST-000005", 9'000)), Unlinked{"MANIFEST-000005 9000"});
}

TEST_F(StepwiseDeletes, AFileWithAnotherNameKeepsItsBytesThere) {
  const fs::path file = write("000013.sst", 3'500);
  const fs::path other = scratch.path() / "checkpoint.sst";
  fs::create_hard_link(file, other);
  EXPECT_EQ(remove(file), Unlinked{"000013.sst 3500"});
  EXPECT_EQ(fs::file_size(other), 3'500U);
}

// A short file under its old name would be taken for a damaged one after a crash.
TEST_F(StepwiseDeletes, NothingIsCutBeforeItsNewNameIsDurable) {
  below->names_fail = true;
  EXPECT_EQ(remove(write("000012.log", 3'500)), Unlinked{"000012.dbtmp 3500"});
  below->renames_fail = true;
  EXPECT_EQ(remove(write("000014.log", 3'500)), Unlinked{"000014.log 3500"});
}

TEST_F(StepwiseDeletes, WhatIsNotThereIsAnError) {
  EXPECT_FALSE(env->DeleteFile((scratch.path() / "000012.log").string()).ok());
}

}  // namespace
}  // namespace cadastre::log
