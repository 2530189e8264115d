#include "base/byte_slab.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/check.h"

namespace cadastre::base {
namespace {

constexpr std::uint32_t kMax = std::numeric_limits<std::uint32_t>::max();

// A slab that is emptied before it is destroyed, whatever a test leaves in it.
template <class Slab>
struct Emptied : Slab {
  using Slab::Slab;
  Emptied(const Emptied&) = delete;
  Emptied& operator=(const Emptied&) = delete;
  ~Emptied() { this->clear(); }
};
using Slab = Emptied<ByteSlab>;
using Slab16 = Emptied<BasicByteSlab<Round16>>;

std::string of_size(std::size_t bytes, char letter = 'x') {
  return std::string(bytes, letter);
}

template <class SomeSlab>
ByteSlot put(SomeSlab& slab, std::string_view text) {
  const auto slot = slab.allocate(as_bytes(text));
  EXPECT_TRUE(slot.has_value());
  return slot.value_or(ByteSlot::empty());
}

template <class SomeSlab>
std::optional<SlabFull> refusal(SomeSlab& slab, std::string_view text) {
  const auto slot = slab.allocate(as_bytes(text));
  if (slot) return std::nullopt;
  return slot.error();
}

TEST(SlabRounding, TableOfBothPolicies) {
  struct Case {
    std::string_view what;
    std::uint32_t bytes;
    std::optional<std::uint32_t> pow2;
    std::optional<std::uint32_t> by16;
  };
  const std::vector<Case> cases = {
      {"empty data takes no block", 0, 0, 0},
      {"a byte takes the least block", 1, 16, 16},
      {"a full least block", 16, 16, 16},
      {"one more", 17, 32, 32},
      {"here the policies part", 33, 64, 48},
      {"the largest power of two", 1U << 31, 1U << 31, 1U << 31},
      {"beyond it", (1U << 31) + 1, std::nullopt, (1U << 31) + 16},
      {"the largest multiple of 16", kMax - 15, std::nullopt, kMax - 15},
      {"beyond it, too", kMax - 14, std::nullopt, std::nullopt},
      {"the largest number", kMax, std::nullopt, std::nullopt},
  };
  for (const auto& row : cases) {
    EXPECT_EQ(RoundPow2::round_up(row.bytes), row.pow2) << row.what;
    EXPECT_EQ(Round16::round_up(row.bytes), row.by16) << row.what;
  }
}

TEST(ByteSlab, OverwritesWhatTakesABlockOfTheSameSize) {
  ByteSlab slab(64, 4);
  auto slot = slab.allocate(as_bytes("0123456789"));
  ASSERT_TRUE(slot.has_value());
  const auto before = slab.stats();
  EXPECT_TRUE(slab.fits_in_place(*slot, as_bytes("0123456789abcdef")));
  EXPECT_FALSE(slab.fits_in_place(*slot, as_bytes("0123456789abcdefg"))) << "a larger block";
  EXPECT_FALSE(slab.fits_in_place(*slot, {})) << "no block";
  EXPECT_TRUE(slab.fits_in_place(ByteSlot::empty(), {}));
  *slot = slab.overwrite(*slot, as_bytes("ab"));
  EXPECT_EQ(as_text(slab.get(*slot)), "ab");
  *slot = slab.overwrite(*slot, slab.get(*slot).subspan(1));
  EXPECT_EQ(as_text(slab.get(*slot)), "b") << "from a view into itself";
  EXPECT_EQ(slab.stats(), before);
  slab.deallocate(*slot);
}

TEST(ByteSlab, GivesBackWhatItWasGiven) {
  Slab slab(256, 8);
  const auto a = put(slab, "alpha");
  const auto b = put(slab, of_size(40, 'b'));
  EXPECT_EQ(as_text(slab.get(a)), "alpha");
  EXPECT_EQ(as_text(slab.get(b)), of_size(40, 'b'));
  EXPECT_EQ(slab.stats(), (SlabStats{.capacity = 256,
                                     .live_bytes = 80,
                                     .live_count = 2,
                                     .bump_offset = 80,
                                     .free_bytes = 0,
                                     .available_bytes = 176}));
}

TEST(ByteSlab, RoundingPolicyDecidesTheBlockSize) {
  Slab pow2(256, 8);
  Slab16 by16(256, 8);
  EXPECT_EQ(put(pow2, of_size(33)).block, 64U);
  EXPECT_EQ(put(by16, of_size(33)).block, 48U);
}

TEST(ByteSlab, EmptyDataIsNotCounted) {
  Slab slab(16, 0);
  const auto slot = slab.allocate({});
  ASSERT_TRUE(slot.has_value());
  EXPECT_EQ(*slot, ByteSlot::empty());
  EXPECT_TRUE(slab.get(*slot).empty());
  slab.deallocate(*slot);
  EXPECT_EQ(slab.stats().live_count, 0U);
}

TEST(ByteSlab, SaysWhatItLackedAndChangesNothing) {
  Slab slab(64, 4);
  put(slab, of_size(32));
  const auto before = slab.stats();
  EXPECT_EQ(refusal(slab, of_size(33)), (SlabFull{SlabResource::kBytes, 64, 32}));
  EXPECT_EQ(slab.stats(), before);
}

TEST(ByteSlab, ReportsOnlyTheBytesBehindBumpAsAvailable) {
  Slab slab(64, 4);
  const auto hole = put(slab, of_size(16));
  put(slab, of_size(16));
  slab.deallocate(hole);
  EXPECT_EQ(slab.stats().available_bytes, 48U);
  EXPECT_EQ(refusal(slab, of_size(40)), (SlabFull{SlabResource::kBytes, 64, 32}));
}

TEST(ByteSlab, BoundsTheNumberOfLiveStrings) {
  Slab slab(1024, 2);
  const auto a = put(slab, "a");
  put(slab, "b");
  EXPECT_EQ(refusal(slab, "c"), (SlabFull{SlabResource::kLiveEntries, 1, 0}));
  slab.deallocate(a);
  EXPECT_EQ(refusal(slab, "c"), std::nullopt);
}

// The view is longer than its memory, which nobody reads: the size alone is refused.
TEST(ByteSlab, RefusesSizesThatCannotBeRounded) {
  Slab slab(64, 4);
  Slab16 by16(64, 4);
  const std::byte anchor{};
  const SlabFull too_large{SlabResource::kBytes, kMax, 64};
  EXPECT_EQ(slab.allocate({&anchor, (std::size_t{1} << 31) + 1}).error(), too_large);
  EXPECT_EQ(by16.allocate({&anchor, std::size_t{kMax} - 14}).error(), too_large);
  EXPECT_EQ(by16.allocate({&anchor, std::size_t{kMax} + 17}).error(), too_large);
}

TEST(ByteSlab, TakesTheSmallestHoleThatFits) {
  Slab slab(1024, 16);
  const auto large = put(slab, of_size(128));
  put(slab, "wall");
  const auto small = put(slab, of_size(32));
  put(slab, "wall");
  slab.deallocate(large);
  slab.deallocate(small);
  EXPECT_EQ(put(slab, of_size(20)).offset, small.offset);
  EXPECT_EQ(put(slab, of_size(20)).offset, large.offset);
}

TEST(ByteSlab, TakesTheSmallestOfHolesThatAreAllTooLarge) {
  Slab slab(1024, 16);
  const auto large = put(slab, of_size(256));
  put(slab, "wall");
  const auto small = put(slab, of_size(64));
  put(slab, "wall");
  slab.deallocate(large);
  slab.deallocate(small);
  EXPECT_EQ(put(slab, of_size(20)).offset, small.offset);
}

TEST(ByteSlab, PrefersTheLowestOfEqualHoles) {
  Slab slab(1024, 16);
  const auto low = put(slab, of_size(64));
  put(slab, "wall");
  const auto high = put(slab, of_size(64));
  put(slab, "wall");
  slab.deallocate(high);
  slab.deallocate(low);
  EXPECT_EQ(put(slab, of_size(20)).offset, low.offset);
}

TEST(ByteSlab, SplitsAHoleAndKeepsTheRest) {
  Slab slab(1024, 16);
  const auto hole = put(slab, of_size(64));
  put(slab, "wall");
  slab.deallocate(hole);
  const auto first = put(slab, of_size(16));
  const auto second = put(slab, of_size(16));
  EXPECT_EQ(first.offset, hole.offset);
  EXPECT_EQ(second.offset, hole.offset + 16);
  EXPECT_EQ(slab.stats().free_bytes, 32U);
}

TEST(ByteSlab, MergesWithBothNeighbours) {
  Slab slab(1024, 16);
  const auto a = put(slab, of_size(16));
  const auto b = put(slab, of_size(32));
  const auto c = put(slab, of_size(16));
  put(slab, "wall");
  slab.deallocate(a);
  slab.deallocate(c);
  slab.deallocate(b);
  EXPECT_EQ(slab.stats().free_bytes, 64U);
  EXPECT_EQ(put(slab, of_size(64)).offset, a.offset);
}

TEST(ByteSlab, LowersBumpInsteadOfListingTheLastBlock) {
  Slab slab(1024, 16);
  const auto a = put(slab, of_size(16));
  const auto b = put(slab, of_size(16));
  const auto c = put(slab, of_size(16));
  slab.deallocate(b);
  slab.deallocate(c);
  EXPECT_EQ(slab.stats().bump_offset, 16U);
  EXPECT_EQ(slab.stats().free_bytes, 0U);
  slab.deallocate(a);
  EXPECT_EQ(slab.stats().bump_offset, 0U);
}

TEST(ByteSlab, CopiesFromItself) {
  Slab slab(64, 4);
  const auto a = put(slab, "alpha");
  const auto b = slab.allocate(slab.get(a));
  ASSERT_TRUE(b.has_value());
  EXPECT_EQ(as_text(slab.get(*b)), "alpha");
}

TEST(ByteSlab, ClearStartsAgainWithTheWholeCapacity) {
  Slab slab(64, 2);
  put(slab, of_size(32));
  put(slab, of_size(32));
  slab.clear();
  EXPECT_EQ(slab.stats(), (SlabStats{.capacity = 64,
                                     .live_bytes = 0,
                                     .live_count = 0,
                                     .bump_offset = 0,
                                     .free_bytes = 0,
                                     .available_bytes = 64}));
  EXPECT_EQ(put(slab, of_size(64)).offset, 0U);
}

TEST(ByteSlab, HasNoOwnerInCommonWithAnotherSlab) {
  Slab a(64, 2);
  Slab b(64, 2);
  EXPECT_NE(put(a, "x").owner, 0U);
  EXPECT_NE(put(a, "x").owner, put(b, "x").owner);
}

TEST(ByteSlabDeathTest, ForeignClearedAndForgedSlotsAbort) {
  Slab slab(64, 4);
  Slab other(64, 4);
  const auto foreign = put(other, "x");
  EXPECT_DEATH(static_cast<void>(slab.get(foreign)), "with its own slab");
  EXPECT_DEATH(slab.deallocate(foreign), "with its own slab");

  const auto cleared = put(slab, "x");
  slab.clear();
  EXPECT_DEATH(static_cast<void>(slab.get(cleared)), "not after clear");

  auto forged = put(slab, "x");
  forged.len = forged.block + 1;
  EXPECT_DEATH(static_cast<void>(slab.get(forged)), "fits its block");
  forged.len = 1;
  forged.offset = kMax - 15;  // The sum of offset and block is 1 in 32 bits.
  forged.block = 17;
  EXPECT_DEATH(static_cast<void>(slab.get(forged)), "block is in use");
}

TEST(ByteSlabDeathTest, DoubleFreeAborts) {
  Slab slab(256, 8);
  const auto a = put(slab, "a");
  const auto b = put(slab, "b");
  put(slab, "wall");
  slab.deallocate(a);
  EXPECT_DEATH(slab.deallocate(a), "double free");
  slab.deallocate(b);
  EXPECT_DEATH(slab.deallocate(b), "double free");
}

TEST(ByteSlabDeathTest, FreeingTheLastBlockTwiceAborts) {
  Slab slab(256, 8);
  const auto last = put(slab, "a");
  slab.deallocate(last);
  EXPECT_DEATH(slab.deallocate(last), "block is in use");
}

// What only builds with slow checks see; the others must then go on without a word.
void write_after_free(bool below_bump) {
  Slab slab(256, 8);
  const auto slot = put(slab, "secret");
  if (below_bump) put(slab, "wall");
  auto* const stale = const_cast<std::byte*>(slab.get(slot).data());
  slab.deallocate(slot);
  *stale = std::byte{1};
  put(slab, "next");
  std::_Exit(0);
}

void destroy_with_a_live_string() {
  {
    ByteSlab slab(64, 2);
    EXPECT_TRUE(slab.allocate(as_bytes("alive")).has_value());
  }
  std::_Exit(0);
}

TEST(ByteSlabDeathTest, SlowChecksSeeWritesAfterFreeAndForgottenSlots) {
  if constexpr (kSlowChecks) {
    EXPECT_DEATH(write_after_free(true), "after they were freed");
    EXPECT_DEATH(write_after_free(false), "after they were freed");
    EXPECT_DEATH(destroy_with_a_live_string(), "empty when it is destroyed");
  } else {
    EXPECT_EXIT(write_after_free(true), testing::ExitedWithCode(0), "");
    EXPECT_EXIT(write_after_free(false), testing::ExitedWithCode(0), "");
    EXPECT_EXIT(destroy_with_a_live_string(), testing::ExitedWithCode(0), "");
  }
}

}  // namespace
}  // namespace cadastre::base
