#include "shard/shard_spec.h"

#include <cstddef>
#include <utility>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "shard/bytes_testing.h"
#include "shard/error_text_testing.h"
#include "shard/limits.h"
#include "shard/spec_error.h"

namespace cadastre::shard {
namespace {

using testing::operator""_b;
using testing::repeated;

TEST(ShardSpecRef, UnboundedHoldsEveryKey) {
  const auto all = ShardSpecRef::unbounded();
  EXPECT_TRUE(all.is_unbounded());
  EXPECT_TRUE(all.contains_key(""_b));
  EXPECT_TRUE(all.contains_key("\xff\xff"_b));
}

TEST(ShardSpecRef, ContainsItsStartAndNotItsEnd) {
  const auto spec = ShardSpecRef::must_make("b"_b, "d"_b);
  EXPECT_FALSE(spec.contains_key("a"_b));
  EXPECT_TRUE(spec.contains_key("b"_b));
  EXPECT_TRUE(spec.contains_key("cz"_b));
  EXPECT_FALSE(spec.contains_key("d"_b));
  EXPECT_TRUE(ShardSpecRef::must_make(""_b, "d"_b).is_start_unbounded());
  EXPECT_TRUE(ShardSpecRef::must_make("b"_b, ""_b).contains_key("zzz"_b))
      << "an empty end is infinity";
}

TEST(ShardSpecRef, ComparesAllThreeFieldsByContent) {
  const auto start = base::to_owned("a"_b);
  EXPECT_EQ(ShardSpecRef::must_make("a"_b, "b"_b, "m"_b),
            ShardSpecRef::must_make(start, "b"_b, "m"_b));
  EXPECT_FALSE(ShardSpecRef::must_make("a"_b, "b"_b) ==
               ShardSpecRef::must_make("a"_b, "b"_b, "m"_b));
}

TEST(SpecError, NamesTheBoundAndTheSizesButNoKeyBytes) {
  const auto big = repeated('S', kMaxKeySize + 1);
  const auto error = ShardSpecRef::try_make("a"_b, big).error();
  EXPECT_EQ(error.which, SpecError::Bound::kEnd);
  EXPECT_EQ(text_of(error), "end key of 4097 bytes exceeds the limit of 4096");
  EXPECT_EQ(error, SpecError::key_too_large(4097, 4096))
      << "which bound says more, it does not count";
  EXPECT_EQ(text_of(ShardSpecRef::try_make("zz"_b, "a"_b).error()),
            "start (2 bytes) is not below end (1 bytes)");
}

TEST(SpecError, TextIsCutWhereTheBufferEnds) {
  char small[5] = {};  // NOLINT(modernize-avoid-c-arrays)
  const char* end = format_to(small, small + 4, SpecError::inverted_range(1, 1));
  EXPECT_EQ(end, small + 4);
  EXPECT_STREQ(small, "star");
}

TEST(ShardSpec, OwnsACopyThatMovesAndCopies) {
  auto start = base::to_owned("a"_b);
  auto owned = *ShardSpec::try_from(ShardSpecRef::must_make(start, "z"_b, "meta"_b));
  start[0] = std::byte{'x'};
  EXPECT_EQ(owned.ref(), ShardSpecRef::must_make("a"_b, "z"_b, "meta"_b));
  const ShardSpec copy = owned;
  const ShardSpec moved = std::move(owned);
  EXPECT_EQ(copy, moved);
  ShardSpec assigned;
  EXPECT_TRUE(assigned.is_unbounded());
  assigned = copy;
  EXPECT_EQ(assigned, moved);
  EXPECT_TRUE(assigned.contains_key("m"_b));
  EXPECT_FALSE(ShardSpec::try_from(ShardSpecRef::unchecked("b"_b, "a"_b)));
}

TEST(ShardSpecDeathTest, MustMakeAbortsOnAnInvalidSpec) {
  EXPECT_DEATH((void)ShardSpecRef::must_make("b"_b, "a"_b),
               "must_make is for specs known to be valid");
}

}  // namespace
}  // namespace cadastre::shard
