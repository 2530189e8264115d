#include "log/storage/rocks_storage.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rocksdb/db.h>

#include "log/conformance/storage_suite_testing.h"
#include "log/storage/directory_testing.h"
#include "log/storage/rocks_directory.h"

namespace cadastre::log {
namespace {

namespace fs = std::filesystem;
using conformance::expect_equal;
using conformance::kIdentity;
using conformance::LogModel;

using Opened = base::Result<std::unique_ptr<RocksStorage>, OpenError>;

Opened open(const fs::path& directory) {
  RocksOptions options;
  options.directory = directory;
  options.identity = kIdentity;
  return RocksStorage::open(options);
}

// Opens and recovers; the error of whichever fails.
base::Result<std::unique_ptr<RocksStorage>, OpenError> open_checked(const fs::path& directory,
                                                                    LogStorage::Recovered& found) {
  std::unique_ptr<RocksStorage> storage = CAD_TRY(open(directory));
  found = CAD_TRY(storage->recover());
  return storage;
}

WriteSet set_of_eight(LogModel& model, std::string_view body) {
  LogModel::Changes changes = model.change();
  for (std::uint64_t group = 1; group <= 8; ++group)
    changes.append(GroupId{group}, Term{1}, {std::string(body)});
  return changes.set();
}

fs::path only_file(const fs::path& directory, std::string_view suffix) {
  std::vector<fs::path> found;
  for (const auto& file : fs::directory_iterator(directory)) {
    const std::string name = file.path().filename().string();
    if (name.ends_with(suffix) || name.starts_with(suffix)) found.push_back(file.path());
  }
  EXPECT_EQ(found.size(), 1U) << suffix;
  return found.empty() ? fs::path() : found.front();
}

void flip(const fs::path& file, std::size_t offset) {
  std::string bytes = bytes_of(file);
  ASSERT_LT(offset, bytes.size());
  bytes[offset] = static_cast<char>(bytes[offset] ^ 1);
  std::ofstream(file, std::ios::binary) << bytes;
}

// Everything that lay there lies there still, byte by byte; RocksDB's own notes apart.
void expect_kept(const std::map<std::string, std::string>& before, const fs::path& directory) {
  const auto after = content_of(directory);
  for (const auto& [name, bytes] : before) {
    if (name == "LOG" || name == kOwnerFile) continue;
    const auto found = after.find(name);
    ASSERT_NE(found, after.end()) << name << " is gone";
    EXPECT_TRUE(found->second == bytes) << name << " was changed";
  }
}

class RocksStorageTest : public ::testing::Test {
 protected:
  [[nodiscard]] fs::path directory() const { return scratch.path() / "log"; }

  // Two sets of eight groups each.
  void make() {
    auto storage = open(directory());
    ASSERT_TRUE(storage) << storage.error().detail;
    ASSERT_TRUE((*storage)->recover());
    ASSERT_TRUE((*storage)->write(set_of_eight(before, "first")));
    first_bytes = fs::file_size(only_file(directory(), ".log"));
    after = before;
    ASSERT_TRUE((*storage)->write(set_of_eight(after, "second")));
  }
  void expect_refused(OpenError code, std::string_view named) {
    const auto content = content_of(directory());
    LogStorage::Recovered found;
    const auto opened = open_checked(directory(), found);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, code) << opened.error().detail;
    EXPECT_NE(opened.error().detail.find(named), std::string::npos) << opened.error().detail;
    expect_kept(content, directory());
  }

  ScratchDirectory scratch{Medium::kMemory};
  LogModel before;
  LogModel after;
  std::uintmax_t first_bytes = 0;  // Of the write-ahead log, with the first set.
};

TEST_F(RocksStorageTest, ATornSetIsThereForAllItsGroupsOrForNone) {  // L-24, R17, 14.3
  make();
  const fs::path file = only_file(directory(), ".log");
  const std::string whole = bytes_of(file);
  ASSERT_GT(whole.size(), first_bytes);
  const ScratchDirectory copies(Medium::kMemory);
  const fs::path copy = copies.path() / "log";
  // At every byte near the set's ends, and at some between; tests/log has every byte, on raw files.
  const auto next = [&](std::size_t size) {
    const bool near = size < first_bytes + 24 || size + 24 > whole.size();
    return size + (near ? 1 : 13);
  };
  for (std::size_t size = first_bytes; size <= whole.size(); size = next(size)) {
    fs::remove_all(copy);
    fs::copy(directory(), copy);
    fs::resize_file(copy / file.filename(), size);
    LogStorage::Recovered found;
    const auto opened = open_checked(copy, found);
    ASSERT_TRUE(opened) << size << ": " << opened.error().detail;
    expect_equal(size == whole.size() ? after : before, found, **opened);
    ASSERT_FALSE(HasFailure()) << "cut at " << size;
  }
}

TEST_F(RocksStorageTest, DamageBeforeTheLastSetIsNotOpened) {  // L-24, L-48
  make();
  const fs::path file = only_file(directory(), ".log");
  flip(file, first_bytes - 10);
  expect_refused(OpenError::kDamaged, file.filename().string());
}

TEST_F(RocksStorageTest, ADamagedManifestIsNotOpened) {
  make();
  const fs::path file = only_file(directory(), "MANIFEST-");
  flip(file, fs::file_size(file) / 2);
  expect_refused(OpenError::kDamaged, file.filename().string());
}

TEST_F(RocksStorageTest, ALogWithoutItsCurrentFileIsNotOpened) {
  make();
  fs::remove(directory() / "CURRENT");
  expect_refused(OpenError::kDamaged, "CURRENT");
}

TEST_F(RocksStorageTest, ALogWithoutItsManifestIsNotOpened) {
  make();
  const fs::path file = only_file(directory(), "MANIFEST-");
  fs::remove(file);
  expect_refused(OpenError::kDamaged, file.filename().string());
}

TEST_F(RocksStorageTest, ADirectoryWithAForeignFileIsNotTouched) {
  make();
  std::ofstream(directory() / "thesis.tex") << "chapter one";
  const auto content = content_of(directory());
  const auto opened = open(directory());
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, OpenError::kForeign);
  EXPECT_NE(opened.error().detail.find((directory() / "thesis.tex").string()), std::string::npos);
  EXPECT_EQ(content_of(directory()), content);
}

