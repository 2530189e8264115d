// The laws of a codec: what it encodes it decodes, and whatever bytes it accepts it encodes again to
// the bytes that it consumed. A codec is a type with
//
//   using Owned = ...;                                    // equality-comparable, owns its bytes
//   static std::optional<base::Bytes> encode(const Owned&);
//   static std::optional<Decoded<Owned>> decode(base::ByteView);
//
// Decoding runs on a heap copy of exactly the input's size, so that AddressSanitizer sees a read past
// its end. That decoders do not allocate is the allocation guards' business.

#pragma once

#include <cstddef>
#include <span>

#include <rapidcheck.h>

#include "base/bytes.h"
#include "shard/property_testing.h"

namespace cadastre::shard {

template <class Owned>
struct Decoded {
  Owned value;
  std::size_t consumed = 0;
};

// An encoding with something wrong in it, or not: cut, continued, or with a byte changed.
[[nodiscard]] inline base::Bytes damaged(base::Bytes bytes) {
  switch (dice(4)) {
    case 0: bytes.resize(dice(bytes.size() + 1)); break;
    case 1: {
      const auto tail = any_bytes(4);
      bytes.insert(bytes.end(), tail.begin(), tail.end());
      break;
    }
    case 2:
      if (!bytes.empty()) bytes[dice(bytes.size())] = any_byte();
      break;
    default: break;
  }
  return bytes;
}

template <class Codec>
[[nodiscard]] auto decode_exact(base::ByteView bytes) {
  const base::Bytes exact(bytes.begin(), bytes.end());
  return Codec::decode(std::span<const std::byte>(exact.data(), exact.size()));
}

// `gen_value` draws an encodable Codec::Owned.
template <class Codec, class GenValue>
void codec_laws(const GenValue& gen_value) {
  check_many("what is encoded decodes to itself, to the last byte", [&] {
    const auto value = gen_value();
    const auto bytes = Codec::encode(value);
    RC_ASSERT(bytes.has_value());
    const auto decoded = decode_exact<Codec>(*bytes);
    RC_ASSERT(decoded.has_value());
    RC_ASSERT((decoded->value == value));
    RC_ASSERT(decoded->consumed == bytes->size());
  });
  check_many("whatever is accepted encodes to what was consumed", [&] {
    const auto encoded = Codec::encode(gen_value());
    RC_ASSERT(encoded.has_value());
    const base::Bytes bytes = dice(4) == 0 ? any_bytes(40) : damaged(damaged(*encoded));
    const auto decoded = decode_exact<Codec>(bytes);
    if (!decoded) return;
    RC_ASSERT(decoded->consumed <= bytes.size());
    const auto again = Codec::encode(decoded->value);
    RC_ASSERT(again.has_value());
    RC_ASSERT(base::equal(*again, base::ByteView(bytes).first(decoded->consumed)));
  });
}

}  // namespace cadastre::shard
