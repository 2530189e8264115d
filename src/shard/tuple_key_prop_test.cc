// Tuple keys against trees of plain values (tuple_model_testing.h).

#include "shard/tuple_key.h"

#include <array>
#include <cstddef>
#include <cstdint>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/bytes.h"
#include "shard/codec_laws_testing.h"
#include "shard/key_range.h"
#include "shard/property_testing.h"
#include "shard/tuple_model_prop_testing.h"
#include "shard/tuple_model_testing.h"

namespace cadastre::shard {
namespace {

bool starts_with(base::ByteView key, base::ByteView prefix) {
  return key.size() >= prefix.size() && base::equal(key.first(prefix.size()), prefix);
}

// 9.1 #73
TEST(TupleKeyProperty, BytesSortLikeElements) {
  check_many("the order of related tuples is that of their elements", [] {
    const ModelTuple a = any_tuple();
    const ModelTuple b = tuple_near(a);
    RC_ASSERT((base::compare(*encode_model(a), *encode_model(b)) == compare_tuples(a, b)));
  });
}

// 9.1 #73
TEST(TupleKeyProperty, DecodesToWhatWasEncoded) {
  check_many("decode after encode is the identity", [] {
    const ModelTuple tuple = any_tuple();
    const auto bytes = encode_model(tuple);
    RC_ASSERT(bytes.has_value());
    RC_ASSERT(validate_tuple(*bytes).has_value());
    RC_ASSERT((decode_model(*bytes) == tuple));
  });
}

// 9.1 #73: one key's bytes begin another's only where the tuple continues, or where a string or a
// nested tuple goes on behind an escaped zero, which shows as ff.
TEST(TupleKeyProperty, NoKeyBeginsAnotherUnlessTheTupleContinues) {
  check_many("a byte prefix is a tuple prefix, or ff follows", [] {
    const ModelTuple a = any_tuple();
    const ModelTuple b = tuple_near(a);
    const auto a_bytes = encode_model(a);
    const auto b_bytes = encode_model(b);
    if (continues(b, a)) RC_ASSERT(starts_with(*b_bytes, *a_bytes));
    if (b_bytes->size() == a_bytes->size() || !starts_with(*b_bytes, *a_bytes)) return;
    RC_ASSERT(continues(b, a) == ((*b_bytes)[a_bytes->size()] != std::byte{0xff}));
  });
}

// 9.1 #73
TEST(TupleKeyProperty, TheChildrenRangeHoldsExactlyTheChildren) {
  check_many("a key is in the range exactly when its tuple continues the parent", [] {
    const ModelTuple parent = any_tuple();
    const ModelTuple other = tuple_near(parent);
    const BorrowedTuple borrowed(parent);
    TupleRangeScratch scratch;
    const auto range = tuple_children_range(borrowed.key(), scratch);
    RC_ASSERT(range.has_value());
    RC_ASSERT(contains_key(*range, *encode_model(other)) == continues(other, parent));
    RC_ASSERT(!contains_key(*range, *encode_model(parent)));
  });
}

// 9.1 #73: any bytes give a tuple or an error inside them, and a tuple encodes to the same bytes.
TEST(TupleKeyProperty, TheReaderIsTotal) {
  check_many("accepted bytes encode to themselves", [] {
    const auto encoded = encode_model(any_tuple());
    RC_ASSERT(encoded.has_value());
    base::Bytes bytes = damaged(damaged(*encoded));
    if (dice(4) == 0) bytes = any_bytes(12);
    const base::Bytes exact(bytes.begin(), bytes.end());
    const auto verdict = validate_tuple(exact);
    const auto model = decode_model(exact);
    RC_ASSERT(verdict.has_value() == model.has_value());
    if (!verdict) {
      RC_ASSERT(verdict.error().offset <= exact.size());
      return;
    }
    RC_ASSERT((encode_model(*model) == exact));
  });
}

// 9.1 #73: bytes that are mostly type codes reach deeper than random ones.
TEST(TupleKeyProperty, TheReaderIsTotalOnTypeCodes) {
  static constexpr std::array<std::uint8_t, 17> kCodes = {0x00, 0x01, 0x02, 0x05, 0x05, 0x05,
                                                          0x0b, 0x0c, 0x13, 0x14, 0x15, 0x1c,
                                                          0x1d, 0x21, 0x26, 0x27, 0xff};
  check_many("accepted bytes encode to themselves", [] {
    base::Bytes exact(any_size(24));
    for (auto& byte : exact)
      byte = static_cast<std::byte>(kCodes[dice(kCodes.size())]);
    const auto model = decode_model(exact);
    RC_ASSERT(validate_tuple(exact).has_value() == model.has_value());
    if (model) RC_ASSERT((encode_model(*model) == exact));
  });
}

}  // namespace
}  // namespace cadastre::shard
