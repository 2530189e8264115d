#include "base/strong.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <sstream>
#include <type_traits>
#include <unordered_set>

#include <gtest/gtest.h>

namespace cadastre::base {
namespace {

using OwnerId = Strong<struct OwnerIdTag>;
using Epoch = Strong<struct EpochTag>;
using Level = Strong<struct LevelTag, std::uint8_t>;

template <class A, class B>
concept Comparable = requires(A a, B b) { a == b; };
template <class A, class B>
concept Addable = requires(A a, B b) { a + b; };

static_assert(!std::is_convertible_v<std::uint64_t, OwnerId>, "a bare number is no id");
static_assert(!std::is_convertible_v<OwnerId, std::uint64_t>, "an id is no number");
static_assert(!std::is_constructible_v<OwnerId, Epoch>, "an epoch is no id");
static_assert(!Comparable<OwnerId, Epoch>);
static_assert(!Comparable<OwnerId, std::uint64_t>);
static_assert(!Addable<OwnerId, OwnerId> && !Addable<OwnerId, int>);
static_assert(std::is_trivially_copyable_v<OwnerId> && sizeof(Level) == 1);
static_assert(OwnerId{} == OwnerId{0} && OwnerId{7}.value() == 7);

TEST(Strong, OrdersByValue) {
  EXPECT_LT(OwnerId{1}, OwnerId{2});
  EXPECT_GT(OwnerId{std::numeric_limits<std::uint64_t>::max()}, OwnerId{0});
  EXPECT_EQ(OwnerId{3}, OwnerId{3});
  EXPECT_NE(OwnerId{3}, OwnerId{4});
}

TEST(Strong, PrintsItsNumberAndNeverACharacter) {
  std::ostringstream out;
  out << OwnerId{42} << ' ' << Level{65};
  EXPECT_EQ(out.str(), "42 65");
  EXPECT_EQ(to_string(OwnerId{42}), "42");
  EXPECT_EQ(to_string(Level{65}), "65");
}

TEST(Strong, HashesLikeItsNumber) {
  EXPECT_EQ(std::hash<OwnerId>{}(OwnerId{9}), std::hash<std::uint64_t>{}(9));
  const std::unordered_set<OwnerId> owners{OwnerId{1}, OwnerId{2}, OwnerId{1}};
  EXPECT_EQ(owners.size(), 2U);
}

}  // namespace
}  // namespace cadastre::base
