#include "log/storage/rocks_directory.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "log/storage/directory_testing.h"

namespace cadastre::log {
namespace {

TEST(RocksDirectory, KnowsItsFilesByTheirNames) {
  for (const char* name :
       {"CURRENT", "IDENTITY", "LOCK", "LOG", "OWNER", "crash.note", "crash.note.new",
        "LOG.old.1700000000000000", "MANIFEST-000005", "OPTIONS-000007", "OPTIONS-000007.dbtmp",
        "000012.log", "000013.sst", "000001.dbtmp"})
    EXPECT_TRUE(is_log_file(name)) << name;
  for (const char* name :
       {"", "current", "CURRENT.bak", "notes.txt", ".log", "a.log", "12a.sst", "000012.log~",
        "MANIFEST-", "MANIFEST-x", "OPTIONS-000007.tmp", "LOG.old.", "-1.sst", "000012"})
    EXPECT_FALSE(is_log_file(name)) << name;
}

TEST(RocksDirectory, WhatIsNotThereOrEmptyCanBecomeALog) {
  const ScratchDirectory scratch;
  EXPECT_EQ(look_at_directory(scratch.path() / "new"), DirectoryContent::kNothing);
  EXPECT_EQ(look_at_directory(scratch.path()), DirectoryContent::kNothing);
}

TEST(RocksDirectory, ALogIsOneWithItsCurrentFile) {
  const ScratchDirectory scratch;
  scratch.write("CURRENT", "MANIFEST-000001\n");
  scratch.write("000004.log", "");
  EXPECT_EQ(look_at_directory(scratch.path()), DirectoryContent::kDatabase);
}

TEST(RocksDirectory, AForeignFileIsNamed) {
  const ScratchDirectory scratch;
  scratch.write("CURRENT", "");
  scratch.write("thesis.tex", "");
  const auto content = look_at_directory(scratch.path());
  ASSERT_FALSE(content);
  EXPECT_EQ(content.error().code, OpenError::kForeign);
  EXPECT_NE(content.error().detail.find((scratch.path() / "thesis.tex").string()),
            std::string::npos);
}

TEST(RocksDirectory, AFolderIsForeignWhateverItsName) {
  const ScratchDirectory scratch;
  std::filesystem::create_directory(scratch.path() / "000012.log");
  const auto content = look_at_directory(scratch.path());
  ASSERT_FALSE(content);
  EXPECT_EQ(content.error().code, OpenError::kForeign);
}

TEST(RocksDirectory, EntriesWithoutACurrentFileAreDamage) {  // L-48
  for (const char* name : {"000004.log", "000005.sst"}) {
    const ScratchDirectory scratch;
    scratch.write(name, "bytes");
    const auto content = look_at_directory(scratch.path());
    ASSERT_FALSE(content) << name;
    EXPECT_EQ(content.error().code, OpenError::kDamaged) << name;
    EXPECT_NE(content.error().detail.find(name), std::string::npos) << name;
  }
}

TEST(RocksDirectory, AFileInItsPlaceCannotBeOpened) {
  const ScratchDirectory scratch;
  scratch.write("file", "");
  const auto content = look_at_directory(scratch.path() / "file");
  ASSERT_FALSE(content);
  EXPECT_EQ(content.error().code, OpenError::kCannotOpen);
}

}  // namespace
}  // namespace cadastre::log
