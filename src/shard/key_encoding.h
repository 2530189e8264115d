// KeyEncoding: what makes a type usable as a key.
//
// Laws that a compiler cannot see; key_encoding_laws_testing.h checks them for any type:
//   1. Order: a < b implies encode(a) < encode(b).
//   2. Canonical: equal values give equal bytes, in every process and build.
//   3. Complete overwrite: the result does not depend on what the buffer held.
//   4. Bound: at most kKeyBufCapacity bytes; at most kMaxKeySize to be usable as a bound.
//   5. Non-empty: a key used as a bound never encodes to the empty string, which reads "unbounded".
//
//   struct Tenant { std::uint64_t id; void encode_into(KeyBuf& out) const noexcept; };
//   static_assert(KeyEncoding<Tenant>);

#pragma once

#include <concepts>

#include "shard/key_buf.h"
#include "shard/view_guard.h"

namespace cadastre::shard::inline CAD_SHARD_FLAVOUR {

template <class K>
concept KeyEncoding = requires(const K& key, KeyBuf& out) {
  { key.encode_into(out) } noexcept -> std::same_as<void>;
};

// For encoders of variable length: false when the key does not fit, and `out` is then empty.
template <class K>
concept FallibleKeyEncoding = requires(const K& key, KeyBuf& out) {
  { key.try_encode_into(out) } noexcept -> std::same_as<bool>;
};

}  // namespace cadastre::shard::inline CAD_SHARD_FLAVOUR
