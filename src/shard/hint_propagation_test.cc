#include "shard/hint_propagation.h"

#include <cstdint>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "shard/error_text_testing.h"
#include "shard/hexrun_testing.h"
#include "shard/hint.h"
#include "shard/key_buf.h"
#include "shard/typed_keys.h"

namespace cadastre::shard {
namespace {

using Boundary = PropagationError::Boundary;
using Code = PropagationError::Code;

base::Bytes row(std::uint64_t manifest_id, std::uint64_t row_number) {
  KeyBuf out;
  ManifestRowKey{manifest_id, row_number}.encode_into(out);
  return base::to_owned(out.view());
}

PropagationError refusal(const ShardHint& parent,
                         const base::Bytes& start,
                         const base::Bytes& end) {
  const auto child = propagate_hint_on_split(parent, start, end);
  EXPECT_FALSE(child.has_value());
  return child ? PropagationError{} : child.error();
}

// 9.1 #33: not even the order is looked at, the planner validates geometry.
TEST(Propagation, ARangeStaysARange) {
  EXPECT_TRUE(*propagate_hint_on_split({}, hex("61"), hex("62")) == ShardHint::range());
  EXPECT_TRUE(*propagate_hint_on_split({}, hex("62"), hex("61")) == ShardHint::range());
  EXPECT_TRUE(*propagate_hint_on_split({}, {}, {}) == ShardHint::range());
}

// 9.1 #34
TEST(Propagation, APrefixBecomesARange) {
  const auto src = hex("7372632f");
  const ShardHint parent = ShardHint::prefix(src);
  EXPECT_TRUE(*propagate_hint_on_split(parent, src, hex("73726330")) == ShardHint::range());
  EXPECT_TRUE(*propagate_hint_on_split(parent, hex("7372632f61"), hex("7372632f62")) ==
              ShardHint::range());
}

// 9.1 #35: each check has its turn, in the order of section 5.7.
TEST(Propagation, APrefixRefusesInTheOrderOfTheTable) {
  const auto src = hex("7372632f");
  const auto all_max = hex("ffff");
  const ShardHint parent = ShardHint::prefix(src);
  const PropagationError bad_start{Code::kInvalidPrefixBoundary, Boundary::kStart};
  const PropagationError bad_end{Code::kInvalidPrefixBoundary, Boundary::kEnd};
  EXPECT_EQ(refusal(ShardHint::prefix(all_max), hex("61"), hex("62")), bad_end);
  EXPECT_EQ(refusal(ShardHint::prefix({}), {}, {}), bad_end);
  EXPECT_EQ(refusal(parent, hex("61"), hex("7a")), bad_start);  // Both are outside.
  EXPECT_EQ(refusal(parent, {}, {}), bad_start);
  EXPECT_EQ(refusal(parent, src, hex("7a")), bad_end);
  EXPECT_EQ(refusal(parent, src, src), bad_end);
  EXPECT_EQ(refusal(parent, src, {}), bad_end);
  EXPECT_EQ(refusal(parent, hex("7372632f62"), hex("7372632f61")), bad_end);
}

// 9.1 #36
TEST(Propagation, AManifestNarrowsItsRows) {
  const ShardHint parent = ShardHint::manifest({7, 10, 20});
  EXPECT_TRUE(*propagate_hint_on_split(parent, row(7, 10), row(7, 15)) ==
              ShardHint::manifest({7, 10, 15}));
  EXPECT_TRUE(*propagate_hint_on_split(parent, row(7, 15), row(7, 20)) ==
              ShardHint::manifest({7, 15, 20}));
  EXPECT_TRUE(*propagate_hint_on_split(parent, row(7, 10), row(7, 20)) == parent);
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  EXPECT_TRUE(*propagate_hint_on_split(ShardHint::manifest({7, 0, kMost}), row(7, kMost - 1),
                                       row(7, kMost)) ==
              ShardHint::manifest({7, kMost - 1, kMost}));
}

// 9.1 #37: each check has its turn, in the order of section 5.7.
TEST(Propagation, AManifestRefusesInTheOrderOfTheTable) {
  const ShardHint parent = ShardHint::manifest({7, 10, 20});
  const PropagationError bad_start{Code::kInvalidManifestBoundary, Boundary::kStart};
  const PropagationError bad_end{Code::kInvalidManifestBoundary, Boundary::kEnd};
  const auto mismatch = [](std::uint64_t child) {
    return PropagationError{Code::kManifestIdMismatch, Boundary::kNone, 7, child};
  };
  EXPECT_EQ(refusal(parent, hex("61"), hex("62")), bad_start);
  EXPECT_EQ(refusal(parent, row(8, 12), hex("62")), bad_end);  // Decoding comes before ids.
  EXPECT_EQ(refusal(parent, row(8, 12), row(9, 15)), mismatch(8));
  EXPECT_EQ(refusal(parent, row(7, 99), row(9, 15)), mismatch(9));  // Ids come before rows.
  EXPECT_EQ(refusal(parent, row(7, 9), row(7, 99)), bad_start);
  EXPECT_EQ(refusal(parent, row(7, 20), row(7, 20)), bad_start);
  EXPECT_EQ(refusal(parent, row(7, 15), row(7, 21)), bad_end);
  EXPECT_EQ(refusal(parent, row(7, 15), row(7, 10)), bad_end);
  EXPECT_EQ(refusal(parent, row(7, 15), row(7, 15)),
            (PropagationError{Code::kEmptyManifestRange, Boundary::kNone, 15, 15}));
  EXPECT_EQ(refusal(parent, row(7, 16), row(7, 15)),
            (PropagationError{Code::kEmptyManifestRange, Boundary::kNone, 16, 15}));
}

TEST(PropagationErrors, TellTheirNumbersOrTheirBoundary) {
  EXPECT_EQ(text_of(PropagationError{Code::kManifestIdMismatch, Boundary::kNone, 7, 99}),
            "the child is of manifest 99, its parent of 7");
  EXPECT_NE(text_of(PropagationError{Code::kInvalidPrefixBoundary, Boundary::kStart}).find("start"),
            std::string::npos);
  EXPECT_NE(text_of(PropagationError{Code::kInvalidManifestBoundary, Boundary::kEnd}).find("end"),
            std::string::npos);
  const auto empty = text_of(PropagationError{Code::kEmptyManifestRange, Boundary::kNone, 60, 40});
  EXPECT_NE(empty.find("60"), std::string::npos);
  EXPECT_NE(empty.find("40"), std::string::npos);
}

}  // namespace
}  // namespace cadastre::shard
