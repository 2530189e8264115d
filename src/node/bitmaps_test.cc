#include "node/bitmaps.h"

#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <variant>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/result.h"
#include "bitmap/error.h"
#include "bitmap/ids.h"
#include "bitmap/limits.h"
#include "kv/error.h"
#include "kv/lmdb_testing.h"

namespace cadastre::node {
namespace {

using bitmap::Id;

class BitmapsTest : public testing::Test {
 protected:
  [[nodiscard]] Result<std::unique_ptr<Bitmaps>, bitmap::Error> open(
      BitmapsAccess access, const std::string& folder = "db") const {
    return Bitmaps::open(clock_, path(folder), {.tables = {}, .access = access});
  }
  [[nodiscard]] std::string path(const std::string& folder) const {
    return directory_.path() + "/" + folder;
  }
  void write(const char* key, std::uint64_t id) const {
    const auto bitmaps = open(BitmapsAccess::kReadWrite);
    ASSERT_TRUE(bitmaps.has_value());
    ASSERT_TRUE((*bitmaps)->database().insert("tags", base::as_bytes(key), Id{id}).has_value());
  }

  base::SystemClock clock_;
  kv::TemporaryDirectory directory_;
};

// What the store below said.
kv::Error cause(const bitmap::Error& error) {
  EXPECT_EQ(error.code, bitmap::ErrorCode::kStorage);
  return std::get<kv::Error>(error.cause);
}

TEST_F(BitmapsTest, KeepsWhatWasWritten) {
  write("red", 42);
  const auto bitmaps = open(BitmapsAccess::kReadOnly);
  ASSERT_TRUE(bitmaps.has_value());
  EXPECT_TRUE(*(*bitmaps)->database().contains("tags", base::as_bytes("red"), Id{42}));
  EXPECT_FALSE(*(*bitmaps)->database().contains("tags", base::as_bytes("red"), Id{41}));
  EXPECT_FALSE(*(*bitmaps)->database().contains("none", base::as_bytes("red"), Id{42}));
}

//
TEST_F(BitmapsTest, NamesTheProcessThatHoldsTheDirectory) {
  const auto first = open(BitmapsAccess::kReadWrite);
  ASSERT_TRUE(first.has_value());
  for (const auto access : {BitmapsAccess::kReadWrite, BitmapsAccess::kReadOnly}) {
    const auto second = open(access);
    ASSERT_FALSE(second.has_value());
    EXPECT_EQ(cause(second.error()).code, kv::ErrorCode::kLocked);
    EXPECT_EQ(cause(second.error()).holder_pid, getpid());
  }
}

TEST_F(BitmapsTest, ReadersFindNothingWhereNothingIs) {
  const auto absent = open(BitmapsAccess::kReadOnly);
  ASSERT_FALSE(absent.has_value());
  EXPECT_EQ(cause(absent.error()).code, kv::ErrorCode::kNotFound);
  EXPECT_FALSE(std::filesystem::exists(path("db")));

  std::filesystem::create_directory(path("other"));
  std::ofstream(path("other") + "/notes.txt") << "not a database";
  const auto other = open(BitmapsAccess::kReadOnly, "other");
  ASSERT_FALSE(other.has_value());
  EXPECT_EQ(cause(other.error()).code, kv::ErrorCode::kNotFound);
}

TEST_F(BitmapsTest, AnEmptyDirectoryReadsAsADatabaseWithoutTables) {
  std::filesystem::create_directory(path("db"));
  const auto bitmaps = open(BitmapsAccess::kReadOnly);
  ASSERT_TRUE(bitmaps.has_value());
  EXPECT_EQ(*(*bitmaps)->database().cardinality("tags", base::as_bytes("red")), 0U);
  EXPECT_TRUE((*bitmaps)->database().tables().empty());
  const auto saved = (*bitmaps)->backup(path("copy"));
  ASSERT_FALSE(saved.has_value());
  EXPECT_EQ(cause(saved.error()).code, kv::ErrorCode::kNotFound);
  EXPECT_TRUE(std::filesystem::is_empty(path("db"))) << "reading leaves nothing behind";
}

TEST_F(BitmapsTest, ABackupOpensAsTheDatabaseDid) {
  write("red", 42);
  const auto bitmaps = open(BitmapsAccess::kReadOnly);
  ASSERT_TRUE(bitmaps.has_value());
  ASSERT_TRUE((*bitmaps)->backup(path("copy")).has_value());
  const auto again = (*bitmaps)->backup(path("copy"));
  ASSERT_FALSE(again.has_value()) << "a backup replaces nothing";
  EXPECT_EQ(cause(again.error()).system_code, EEXIST);

  const auto copy = open(BitmapsAccess::kReadOnly, "copy");
  ASSERT_TRUE(copy.has_value());
  EXPECT_TRUE(*(*copy)->database().contains("tags", base::as_bytes("red"), Id{42}));
}

TEST_F(BitmapsTest, ADamagedFileIsRefused) {
  std::filesystem::create_directory(path("db"));
  std::ofstream(path("db") + "/data.mdb") << std::string(8192, 'x');
  const auto bitmaps = open(BitmapsAccess::kReadOnly);
  ASSERT_FALSE(bitmaps.has_value());
  EXPECT_EQ(cause(bitmaps.error()).code, kv::ErrorCode::kCorrupt);
}

TEST_F(BitmapsTest, RefusesSettingsOutOfRange) {
  BitmapsOptions options;
  options.tables.new_tables.segment_bytes_max = bitmap::kSegmentBytesLeast - 1;  // B-16
  const auto bitmaps = Bitmaps::open(clock_, path("db"), options);
  ASSERT_FALSE(bitmaps.has_value());
  EXPECT_EQ(bitmaps.error().code, bitmap::ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace cadastre::node
