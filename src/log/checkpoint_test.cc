#include "log/checkpoint.h"

#include <gtest/gtest.h>

#include "base/blake3.h"

namespace cadastre::log {
namespace {

CheckpointManifest some_manifest() {
  CheckpointManifest manifest;
  manifest.cluster = ClusterId{1};
  manifest.group = GroupId{2};
  manifest.at = {Term{3}, Index{4}};
  manifest.node = NodeId{5};
  manifest.id = CheckpointId{6};
  manifest.total_bytes = 7;
  manifest.entries = 8;
  manifest.list_bytes = 9;
  manifest.list_hash = base::blake3({});
  manifest.summary = base::to_owned(base::as_bytes("sum"));
  return manifest;
}

std::vector<CheckpointFile> some_files() {
  return {{.name = "000007.sst",
           .bytes = 100,
           .hash = base::blake3(base::as_bytes("x")),
           .level = 6,
           .smallest = base::to_owned(base::as_bytes("a")),
           .largest = base::to_owned(base::as_bytes("zz"))},
          {.name = "CURRENT", .bytes = 16}};
}

TEST(CheckpointManifest, HasTheBytesOfItsTable) {  // section 7
  EXPECT_EQ(
      base::to_hex(encode_manifest(some_manifest())),
      "4344534d01000100010000000000000002000000000000000400000000000000030000000000000005000000"
      "000000000600000000000000070000000000000008000000000000000900000"
      "0af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262030073756d5fa7979b");
}

TEST(CheckpointManifest, ReadsBackWhatWasWritten) {
  EXPECT_EQ(decode_manifest(encode_manifest(some_manifest())), some_manifest());
  EXPECT_EQ(decode_file_list(encode_file_list(some_files())), some_files());
  EXPECT_EQ(decode_file_list(encode_file_list({})), std::vector<CheckpointFile>{});
}

TEST(CheckpointManifest, EveryFlippedBitAndEveryCutIsNoticed) {
  for (const base::Bytes& whole :
       {encode_manifest(some_manifest()), encode_file_list(some_files())}) {
    const auto reads = [](base::ByteView bytes) {
      return decode_manifest(bytes).has_value() || decode_file_list(bytes).has_value();
    };
    ASSERT_TRUE(reads(whole));
    for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
      base::Bytes flipped = whole;
      flipped[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
      EXPECT_FALSE(reads(flipped)) << bit;
    }
    for (std::size_t bytes = 0; bytes < whole.size(); ++bytes)
      EXPECT_FALSE(reads(base::ByteView{whole}.first(bytes))) << bytes;
  }
}

TEST(CheckpointManifest, NamesArePlainBeforeTheyTouchAPath) {  // L-70
  for (const std::string_view bad : {"", ".", "..", "a/b", "/etc/passwd"})
    EXPECT_FALSE(is_plain_name(bad)) << bad;
  EXPECT_FALSE(is_plain_name(std::string_view("a\0b", 3)));
  EXPECT_FALSE(is_plain_name(std::string(256, 'x')));
  EXPECT_TRUE(is_plain_name(std::string(255, 'x')));
}

TEST(CheckpointManifest, ANameTwiceIsRefused) {
  std::vector<CheckpointFile> files = some_files();
  files.push_back(files.front());
  EXPECT_FALSE(decode_file_list(encode_file_list(files)));
}

}  // namespace
}  // namespace cadastre::log
