// The laws of a key type (key_encoding.h), for any type and any generator of its values. A room that
// adds a key type calls this from its own property test:
//
//   TEST(TenantKeyProperty, KeepsTheLaws) { key_encoding_laws<TenantKey>([] { return any_tenant(); }); }
//
// `gen` draws a value that converts to K; for a K that borrows, that value is the owner. `compare` is
// the logical order of two drawn values, by default that of the keys.

#pragma once

#include <compare>
#include <cstddef>
#include <optional>

#include <rapidcheck.h>

#include "base/bytes.h"
#include "shard/key_buf.h"
#include "shard/key_encoding.h"
#include "shard/limits.h"
#include "shard/property_testing.h"

namespace cadastre::shard {

// The key's bytes from a buffer that held `before`; nothing where the key does not fit.
template <class K>
[[nodiscard]] std::optional<base::Bytes> encode_over(const K& key, base::ByteView before) {
  KeyBuf out;
  out.assign(before);
  if constexpr (FallibleKeyEncoding<K>) {
    if (!key.try_encode_into(out)) return std::nullopt;
  } else {
    key.encode_into(out);
  }
  return base::to_owned(out.view());
}

struct KeyOrder {
  template <class K>
  [[nodiscard]] std::strong_ordering operator()(const K& a, const K& b) const {
    return a <=> b;
  }
};

template <class K, class Gen, class Compare = KeyOrder>
  requires KeyEncoding<K> || FallibleKeyEncoding<K>
void key_encoding_laws(const Gen& gen, const Compare& compare = {}) {
  check_many("order, canonicality, overwrite, bound, non-empty", [&] {
    const auto a_value = gen();
    const auto b_value = gen();
    const K a = a_value;
    const K b = b_value;
    const auto a_bytes = encode_over(a, {});
    const auto b_bytes = encode_over(b, {});
    RC_ASSERT(a_bytes.has_value());
    RC_ASSERT(b_bytes.has_value());

    // Order and canonicality: together an exact embedding.
    const std::strong_ordering order = compare(a_value, b_value);
    RC_ASSERT((base::compare(*a_bytes, *b_bytes) == order));
    RC_ASSERT((compare(b_value, a_value) == (0 <=> order)));

    // Complete overwrite: what the buffer held does not show.
    const base::Bytes poison(kKeyBufCapacity, std::byte{0xa5});
    RC_ASSERT((encode_over(a, poison) == a_bytes));
    RC_ASSERT((encode_over(a, *b_bytes) == a_bytes));

    // Bound and non-empty: usable as a bound.
    RC_ASSERT(a_bytes->size() <= kMaxKeySize);
    RC_ASSERT(!a_bytes->empty());
  });
}

}  // namespace cadastre::shard
