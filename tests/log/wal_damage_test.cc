// What no crash does: damage before the last set, and files that are missing (L-48;
// docs/decisions/0004). Right is: it refuses to open.

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "log/storage/wal_scan.h"
#include "tests/log/wal_scene.h"

namespace cadastre::log {
namespace {

namespace fs = std::filesystem;

const std::vector<std::size_t> kSmallSets(8, 40);

// Lengths and types are in the header; behind it one bit is as good as another.
TEST(WalDamage, BitFlippedInAnEarlierSet) {
  const Scene scene(kSmallSets);
  const Extent set = scene.set(4);
  const std::size_t header_end = set.begin + kWalHeaderBytes;
  const Row header = scene.open_last("each bit of an earlier set's header flipped",
                                     every_byte({set.begin * 8, header_end * 8}), flip_bit);
  expect_row(header, {.tolerant = {.refused = 48, .fewer = 8},
                      .point = {.fewer = 56},
                      .absolute = {.refused = 55, .fewer = 1},
                      .judged = {.refused = 56}});
  const Row payload = scene.open_last("each 9th bit of its payload flipped",
                                      every_byte({header_end * 8, set.end * 8}, 9), flip_bit);
  expect_row(payload, {.tolerant = {.refused = 72},
                       .point = {.fewer = 72},
                       .absolute = {.refused = 72},
                       .judged = {.refused = 72}});
}

TEST(WalDamage, EarlierSetZeroFromEveryByte) {
  const Scene scene(kSmallSets);
  const Extent set = scene.set(4);
  const Row row =
      scene.open_last("an earlier set zero from every byte on", every_byte(set),
                      [&](std::string& wal, std::size_t at) { zero(wal, {at, set.end}); });
  expect_row(row, {.tolerant = {.refused = 82, .fewer = 5},
                   .point = {.fewer = 87},
                   .absolute = {.refused = 82, .fewer = 5},
                   .judged = {.refused = 87}});
}

// A block of zeros that begins and ends where sets do, as a lost page or a trimmed extent.
TEST(WalDamage, BlockZeroed) {
  const Scene scene({kHalfBlockValue, half_block_value_leaving(0), 40, 40});
  ASSERT_EQ(scene.set(2).end, kWalBlockBytes);
  const Row row =
      scene.open_last("the block of sets 1 and 2 of 4 zero", {0},
                      [](std::string& wal, std::size_t) { zero(wal, {0, kWalBlockBytes}); });
  expect_row(row, {.tolerant = {.hole = 1},
                   .point = {.hole = 1},
                   .absolute = {.hole = 1},
                   .judged = {.refused = 1}});
}

// Nothing in the file says how long it was: only a witness elsewhere can tell (L-53).
TEST(WalDamage, FileCutInAnEarlierSetIsSeenByNobody) {
  const Scene scene(kSmallSets);
  const Row row =
      scene.open_last("file cut at every byte of an earlier set", every_byte(scene.set(4)), cut);
  expect_row(row, {.tolerant = {.fewer = 87},
                   .point = {.fewer = 87},
                   .absolute = {.refused = 86, .fewer = 1},
                   .judged = {.fewer = 87}});
}

TEST(WalDamage, EarlierFileMissing) {
  const auto scene = Scene::of_two_files();
  const Row row = scene->open(
      "the earlier of two files missing", {0},
      [](const std::string& directory, std::size_t) { fs::remove(wal_paths(directory).front()); });
  expect_row(row, {.tolerant = {.refused = 1},
                   .point = {.refused = 1},
                   .absolute = {.refused = 1},
                   .judged = {.refused = 1}});
}

TEST(WalDamage, NewestFileMissingIsSeenByNobody) {
  const auto scene = Scene::of_two_files();
  const Row row = scene->open(
      "the newer of two files missing", {0},
      [](const std::string& directory, std::size_t) { fs::remove(wal_paths(directory).back()); });
  expect_row(row, {.tolerant = {.fewer = 1},
                   .point = {.fewer = 1},
                   .absolute = {.fewer = 1},
                   .judged = {.fewer = 1}});
}

TEST(WalDamage, EarlierFileCut) {
  const auto scene = Scene::of_two_files();
  const Row row =
      scene->open("the earlier of two files cut in its last set", every_byte(scene->set(4)),
                  [](const std::string& directory, std::size_t at) {
                    fs::resize_file(wal_paths(directory).front(), at);
                  });
  expect_row(row, {.tolerant = {.refused = 87},
                   .point = {.refused = 87},
                   .absolute = {.refused = 87},
                   .judged = {.refused = 87}});
}

TEST(WalDamage, EarlierFileSpoiledAtItsEnd) {
  const auto scene = Scene::of_two_files();
  const auto spoil = [](void (*damage)(std::string&, std::size_t)) {
    return [damage](const std::string& directory, std::size_t at) {
      const std::string path = wal_paths(directory).front();
      std::string bytes = read_bytes(path);
      damage(bytes, at);
      write_bytes(path, bytes);
    };
  };
  const auto places = every_byte(scene->set(4));
  expect_row(scene->open("last set of the earlier file zero", places, spoil(zero_from)),
             {.tolerant = {.refused = 82, .hole = 5},
              .point = {.fewer = 82, .hole = 5},
              .absolute = {.refused = 82, .hole = 5},
              .judged = {.refused = 87}});
  expect_row(scene->open("last set of the earlier file garbage", places, spoil(spoil_from)),
             {.tolerant = {.refused = 81, .hole = 6},
              .point = {.fewer = 86, .hole = 1},
              .absolute = {.refused = 86, .hole = 1},
              .judged = {.refused = 87}});
}

}  // namespace
}  // namespace cadastre::log
