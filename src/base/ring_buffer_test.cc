#include "base/ring_buffer.h"

#include <array>
#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <ranges>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace cadastre::base {
namespace {

static_assert(std::bidirectional_iterator<RingBuffer<int, 4>::const_iterator>);
static_assert(std::ranges::bidirectional_range<const RingBuffer<int, 4>>);
static_assert(std::is_trivially_destructible_v<RingBuffer<int, 4>>);
static_assert(!std::is_trivially_destructible_v<RingBuffer<std::string, 4>>);

constexpr int oldest_after_five_pushes() {
  RingBuffer<int, 4> ring;
  for (int i = 1; i <= 5; ++i)
    ring.push_back_overwrite(i);
  const auto copy = ring;
  return *copy.get(0);
}
static_assert(oldest_after_five_pushes() == 2);

template <class T, std::size_t N>
std::vector<T> contents(const RingBuffer<T, N>& ring) {
  return {ring.begin(), ring.end()};
}

// A ring of {2, 3, 4} whose head is not at slot 0.
RingBuffer<int, 4> shifted() {
  RingBuffer<int, 4> ring{0, 1, 2, 3};
  ring.pop_front();
  ring.pop_front();
  EXPECT_TRUE(ring.push_back(4));
  return ring;
}

TEST(RingBuffer, GivesBackInTheOrderOfArrival) {
  RingBuffer<std::string, 2> ring;
  EXPECT_TRUE(ring.empty());
  EXPECT_TRUE(ring.push_back("a"));
  EXPECT_TRUE(ring.push_back("b"));
  EXPECT_EQ(ring.pop_front(), "a");
  EXPECT_EQ(ring.pop_front(), "b");
  EXPECT_EQ(ring.pop_front(), std::nullopt);
}

TEST(RingBuffer, RefusesWhenFullAndLeavesTheArgumentUntouched) {
  RingBuffer<std::unique_ptr<int>, 2> ring;
  EXPECT_TRUE(ring.push_back(std::make_unique<int>(1)));
  EXPECT_TRUE(ring.push_back(std::make_unique<int>(2)));
  EXPECT_TRUE(ring.full());
  auto third = std::make_unique<int>(3);
  EXPECT_FALSE(ring.push_back(std::move(third)));
  ASSERT_NE(third, nullptr);  // NOLINT(bugprone-use-after-move): a refusal does not move.
}

TEST(RingBuffer, OverwriteReturnsTheOldestOnlyWhenItHadToGo) {
  RingBuffer<std::string, 2> ring;
  EXPECT_EQ(ring.push_back_overwrite("a"), std::nullopt);
  EXPECT_EQ(ring.push_back_overwrite("b"), std::nullopt);
  EXPECT_EQ(ring.push_back_overwrite("c"), "a");
  EXPECT_EQ(contents(ring), (std::vector<std::string>{"b", "c"}));
}

TEST(RingBuffer, OverwriteTakesMoveOnlyElements) {
  RingBuffer<std::unique_ptr<int>, 1> ring;
  ring.push_back_overwrite(std::make_unique<int>(1));
  const auto evicted = ring.push_back_overwrite(std::make_unique<int>(2));
  ASSERT_TRUE(evicted.has_value());
  EXPECT_EQ(**evicted, 1);
  EXPECT_EQ(**ring.get(0), 2);
}

TEST(RingBuffer, CountsPositionsFromTheOldest) {
  const auto ring = shifted();
  ASSERT_NE(ring.get(2), nullptr);
  EXPECT_EQ(*ring.get(0), 2);
  EXPECT_EQ(*ring.get(2), 4);
  EXPECT_EQ(ring.get(3), nullptr);
  EXPECT_EQ(ring.get(static_cast<std::size_t>(-1)), nullptr);
}

TEST(RingBuffer, WalksBothWays) {
  const auto ring = shifted();
  EXPECT_EQ(contents(ring), (std::vector<int>{2, 3, 4}));
  const std::vector<int> reversed(std::make_reverse_iterator(ring.end()),
                                  std::make_reverse_iterator(ring.begin()));
  EXPECT_EQ(reversed, (std::vector<int>{4, 3, 2}));
}

TEST(RingBuffer, LiesInTwoStretches) {
  auto ring = shifted();
  for (int next = 5; next < 15; ++next) {
    std::vector<int> walked;
    for (const auto& stretch : ring.stretches())
      walked.insert(walked.end(), stretch.begin(), stretch.end());
    EXPECT_EQ(walked, contents(ring));
    if (next % 3 == 0) ring.pop_front();
    ring.push_back_overwrite(next);
  }
  ring.clear();
  EXPECT_TRUE(ring.stretches()[0].empty());
  EXPECT_TRUE(ring.stretches()[1].empty());
}

TEST(RingBuffer, FindsTheOldestMatch) {
  const auto ring = shifted();
  const int* const found = ring.find_if([](int value) { return value >= 3; });
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(*found, 3);
  EXPECT_EQ(ring.find_if([](int value) { return value > 9; }), nullptr);
}

TEST(RingBuffer, EqualityIgnoresWhereTheHeadStands) {
  EXPECT_EQ(shifted(), (RingBuffer<int, 4>{2, 3, 4}));
  EXPECT_NE(shifted(), (RingBuffer<int, 4>{2, 3}));
  EXPECT_NE(shifted(), (RingBuffer<int, 4>{2, 3, 5}));
}

TEST(RingBuffer, CopiesAndMoves) {
  auto source = shifted();
  RingBuffer<int, 4> target{9};
  target = source;
  EXPECT_EQ(target, source);
  auto& alias = target;
  target = alias;
  EXPECT_EQ(target, source);
  const RingBuffer<int, 4> moved = std::move(source);
  EXPECT_EQ(moved, target);
  EXPECT_TRUE(source.empty());  // NOLINT(bugprone-use-after-move): this is the promise.
  target = RingBuffer<int, 4>{7, 8};
  EXPECT_EQ(contents(target), (std::vector<int>{7, 8}));
}

// Asks its ring for the size from inside its destructor.
struct Witness {
  using Ring = RingBuffer<std::unique_ptr<Witness>, 4>;
  Witness(int name, const Ring& ring, std::vector<int>& seen)
      : name(name), ring(&ring), seen(&seen) {}
  Witness(const Witness&) = delete;
  Witness& operator=(const Witness&) = delete;
  ~Witness() {
    seen->push_back(name);
    seen->push_back(static_cast<int>(ring->size()));
  }

  int name;
  const Ring* ring;
  std::vector<int>* seen;
};

TEST(RingBuffer, ClearsOldestFirstAndAnElementHasLeftBeforeItDies) {
  std::vector<int> seen;
  Witness::Ring ring;
  for (int name = 10; name < 13; ++name) {
    EXPECT_TRUE(ring.push_back(std::make_unique<Witness>(name, ring, seen)));
  }
  ring.clear();
  EXPECT_EQ(seen, (std::vector<int>{10, 2, 11, 1, 12, 0}));
  EXPECT_TRUE(ring.empty());
}

TEST(RingBufferDeathTest, BrokenContractsAbort) {
  const std::array<int, 3> three{1, 2, 3};
  EXPECT_DEATH((RingBuffer<int, 2>(three)), "not built from more than it holds");
  const RingBuffer<int, 2> ring{1};
  EXPECT_DEATH(static_cast<void>(*ring.end()), "read within its buffer");
}

}  // namespace
}  // namespace cadastre::base