TEST_F(RocksStorageTest, AForeignDirectoryIsNotTouched) {
  fs::create_directory(directory());
  std::ofstream(directory() / "thesis.tex") << "chapter one";
  const auto content = content_of(directory());
  const auto opened = open(directory());
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, OpenError::kForeign);
  EXPECT_EQ(content_of(directory()), content);
}

TEST_F(RocksStorageTest, ADatabaseOfSomebodyElseIsRefused) {
  {
    rocksdb::Options options;
    options.create_if_missing = true;
    rocksdb::DB* database = nullptr;
    ASSERT_TRUE(rocksdb::DB::Open(options, directory().string(), &database).ok());
    const std::unique_ptr<rocksdb::DB> owner(database);
    ASSERT_TRUE(owner->Put({}, "somebody's key", "somebody's value").ok());
  }
  const auto content = content_of(directory());
  const auto opened = open(directory());
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, OpenError::kForeign) << opened.error().detail;
  EXPECT_EQ(content_of(directory()), content);  // Not a byte of it.
  rocksdb::DB* database = nullptr;
  ASSERT_TRUE(rocksdb::DB::Open({}, directory().string(), &database).ok());
  const std::unique_ptr<rocksdb::DB> owner(database);
  std::string value;
  EXPECT_TRUE(owner->Get({}, "somebody's key", &value).ok());
  EXPECT_EQ(value, "somebody's value");
}

TEST_F(RocksStorageTest, TheLogOfAnotherNodeIsNotTouched) {
  make();
  const auto content = content_of(directory());
  RocksOptions options;
  options.directory = directory();
  options.identity = {ClusterId{99}, NodeId{99}};
  const auto opened = RocksStorage::open(options);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, OpenError::kForeign);
  EXPECT_EQ(content_of(directory()), content);
}

TEST_F(RocksStorageTest, ALogThatLostItsOnlyFileIsNotTakenForANewOne) {  // L-48
  make();
  fs::remove(only_file(directory(), ".log"));
  LogStorage::Recovered found;
  const auto opened = open_checked(directory(), found);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, OpenError::kDamaged) << opened.error().detail;
}

TEST_F(RocksStorageTest, ADirectoryWhoseMakingWasCutShortIsMadeAnew) {
  make();
  fs::remove(directory() / kNodeFile);  // A crash between the node record and the file.
  LogStorage::Recovered found;
  ASSERT_TRUE(open_checked(directory(), found));
  EXPECT_EQ(found.groups.size(), 8U);
  EXPECT_TRUE(fs::exists(directory() / kNodeFile));
}

TEST_F(RocksStorageTest, AFileThatWasOnItsWayOutIsGoneAfterTheNextStart) {  // stepwise_deletes.h
  const ScratchDirectory scratch;
  const fs::path directory = scratch.path() / "log";
  ASSERT_TRUE(open(directory));
  const fs::path leaving = directory / "000999.dbtmp";
  std::ofstream(leaving) << "what is left of it";
  ASSERT_TRUE(open(directory));
  EXPECT_FALSE(fs::exists(leaving));
}

TEST_F(RocksStorageTest, TheSecondOpenerLearnsWhoIsFirst) {
  const auto first = open(directory());
  ASSERT_TRUE(first);
  const auto second = open(directory());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, OpenError::kLocked);
  EXPECT_NE(second.error().detail.find(std::to_string(::getpid())), std::string::npos)
      << second.error().detail;
}

TEST_F(RocksStorageTest, ADirectoryThatCannotBeMadeIsNamed) {
  const auto opened = open(scratch.path() / "no" / "such");
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, OpenError::kCannotOpen);
  EXPECT_NE(opened.error().detail.find("no/such"), std::string::npos);
}

}  // namespace
}  // namespace cadastre::log
