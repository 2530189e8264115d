#include "log/checkpoint_files.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include <gtest/gtest.h>
#include <stdlib.h>

namespace cadastre::log {
namespace {

class CheckpointFilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name =
        (std::filesystem::temp_directory_path() / "cadastre-checkpoint-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    directory = name;
    write("000001.sst", std::string(3'000'000, 's'));
    write("CURRENT", "MANIFEST-1\n");
    const auto sealed =
        seal_checkpoint(directory, {.group = GroupId{7}, .at = {Term{1}, Index{9}}});
    ASSERT_TRUE(sealed) << sealed.error().detail;
  }
  void TearDown() override { std::filesystem::remove_all(directory); }

  void write(const std::string& name, const std::string& content) const {
    std::ofstream(directory / name, std::ios::binary) << content;
  }
  [[nodiscard]] CheckpointFilesError verdict() const {
    const auto verified = verify_checkpoint(directory);
    EXPECT_FALSE(verified);
    return verified.error().code;
  }

  std::filesystem::path directory;
};

TEST_F(CheckpointFilesTest, ASealedOneVerifies) {
  const auto verified = verify_checkpoint(directory);
  ASSERT_TRUE(verified) << verified.error().detail;
  EXPECT_EQ(verified->at, (Position{Term{1}, Index{9}}));
  EXPECT_EQ(verified->total_bytes, 3'000'011U);
}

TEST_F(CheckpointFilesTest, AChangedByteIsNamed) {
  std::fstream file(directory / "000001.sst", std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(2'999'999);
  file.put('x');
  file.close();
  const auto verified = verify_checkpoint(directory);
  ASSERT_FALSE(verified);
  EXPECT_EQ(verified.error().code, CheckpointFilesError::kDamaged);
  EXPECT_NE(verified.error().detail.find("000001.sst"), std::string::npos);
}

TEST_F(CheckpointFilesTest, AMissingFileIsNoticed) {
  std::filesystem::remove(directory / "CURRENT");
  EXPECT_EQ(verdict(), CheckpointFilesError::kStorage);
}

TEST_F(CheckpointFilesTest, AFileTooManyIsForeign) {
  write("notes", "mine");
  EXPECT_EQ(verdict(), CheckpointFilesError::kForeign);
}

TEST_F(CheckpointFilesTest, AnotherListIsNoticed) {
  write("FILES", "CDSL");
  EXPECT_EQ(verdict(), CheckpointFilesError::kDamaged);
}

TEST_F(CheckpointFilesTest, WithoutItsManifestItIsNoCheckpoint) {  // A crash before the seal.
  std::filesystem::remove(directory / "CHECKPOINT");
  EXPECT_EQ(verdict(), CheckpointFilesError::kForeign);
}

TEST_F(CheckpointFilesTest, IsSealedOnce) {
  const auto again = seal_checkpoint(directory, {});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, CheckpointFilesError::kStorage);
}

}  // namespace
}  // namespace cadastre::log
