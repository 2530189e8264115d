#include "bitmap/cut_plan.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "bitmap/container.h"
#include "bitmap/container_testing.h"
#include "bitmap/ids.h"
#include "bitmap/value_model_testing.h"

namespace cadastre::bitmap {
namespace {

// A container of `count` lonely slots.
ContainerView array_of(std::uint64_t chunk, std::size_t count) {
  static const base::Bytes kSlots =
      model::container(testing::spaced(4096, 0, 2), ContainerKind::kArray);
  return {chunk, static_cast<std::uint32_t>(count), ContainerKind::kArray,
          ByteView(kSlots).first(count * kSlotBytes)};
}

std::vector<ContainerView> arrays(const std::vector<std::size_t>& counts,
                                  std::uint64_t first = 10) {
  std::vector<ContainerView> all;
  for (const std::size_t count : counts)
    all.push_back(array_of(first + all.size(), count));
  return all;
}

std::vector<std::size_t> counts_of(const CutPlan& plan) {
  std::vector<std::size_t> counts;
  for (const SegmentPart& part : plan.parts)
    counts.push_back(part.containers.count());
  return counts;
}

using Counts = std::vector<std::size_t>;

// 3.4
TEST(CutPlan, FollowsTheRule) {
  struct Case {
    const char* what;
    std::vector<std::size_t> members;
    std::size_t limit;
    CutHint hint;
    Counts parts;
  };
  const std::vector<Case> cases = {
      {"what fits stays whole", {100, 100, 100}, 1000, {}, {3}},
      {"one chunk stays whole, however large", {4000}, 1024, {}, {1}},
      {"halves", {300, 300, 300, 300}, 2000, {}, {2, 2}},
      {"as even as it gets", {900, 100, 100, 100}, 2000, {}, {1, 3}},
      {"a tie is cut at the smaller index", {300, 300, 300}, 1300, {}, {1, 2}},
      {"ascending ids leave a full segment",
       {300, 300, 300, 300},
       2000,
       {SegmentPlace::kLast, 13},
       {3, 1}},
      {"also where it is the only one",
       {300, 300, 300, 300},
       2000,
       {SegmentPlace::kOnly, 13},
       {3, 1}},
      {"not in the middle", {300, 300, 300, 300}, 2000, {SegmentPlace::kMiddle, 13}, {2, 2}},
      {"not in the first", {300, 300, 300, 300}, 2000, {SegmentPlace::kFirst, 13}, {2, 2}},
      {"not for another chunk", {300, 300, 300, 300}, 2000, {SegmentPlace::kLast, 12}, {2, 2}},
      {"descending ids leave a full segment",
       {300, 300, 300, 300},
       2000,
       {SegmentPlace::kFirst, 10},
       {1, 3}},
      {"also in the only one", {300, 300, 300, 300}, 2000, {SegmentPlace::kOnly, 10}, {1, 3}},
      {"not in the last", {300, 300, 300, 300}, 2000, {SegmentPlace::kLast, 10}, {2, 2}},
      {"a part that is still too large is packed", {300, 300, 300, 300, 300}, 1300, {}, {2, 2, 1}},
      {"a chunk that is too large stands alone", {10, 4000, 10}, 1024, {}, {1, 1, 1}},
  };
  CutScratch scratch;
  for (const Case& each : cases) {
    const auto containers = arrays(each.members);
    const CutPlan plan = choose_cut(containers, each.limit, each.hint, scratch);
    EXPECT_EQ(counts_of(plan), each.parts) << each.what;
    std::size_t at = 0;
    for (const SegmentPart& part : plan.parts) {
      EXPECT_EQ(part.containers.first, at) << each.what;
      EXPECT_EQ(part.fence, fence_at(containers[at].chunk)) << each.what;
      at = part.containers.last;
    }
  }
}

// Against every boundary, by trying them all.
TEST(CutPlan, NoOtherCutIsMoreEven) {
  CutScratch scratch;
  CutScratch other;
  for (std::uint64_t seed = 1; seed < 200; ++seed) {
    std::vector<std::size_t> members;
    std::uint64_t state = seed * 0x9e3779b97f4a7c15U;
    for (std::size_t i = 0; i < 2 + seed % 9; ++i) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      members.push_back(1 + (state >> 40) % 60);
    }
    // Chunks far apart are packed ids, chunks side by side containers.
    auto containers = arrays(members, seed % 2 == 0 ? 10 : 0xfffe);
    const auto part_bytes = [&](std::size_t first, std::size_t last) {
      return choose_packing(std::span(containers).subspan(first, last - first), ~std::size_t{0},
                            other)
          .parts.front()
          .size_bytes;
    };
    std::optional<std::size_t> best;
    std::size_t best_difference = 0;
    for (std::size_t cut = 1; cut < containers.size(); ++cut) {
      const std::size_t left = part_bytes(0, cut);
      const std::size_t right = part_bytes(cut, containers.size());
      const std::size_t difference = left < right ? right - left : left - right;
      if (!best || difference < best_difference) {
        best = cut;
        best_difference = difference;
      }
    }
    const std::size_t whole = part_bytes(0, containers.size());
    const CutPlan plan = choose_cut(containers, whole - 1, {}, scratch);
    ASSERT_EQ(plan.parts.size(), 2U) << seed;
    EXPECT_EQ(plan.parts[0].containers.last, *best) << seed;
  }
}

TEST(CutPlan, PacksFromTheLeft) {
  CutScratch scratch;
  const auto containers = arrays({300, 300, 300, 300, 300, 4000, 5});
  EXPECT_EQ(counts_of(choose_packing(containers, 2000, scratch)), (Counts{3, 2, 1, 1}));
  EXPECT_EQ(counts_of(choose_packing(containers, 100000, scratch)), (Counts{7}));
  EXPECT_EQ(counts_of(choose_packing(containers, 1, scratch)), (Counts{1, 1, 1, 1, 1, 1, 1}));
}

}  // namespace
}  // namespace cadastre::bitmap
