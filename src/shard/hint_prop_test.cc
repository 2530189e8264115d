// Hint-carrying shards on drawn prefixes, rows and keys.

#include "shard/hint.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/bytes.h"
#include "shard/hint_propagation.h"
#include "shard/hint_shards.h"
#include "shard/key_arith.h"
#include "shard/key_buf.h"
#include "shard/limits.h"
#include "shard/property_testing.h"
#include "shard/shard_spec.h"
#include "shard/spec_error.h"
#include "shard/spec_from_keys.h"

namespace cadastre::shard {
namespace {

bool starts_with(base::ByteView key, base::ByteView prefix) {
  return key.size() >= prefix.size() && base::equal(key.first(prefix.size()), prefix);
}

// 9.1 #17
TEST(HintShardProperty, APrefixSpecIsThePrefixAndItsSuccessor) {
  check_many("[prefix, successor) with the given metadata", [] {
    const auto prefix = any_key(kMaxKeySize);
    const auto metadata = any_bytes(6);
    KeyBuf scratch;
    KeyBuf successor;
    const auto spec = shard_spec_from_prefix_ref(prefix, metadata, scratch);
    const auto end = prefix_successor(prefix, successor);
    RC_ASSERT(spec.has_value() == end.has_value());
    if (!spec) return;
    RC_ASSERT((*spec == ShardSpecRef::unchecked(prefix, *end, metadata)));
    RC_ASSERT(validate(*spec).has_value());
  });
}

// 9.1 #32
TEST(HintShardProperty, APrefixShardHoldsExactlyTheKeysWithThePrefix) {
  check_many("a key is inside exactly when it has the prefix", [] {
    const auto prefix = any_key(kMaxKeySize);
    const auto extra = any_bytes(6);
    ShardSpecScratch scratch;
    const auto spec = prefix_shard_ref(prefix, extra, scratch);
    if (!spec) return;
    const auto key = key_near(prefix, kMaxKeySize);
    RC_ASSERT(spec->contains_key(key) == starts_with(key, prefix));
    RC_ASSERT(check_hint_matches_range(*spec).has_value());
  });
}

// 9.1 #18
TEST(HintShardProperty, RowsAreRefusedExactlyWhenTheyAreNone) {
  check_many("start_row >= end_row is inverted_range{16, 16}", [] {
    const ManifestRows rows{any_u64(), any_u64(), any_u64()};
    ShardSpecScratch scratch;
    const auto raw = shard_spec_from_manifest_range_ref(rows, {}, scratch.start, scratch.end);
    RC_ASSERT(raw.has_value() == (rows.start_row < rows.end_row));
    if (!raw) RC_ASSERT((raw.error() == SpecError::inverted_range(16, 16)));
    ShardSpecScratch other;
    const auto hinted = manifest_shard_ref(rows, {}, other);
    RC_ASSERT(hinted.has_value() == raw.has_value());
    if (!hinted) return;
    RC_ASSERT(
        (base::equal(hinted->start(), raw->start()) && base::equal(hinted->end(), raw->end())));
    RC_ASSERT((*decode_hint(*hinted) == ShardHint::manifest(rows)));
  });
}

// Section 5.7, both parents at once: a child inside its parent propagates, any other does not.
TEST(HintShardProperty, PropagationTakesExactlyTheChildrenInsideTheirParent) {
  check_many("a prefix's child is a non-empty range inside it", [] {
    const auto prefix = any_key(kMaxKeySize);
    const auto start = dice(2) == 0 ? prefix : key_near(prefix, kMaxKeySize);
    const auto end = key_near(prefix, kMaxKeySize);
    KeyBuf scratch;
    const auto successor = prefix_successor(prefix, scratch);
    const bool inside = successor && !base::less(start, prefix) && base::less(start, end) &&
                        !base::less(*successor, end);
    const auto child = propagate_hint_on_split(ShardHint::prefix(prefix), start, end);
    RC_ASSERT(child.has_value() == inside);
    if (child) RC_ASSERT((*child == ShardHint::range()));
  });
}

}  // namespace
}  // namespace cadastre::shard
