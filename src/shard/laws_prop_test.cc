// The law suites on every key type, on ranges and on both codecs.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/bytes.h"
#include "shard/codec_laws_testing.h"
#include "shard/hint.h"
#include "shard/key_encoding_laws_testing.h"
#include "shard/owned_hint_testing.h"
#include "shard/property_testing.h"
#include "shard/range_laws_testing.h"
#include "shard/tuple_key.h"
#include "shard/tuple_model_prop_testing.h"
#include "shard/tuple_model_testing.h"
#include "shard/typed_keys.h"

namespace cadastre::shard {
namespace {

base::Bytes any_filled_bytes(std::size_t size_max) {
  auto bytes = any_bytes(size_max - 1);
  bytes.push_back(any_byte());
  return bytes;
}

struct OwnedPath {
  std::string text;
  // NOLINTNEXTLINE(google-explicit-constructor): the laws ask for a value that converts to its key.
  operator PathKey() const noexcept { return PathKey(text); }
};

struct OwnedBytes {
  base::Bytes bytes;
  // NOLINTNEXTLINE(google-explicit-constructor): as above
  operator BytesKey() const noexcept { return {bytes}; }
};

struct OwnedTuple {
  ModelTuple model;
  BorrowedTuple borrowed;
  explicit OwnedTuple(ModelTuple tuple) : model(std::move(tuple)), borrowed(model) {}
  // NOLINTNEXTLINE(google-explicit-constructor): as above
  operator TupleKey() const noexcept { return borrowed.key(); }
};

// 9.1 #1
TEST(KeyLaws, PathKey) {
  key_encoding_laws<PathKey>(
      [] { return OwnedPath{std::string(base::as_text(any_filled_bytes(6)))}; },
      [](const OwnedPath& a, const OwnedPath& b) {
        return base::compare(base::as_bytes(a.text), base::as_bytes(b.text));
      });
}

// 9.1 #5 #6
TEST(KeyLaws, ManifestRowKey) {
  key_encoding_laws<ManifestRowKey>([] { return ManifestRowKey{any_u64(), any_u64()}; });
  check_many("sixteen bytes that decode to what was encoded", [] {
    const ManifestRowKey key{any_u64(), any_u64()};
    const auto bytes = encode_over(key, {});
    RC_ASSERT((bytes && bytes->size() == 16));
    RC_ASSERT((decode_manifest_row_key(*bytes) == key));
  });
}

// 9.1 #7
TEST(KeyLaws, ManifestRowKeyDecodesNoOtherLength) {
  check_many("every other length is refused", [] {
    const auto bytes = any_bytes(40);
    RC_ASSERT(decode_manifest_row_key(bytes).has_value() == (bytes.size() == 16));
  });
}

TEST(KeyLaws, U32Key) {
  key_encoding_laws<U32Key>([] { return U32Key{static_cast<std::uint32_t>(any_u64())}; });
}

TEST(KeyLaws, U64Key) {
  key_encoding_laws<U64Key>([] { return U64Key{any_u64()}; });
}

TEST(KeyLaws, I64Key) {
  key_encoding_laws<I64Key>([] { return I64Key{static_cast<std::int64_t>(any_u64())}; });
}

TEST(KeyLaws, F64Key) {
  key_encoding_laws<F64Key>([] { return F64Key{std::bit_cast<double>(any_u64())}; },
                            [](F64Key a, F64Key b) { return compare_total(a.value, b.value); });
}

TEST(KeyLaws, F64KeysOfNumbersOrderLikeTheNumbers) {
  check_many("numbers that compare as less encode as less", [] {
    const auto a = std::bit_cast<double>(any_u64());
    const auto b = std::bit_cast<double>(any_u64());
    const bool less = base::less(*encode_over(F64Key{a}, {}), *encode_over(F64Key{b}, {}));
    if (a < b) RC_ASSERT(less);
    if (a > b) RC_ASSERT(!less);
  });
}

TEST(KeyLaws, BytesKey) {
  key_encoding_laws<BytesKey>(
      [] { return OwnedBytes{any_filled_bytes(6)}; },
      [](const OwnedBytes& a, const OwnedBytes& b) { return base::compare(a.bytes, b.bytes); });
}

// 9.1 #73
TEST(KeyLaws, TupleKey) {
  key_encoding_laws<TupleKey>(
      [] {
        ModelTuple model = any_tuple();
        if (model.empty()) model.emplace_back();  // The empty tuple is no bound.
        return OwnedTuple(std::move(model));
      },
      [](const OwnedTuple& a, const OwnedTuple& b) { return compare_tuples(a.model, b.model); });
}

// Keys over few bytes: ranges touch, nest and miss each other often.
base::Bytes any_small_key() {
  constexpr std::array<std::uint8_t, 3> kBytes = {0x00, 0x7f, 0x80};
  base::Bytes key(dice(3));
  for (auto& byte : key)
    byte = static_cast<std::byte>(kBytes[dice(kBytes.size())]);
  return key;
}

TEST(RangeLaws, HoldForRangesOverFewKeys) {
  range_laws(
      [] {
        OwnedRange range{any_small_key(), any_small_key()};
        if (!is_valid_range(range)) std::swap(range.start, range.end);
        if (!is_valid_range(range)) range.end.clear();
        return range;
      },
      [] { return any_small_key(); });
}

OwnedHint any_hint() {
  OwnedHint hint;
  switch (dice(3)) {
    case 0: break;
    case 1:
      hint.kind = ShardHint::Kind::kPrefix;
      hint.prefix = any_bytes(8);
      break;
    default:
      hint.kind = ShardHint::Kind::kManifest;
      hint.rows = {any_u64(), any_u64(), any_u64()};
      if (hint.rows.start_row > hint.rows.end_row) {
        std::swap(hint.rows.start_row, hint.rows.end_row);
      }
      if (hint.rows.start_row == hint.rows.end_row) hint.rows = {hint.rows.manifest_id, 0, 1};
      break;
  }
  return hint;
}

// 9.1 #23 #26
TEST(CodecLaws, HintFrames) {
  codec_laws<HintCodec>([] { return any_hint(); });
}

// 9.1 #27
TEST(CodecLaws, MetadataEnvelopes) {
  codec_laws<MetadataCodec>([] { return OwnedMetadata{any_hint(), any_bytes(6)}; });
}

}  // namespace
}  // namespace cadastre::shard
