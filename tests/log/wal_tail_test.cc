// What a crash can do to the last set, and what RocksDB's recovery modes and judge_wals make of it
// (L-24; docs/decisions/0004). Right is: it opens without the last set, or with it if it is whole.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "log/storage/wal_scan.h"
#include "tests/log/wal_scene.h"

namespace cadastre::log {
namespace {

const std::vector<std::size_t> kSmallSets(8, 40);
constexpr std::uint64_t kSetBytesMax = 1U << 20U;

TEST(WalTail, LastSetCutAtEveryByte) {
  const Scene scene(kSmallSets);
  const auto places = every_byte(scene.last_set());
  const Row row = scene.open_last("last set cut at every byte", places, cut);
  expect_row(row, {.tolerant = {.without_last = 87},
                   .point = {.without_last = 87},
                   .absolute = {.refused = 86, .without_last = 1},
                   .judged = {.without_last = 87}});
}

TEST(WalTail, LastSetZeroFromEveryByte) {
  const Scene scene(kSmallSets);
  const auto places = every_byte(scene.last_set());
  const Row row = scene.open_last("last set zero from every byte on", places, zero_from);
  expect_row(row, {.tolerant = {.refused = 82, .without_last = 5},
                   .point = {.without_last = 87},
                   .absolute = {.refused = 82, .without_last = 5},
                   .judged = {.without_last = 87}});
}

TEST(WalTail, LastSetGarbageFromEveryByte) {
  const Scene scene(kSmallSets);
  const auto places = every_byte(scene.last_set());
  const Row row = scene.open_last("last set garbage from every byte on", places, spoil_from);
  expect_row(row, {.tolerant = {.refused = 81, .without_last = 6},
                   .point = {.without_last = 87},
                   .absolute = {.refused = 87},
                   .judged = {.without_last = 87}});
}

TEST(WalTail, FileGrownByZeros) {
  const Scene scene(kSmallSets);
  const Row row = scene.open_last("file grown by 1 to 100000 zeros",
                                  {1, 2, 6, 7, 8, 19, 4096, 32768, 40000, 100000}, grow);
  expect_row(row, {.tolerant = {.whole = 10},
                   .point = {.whole = 10},
                   .absolute = {.refused = 3, .whole = 7},
                   .judged = {.whole = 10}});
}

// The manifest is written in the same way and torn in the same way, in every mode.
TEST(WalTail, LastEditOfTheManifestZeroFromEveryByte) {
  const auto scene = Scene::of_two_files();
  const auto zero_manifest = [](const std::string& directory, std::size_t back) {
    const std::string path = manifest_path(directory);
    std::string bytes = read_bytes(path);
    zero_from(bytes, bytes.size() - back);
    write_bytes(path, bytes);
  };
  const Row row =
      scene->open("last bytes of the manifest zero", every_byte({1, 20}), zero_manifest);
  EXPECT_EQ(row.judged, (Tally{.whole = 19}));
  if (!kAllWays) return;
  EXPECT_GT(row.tolerant.refused, 0U);
  EXPECT_GT(row.point.refused, 0U);
  EXPECT_GT(row.absolute.refused, 0U);
}

// Offsets around each record header of a set that has several, and some between them.
std::vector<std::size_t> places_of_large(Extent set) {
  std::vector<std::size_t> places = every_byte(set, 4099);
  for (std::size_t block = set.begin; block < set.end;
       block = (block / kWalBlockBytes + 1) * kWalBlockBytes) {
    for (std::size_t at = block; at < block + 9 && at < set.end; ++at)
      places.push_back(at);
  }
  places.push_back(set.end - 1);
  return places;
}

class LargeLastSet : public testing::Test {
 protected:
  const Scene scene_{{40, 40, 40, 100000}};
  const std::vector<std::size_t> places_ = places_of_large(scene_.last_set());
};

TEST_F(LargeLastSet, Cut) {
  expect_row(scene_.open_last("last set of 4 blocks cut", places_, cut),
             {.tolerant = {.without_last = 62},
              .point = {.without_last = 62},
              .absolute = {.refused = 60, .without_last = 2},
              .judged = {.without_last = 62}});
}

TEST_F(LargeLastSet, ZeroFrom) {
  expect_row(scene_.open_last("last set of 4 blocks zero from there on", places_, zero_from),
             {.tolerant = {.refused = 56, .without_last = 6},
              .point = {.without_last = 62},
              .absolute = {.refused = 56, .without_last = 6},
              .judged = {.without_last = 62}});
}

TEST_F(LargeLastSet, GarbageFrom) {
  expect_row(scene_.open_last("last set of 4 blocks garbage from there on", places_, spoil_from),
             {.tolerant = {.refused = 55, .without_last = 7},
              .point = {.without_last = 62},
              .absolute = {.refused = 61, .without_last = 1},
              .judged = {.without_last = 62}});
}

// Pages reach the disk in any order.
TEST_F(LargeLastSet, OnePageMissing) {
  const Extent set = scene_.last_set();
  const auto places = every_byte({4096, set.end}, 4096);
  const Row row = scene_.open_last(
      "one page of a last set of 4 blocks zero", places,
      [&](std::string& wal, std::size_t at) { zero(wal, {at, std::min(at + 4096, wal.size())}); });
  expect_row(row, {.tolerant = {.refused = 24},
                   .point = {.without_last = 24},
                   .absolute = {.refused = 24},
                   .judged = {.without_last = 24}});
}

// The pure part alone can afford many more places than the database.
TEST_F(LargeLastSet, IsJudgedTornAtEverySeventhByte) {
  const Extent set = scene_.last_set();
  const std::string whole = scene_.wal();
  for (std::size_t at = set.begin + 1; at < set.end; at += 7) {
    std::string wal = whole;
    cut(wal, at);
    const base::ByteView file = base::as_bytes(wal);
    const auto tail = judge_wals({&file, 1}, kSetBytesMax);
    ASSERT_TRUE(tail.has_value()) << at;
    ASSERT_TRUE(tail->torn.has_value()) << at;
    EXPECT_EQ(tail->ends.front(), set.begin) << at;
  }
}

class BlockBorder : public testing::TestWithParam<std::size_t> {
 protected:
  // Sets 1 and 2 leave so many bytes of the first block.
  const Scene scene_{{kHalfBlockValue, half_block_value_leaving(GetParam()), 40}};
  const std::vector<std::size_t> places_ = every_byte(scene_.last_set(), 3);
  const Tally all_without_last_{.without_last = places_.size()};
};

TEST_P(BlockBorder, LastSetBehindItIsTorn) {
  ASSERT_EQ(scene_.set(2).end, kWalBlockBytes - GetParam());
  const Row cut_row = scene_.open_last("last set near a block's border cut", places_, cut);
  EXPECT_EQ(cut_row.judged, all_without_last_);
  EXPECT_EQ(scene_.open_last(Way::kJudged, places_, zero_from), all_without_last_);
  EXPECT_EQ(scene_.open_last(Way::kJudged, places_, spoil_from), all_without_last_);
  if (!kAllWays) return;
  EXPECT_EQ(cut_row.tolerant, all_without_last_);
  EXPECT_EQ(cut_row.point, all_without_last_);
}

INSTANTIATE_TEST_SUITE_P(BytesLeft, BlockBorder, testing::Values(0, 1, 6, 7, 8, 19));

}  // namespace
}  // namespace cadastre::log
