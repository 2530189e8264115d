#include "base/inline_vec.h"

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace cadastre::base {
namespace {

template <class T, std::size_t N>
using SpillVec = InlineVec<T, N, overflow::Spill>;

static_assert(std::is_trivially_destructible_v<InlineVec<std::uint64_t, 4>>);
static_assert(!std::is_trivially_destructible_v<InlineVec<std::string, 4>>);
static_assert(!std::is_trivially_destructible_v<SpillVec<std::uint64_t, 4>>);
static_assert(std::is_nothrow_move_constructible_v<InlineVec<std::string, 4>>);
static_assert(sizeof(InlineVec<std::uint32_t, 3>) == 4 * sizeof(std::uint32_t),
              "a vector that cannot spill pays for a count and nothing else");

// Not trivially default constructible, as most of our value types are.
struct Pair {
  int a = 7;
  int b = 8;
  friend constexpr bool operator==(const Pair&, const Pair&) noexcept = default;
};

constexpr int sum_in_constant_evaluation() {
  InlineVec<int, 4> inline_only{1, 2};
  inline_only.push_back(3);
  auto copy = inline_only;
  copy.pop_back();
  SpillVec<int, 2> spilled{10, 20, 30};
  auto moved = std::move(spilled);
  int sum = 0;
  for (const int value : inline_only)
    sum += value;
  for (const int value : copy)
    sum += value;
  for (const int value : moved)
    sum += value;
  return sum;
}
static_assert(sum_in_constant_evaluation() == 6 + 3 + 60);

constexpr InlineVec<Pair, 3> kPairs{Pair{1, 2}};
static_assert(kPairs.size() == 1 && kPairs[0] == Pair{1, 2});

// Counts the living, notes the order of the dead, and throws on the copy it is told to.
struct Census {
  int living = 0;
  int copies_until_throw = -1;
  std::vector<int> died;
};

class Citizen {
 public:
  Citizen(Census& census, int name) : census_(&census), name_(name) { ++census_->living; }
  Citizen(const Citizen& other) : census_(other.census_), name_(other.name_) {
    if (census_->copies_until_throw-- == 0) throw std::runtime_error("no more copies");
    ++census_->living;
  }
  Citizen(Citizen&& other) noexcept : census_(other.census_), name_(other.name_) {
    ++census_->living;
  }
  Citizen& operator=(const Citizen&) = delete;
  Citizen& operator=(Citizen&&) = delete;
  ~Citizen() {
    --census_->living;
    census_->died.push_back(name_);
  }
  [[nodiscard]] int name() const { return name_; }

 private:
  Census* census_;
  int name_;
};

TEST(InlineVec, StartsEmptyWithRoomForN) {
  const InlineVec<std::string, 3> vec;
  EXPECT_TRUE(vec.empty());
  EXPECT_EQ(vec.size(), 0U);
  EXPECT_EQ(vec.capacity(), 3U);
  EXPECT_TRUE(vec.as_span().empty());
}

TEST(InlineVec, KeepsElementsInsideItself) {
  InlineVec<std::uint64_t, 4> vec{1, 2, 3};
  const auto* first = reinterpret_cast<const std::byte*>(&vec);
  const auto* at = reinterpret_cast<const std::byte*>(vec.data());
  EXPECT_GE(at, first);
  EXPECT_LE(at + 4 * sizeof(std::uint64_t), first + sizeof vec);
}

TEST(InlineVec, RefusesTheElementAfterTheLastSlotAndLeavesItUntouched) {
  InlineVec<std::unique_ptr<int>, 2> vec;
  EXPECT_TRUE(vec.try_push_back(std::make_unique<int>(1)));
  EXPECT_TRUE(vec.try_push_back(std::make_unique<int>(2)));
  auto third = std::make_unique<int>(3);
  EXPECT_FALSE(vec.try_push_back(std::move(third)));
  // NOLINTBEGIN(bugprone-use-after-move): a refusal does not move
  ASSERT_NE(third, nullptr);
  EXPECT_EQ(*third, 3);
  // NOLINTEND(bugprone-use-after-move)
  EXPECT_EQ(vec.size(), 2U);
}

TEST(InlineVec, EmplaceReturnsTheNewElement) {
  InlineVec<std::string, 2> vec;
  std::string& made = vec.emplace_back(3U, 'x');
  EXPECT_EQ(made, "xxx");
  EXPECT_EQ(&made, &vec.back());
  EXPECT_EQ(&made, &vec.front());
}

TEST(InlineVec, PopAndTruncateRemoveFromTheEnd) {
  InlineVec<std::string, 4> vec{"a", "b", "c", "d"};
  vec.pop_back();
  EXPECT_EQ(vec, (InlineVec<std::string, 4>{"a", "b", "c"}));
  vec.truncate(7);
  EXPECT_EQ(vec.size(), 3U);
  vec.truncate(1);
  EXPECT_EQ(vec, (InlineVec<std::string, 4>{"a"}));
  vec.clear();
  EXPECT_TRUE(vec.empty());
}

TEST(InlineVec, AppendsManyAndNone) {
  InlineVec<int, 8> vec{1};
  const std::array<int, 3> more{2, 3, 4};
  vec.append(more);
  vec.append({});
  EXPECT_EQ(vec, (InlineVec<int, 8>{1, 2, 3, 4}));
}

TEST(InlineVec, MoveLeavesTheSourceEmpty) {
  InlineVec<std::string, 4> source{"a long enough string to own memory", "b"};
  const InlineVec<std::string, 4> target = std::move(source);
  EXPECT_TRUE(source.empty());  // NOLINT(bugprone-use-after-move): this is the promise.
  EXPECT_EQ(target.size(), 2U);
  EXPECT_EQ(target[1], "b");
}

TEST(InlineVec, AssignmentReplacesAndSurvivesItself) {
  InlineVec<std::string, 4> vec{"a", "b", "c"};
  const InlineVec<std::string, 4> other{"x"};
  vec = other;
  EXPECT_EQ(vec, other);
  auto& alias = vec;
  vec = alias;
  EXPECT_EQ(vec, other);
  vec = std::move(alias);
  EXPECT_EQ(vec, other);
  vec = InlineVec<std::string, 4>{"y", "z"};
  EXPECT_EQ(vec, (InlineVec<std::string, 4>{"y", "z"}));
}

TEST(InlineVec, ComparesLikeAWord) {
  const InlineVec<int, 4> shorter{1, 2};
  const InlineVec<int, 4> longer{1, 2, 0};
  const InlineVec<int, 4> greater{1, 3};
  EXPECT_LT(shorter, longer);
  EXPECT_LT(longer, greater);
  EXPECT_EQ(shorter <=> shorter, std::strong_ordering::equal);
  EXPECT_NE(shorter, longer);
}

TEST(InlineVec, DestroysInIndexOrder) {
  Census census;
  {
    InlineVec<Citizen, 4> vec;
    for (int name = 0; name < 3; ++name)
      vec.emplace_back(census, name);
  }
  EXPECT_EQ(census.died, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(census.living, 0);
}

TEST(InlineVec, DestroysExactlyOnceWhatWasBuiltBeforeAThrow) {
  Census census;
  {
    InlineVec<Citizen, 4> source;
    for (int name = 0; name < 4; ++name)
      source.emplace_back(census, name);
    census.copies_until_throw = 2;
    EXPECT_THROW((InlineVec<Citizen, 4>(source)), std::runtime_error);
    EXPECT_EQ(census.living, 4);
    EXPECT_EQ(census.died, (std::vector<int>{0, 1}));
  }
  EXPECT_EQ(census.living, 0);
}

TEST(InlineVec, AppendKeepsWhatItCopiedBeforeAThrow) {
  Census census;
  {
    std::vector<Citizen> source;
    source.reserve(3);
    for (int name = 0; name < 3; ++name)
      source.emplace_back(census, name);
    InlineVec<Citizen, 4> vec;
    census.copies_until_throw = 2;
    EXPECT_THROW(vec.append(source), std::runtime_error);
    ASSERT_EQ(vec.size(), 2U);
    EXPECT_EQ(vec[1].name(), 1);
  }
  EXPECT_EQ(census.living, 0);
}

TEST(InlineVecSpill, MovesEverythingToTheHeapAndStaysThere) {
  SpillVec<std::string, 2> vec{"a", "b"};
  const std::string* inline_data = vec.data();
  vec.push_back("c");
  EXPECT_NE(vec.data(), inline_data);
  EXPECT_GE(vec.capacity(), 3U);
  EXPECT_EQ(vec, (SpillVec<std::string, 2>{"a", "b", "c"}));

  const std::string* heap_data = vec.data();
  vec.clear();
  vec.push_back("d");
  EXPECT_EQ(vec.data(), heap_data);
}

TEST(InlineVecSpill, TakesItsOwnElementAsArgumentWhileItGrows) {
  SpillVec<std::string, 2> vec{"first, long enough to own memory", "b"};
  for (int i = 0; i < 10; ++i)
    vec.push_back(vec.front());
  EXPECT_EQ(vec.size(), 12U);
  EXPECT_EQ(vec.back(), vec.front());
}

TEST(InlineVecSpill, HandsOverItsBlockWhenMoved) {
  SpillVec<std::string, 2> source{"a", "b", "c"};
  const std::string* block = source.data();
  SpillVec<std::string, 2> target{"x", "y", "z", "replaced"};
  target = std::move(source);
  EXPECT_EQ(target.data(), block);
  // NOLINTBEGIN(bugprone-use-after-move,clang-analyzer-cplusplus.Move): this is the promise
  EXPECT_TRUE(source.empty());
  EXPECT_EQ(source.capacity(), 2U);
  source.push_back("alive");
  EXPECT_EQ(source.front(), "alive");
  // NOLINTEND(bugprone-use-after-move,clang-analyzer-cplusplus.Move)
}

TEST(InlineVecSpill, EqualsAnInlineVectorOfTheSameContent) {
  SpillVec<int, 2> spilled{1, 2, 3};
  spilled.pop_back();
  const SpillVec<int, 2> inline_only{1, 2};
  EXPECT_NE(spilled.capacity(), inline_only.capacity());
  EXPECT_EQ(spilled, inline_only);
}

TEST(InlineVecSpill, LosesNothingWhenTheNewElementThrowsAtTheBoundary) {
  Census census;
  {
    SpillVec<Citizen, 2> vec;
    vec.emplace_back(census, 0);
    vec.emplace_back(census, 1);
    const Citizen third(census, 2);
    census.copies_until_throw = 0;
    EXPECT_THROW(vec.push_back(third), std::runtime_error);
    ASSERT_EQ(vec.size(), 2U);
    EXPECT_EQ(vec[1].name(), 1);
    EXPECT_EQ(census.living, 3);
  }
  EXPECT_EQ(census.living, 0);
}

TEST(InlineVecDeathTest, BrokenContractsAbort) {
  InlineVec<int, 2> vec{1, 2};
  InlineVec<int, 2> empty;
  const std::array<int, 2> two{1, 2};
  EXPECT_DEATH(vec.push_back(3), "has room for what is pushed");
  EXPECT_DEATH(static_cast<void>(vec[2]), "indexed within its size");
  EXPECT_DEATH(empty.pop_back(), "a last element to remove");
  EXPECT_DEATH(static_cast<void>(empty.front()), "indexed within its size");
  EXPECT_DEATH(static_cast<void>(empty.back()), "there is a last element");
  vec.pop_back();
  EXPECT_DEATH(vec.append(two), "has room for what is appended");
}

}  // namespace
}  // namespace cadastre::base
