#include "shard/typed_keys.h"

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "shard/hexrun_testing.h"
#include "shard/key_buf.h"
#include "shard/key_encoding.h"
#include "shard/limits.h"
#include "shard/spec_error.h"
#include "shard/spec_from_keys.h"

namespace cadastre::shard {
namespace {

static_assert(KeyEncoding<PathKey> && KeyEncoding<ManifestRowKey> && KeyEncoding<U32Key>);
static_assert(KeyEncoding<U64Key> && KeyEncoding<I64Key> && KeyEncoding<F64Key>);
static_assert(KeyEncoding<BytesKey> && FallibleKeyEncoding<BytesKey>);
static_assert(!KeyEncoding<int> && !KeyEncoding<std::string>);

template <class Key>
std::string encoded(const Key& key) {
  KeyBuf out;
  key.encode_into(out);
  return base::to_hex(out.view());
}

// 9.1 #2
TEST(PathKey, EncodesToItsOwnBytes) {
  for (const std::string_view path :
       {"a", "src/main.cc", "/", "//a//", "A/b/C", "caf\xc3\xa9", "\xff\xfe", "a b\tc"}) {
    EXPECT_EQ(encoded(PathKey(path)), base::to_hex(base::as_bytes(path))) << path;
    EXPECT_EQ(PathKey(path).text(), path);
  }
  const std::string_view with_zero("a\0b", 3);
  EXPECT_EQ(encoded(PathKey(with_zero)), "610062");
}

// 9.1 #3 #4
TEST(PathKey, TakesOneTo4096Bytes) {
  const std::string longest(kMaxKeySize, 'p');
  const std::string too_long(kMaxKeySize + 1, 'p');
  const auto made = PathKey::try_make(longest);
  ASSERT_TRUE(made.has_value());
  EXPECT_EQ(made->text().size(), kMaxKeySize);
  EXPECT_EQ(PathKey(longest).text(), longest);

  const auto empty = PathKey::try_make("");
  ASSERT_FALSE(empty.has_value());
  EXPECT_EQ(empty.error(), (PathKeyError{PathKeyError::Code::kPathEmpty}));
  EXPECT_EQ(code_name(empty.error()), "path_empty");

  const auto refused = PathKey::try_make(too_long);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error(), (PathKeyError{PathKeyError::Code::kPathTooLarge, 4097, 4096}));
  EXPECT_EQ(code_name(refused.error()), "path_too_large");
}

// 9.1 #3
TEST(PathKeyDeathTest, TheConstructorAbortsOnEmptyAndOversizedPaths) {
  const std::string too_long(kMaxKeySize + 1, 'p');
  EXPECT_EXIT((void)PathKey(""), testing::KilledBySignal(SIGABRT), "CAD_CHECK");
  EXPECT_EXIT((void)PathKey(std::string_view{}), testing::KilledBySignal(SIGABRT), "CAD_CHECK");
  EXPECT_EXIT((void)PathKey(too_long), testing::KilledBySignal(SIGABRT), "CAD_CHECK");
}

TEST(PathKey, MayAskForUtf8) {
  const auto good = PathKey::try_make_utf8("caf\xc3\xa9/\xf0\x9f\x98\x80");
  ASSERT_TRUE(good.has_value());
  const auto bad = PathKey::try_make_utf8("caf\xc3(");
  ASSERT_FALSE(bad.has_value());
  EXPECT_EQ(code_name(bad.error()), "path_not_utf8");
  EXPECT_EQ(bad.error().size, 3U);
  EXPECT_TRUE(PathKey::try_make("caf\xc3(").has_value());
  EXPECT_EQ(PathKey::try_make_utf8("").error().code, PathKeyError::Code::kPathEmpty);
  EXPECT_EQ(PathKey::try_make_utf8(std::string(4097, '\xff')).error().code,
            PathKeyError::Code::kPathTooLarge);
}

// 9.1 #1
TEST(PathKey, OrdersByBytesNonAsciiIncluded) {
  EXPECT_LT(PathKey("z"), PathKey("\xc3\xa9"));
  EXPECT_LT(PathKey("a"), PathKey("a/"));
  EXPECT_LT(PathKey("a/b"), PathKey("ab"));
  EXPECT_EQ(PathKey("a"), PathKey(std::string("a")));
}

// 9.1 #5 #6
TEST(ManifestRowKey, IsSixteenBytesInTupleOrder) {
  EXPECT_EQ(encoded(ManifestRowKey{42, 99}), "000000000000002a0000000000000063");
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  const std::vector<ManifestRowKey> ascending = {{0, 0},     {0, 1},        {0, 255}, {0, 256},
                                                 {0, kMost}, {1, 0},        {255, 7}, {256, 0},
                                                 {kMost, 0}, {kMost, kMost}};
  std::string before;
  for (const auto& key : ascending) {
    const std::string bytes = encoded(key);
    EXPECT_EQ(bytes.size(), 2 * kManifestRowKeySize);
    EXPECT_LT(before, bytes);  // Lower-case hexadecimal sorts like its bytes.
    EXPECT_EQ(decode_manifest_row_key(hex(bytes)), key);
    before = bytes;
  }
}

// 9.1 #7
TEST(ManifestRowKey, DecodesNoOtherLength) {
  for (std::size_t size = 0; size < 40; ++size) {
    const base::Bytes bytes(size, std::byte{7});
    EXPECT_EQ(decode_manifest_row_key(bytes).has_value(), size == kManifestRowKeySize) << size;
  }
  EXPECT_EQ(decode_manifest_row_key({}), std::nullopt);
}

TEST(IntegerKeys, AreBigEndianWithTheSignFlipped) {
  EXPECT_EQ(encoded(U32Key{0x01020304}), "01020304");
  EXPECT_EQ(encoded(U64Key{0x0102030405060708}), "0102030405060708");
  EXPECT_EQ(encoded(I64Key{-1}), "7fffffffffffffff");
  EXPECT_EQ(encoded(I64Key{0}), "8000000000000000");
  EXPECT_EQ(encoded(I64Key{std::numeric_limits<std::int64_t>::min()}), "0000000000000000");
}

// Section 2.5: zeros of both signs encode differently, so they are different keys.
TEST(F64Key, OrdersTotallyAndComparesBits) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kTiny = std::numeric_limits<double>::denorm_min();
  const std::array<double, 13> ascending = {-kNan, -kInfinity, -1e300, -1.5,  -kTiny,    -0.0, 0.0,
                                            kTiny, 1.0,        1.5,    1e300, kInfinity, kNan};
  for (std::size_t i = 0; i + 1 < ascending.size(); ++i) {
    EXPECT_LT(encoded(F64Key{ascending[i]}), encoded(F64Key{ascending[i + 1]})) << i;
    EXPECT_LT(F64Key{ascending[i]}, F64Key{ascending[i + 1]}) << i;
  }
  EXPECT_NE(F64Key{-0.0}, F64Key{0.0});
  EXPECT_EQ(F64Key{kNan}, F64Key{kNan});
  for (const double value : ascending)
    EXPECT_EQ(F64Key{from_total_order(to_total_order(value))}, F64Key{value});
}

TEST(BytesKey, RefusesWhatDoesNotFitAndEmptiesTheBuffer) {
  KeyBuf out;
  out.assign(hex("61"));
  const auto widest = hex("(61*4097)");
  EXPECT_TRUE((BytesKey{widest}.try_encode_into(out)));
  EXPECT_EQ(out.size(), kKeyBufCapacity);
  EXPECT_FALSE((BytesKey{hex("(61*4098)")}.try_encode_into(out)));
  EXPECT_TRUE(out.empty());
}

// A user's key: a tenant and a name, which must not contain a zero byte.
struct TenantKey {
  std::uint16_t tenant = 0;
  std::string_view name;

  void encode_into(KeyBuf& out) const noexcept {
    const std::array<std::byte, 2> head = {static_cast<std::byte>(tenant >> 8),
                                           static_cast<std::byte>(tenant & 0xff)};
    out.assign(head);
    if (!out.append(base::as_bytes(name))) out.clear();
  }
};
static_assert(KeyEncoding<TenantKey>);

// 9.1 #21
TEST(UserKey, EncodesAsWritten) {
  KeyBuf start;
  KeyBuf end;
  const auto metadata = hex("6d");
  const auto spec =
      shard_spec_from_keys_ref(TenantKey{1, "a"}, TenantKey{0x102, ""}, metadata, start, end);
  ASSERT_TRUE(spec.has_value());
  EXPECT_EQ(shown(spec->start()), "000161");
  EXPECT_EQ(shown(spec->end()), "0102");
  EXPECT_EQ(shown(spec->metadata()), "6d");
}

// A user's key that fills the scratch to its last byte.
struct WideKey {
  std::size_t size = kKeyBufCapacity;

  void encode_into(KeyBuf& out) const noexcept {
    out.clear();
    for (std::size_t i = 0; i < size; ++i)
      (void)out.append(std::uint8_t{0x61});
  }
};

// 9.1 #22
TEST(UserKey, OneByteTooManyIsSeenAndRefused) {
  KeyBuf start;
  KeyBuf end;
  const auto as_start = shard_spec_from_keys_ref(WideKey{}, U32Key{~0U}, {}, start, end);
  ASSERT_FALSE(as_start.has_value());
  EXPECT_EQ(as_start.error(), SpecError::key_too_large(4097, 4096));
  EXPECT_EQ(as_start.error().which, SpecError::Bound::kStart);

  const auto as_end = shard_spec_from_keys_ref(U32Key{0}, WideKey{}, {}, start, end);
  ASSERT_FALSE(as_end.has_value());
  EXPECT_EQ(as_end.error(), SpecError::key_too_large(4097, 4096));
  EXPECT_EQ(as_end.error().which, SpecError::Bound::kEnd);

  const WideKey fits{kMaxKeySize};
  EXPECT_TRUE(shard_spec_from_keys_ref(U32Key{0}, fits, {}, start, end).has_value());
}

// Section 4.4, in the order of detection.
TEST(SpecFromKeys, RefusesInversionAfterSizes) {
  KeyBuf start;
  KeyBuf end;
  const auto inverted = shard_spec_from_keys_ref(U32Key{2}, U32Key{1}, {}, start, end);
  ASSERT_FALSE(inverted.has_value());
  EXPECT_EQ(inverted.error(), SpecError::inverted_range(4, 4));
  EXPECT_FALSE(shard_spec_from_keys_ref(U32Key{1}, U32Key{1}, {}, start, end).has_value());
  const auto metadata = hex("(6d*16385)");
  const auto both = shard_spec_from_keys_ref(U32Key{2}, U32Key{1}, metadata, start, end);
  ASSERT_FALSE(both.has_value());
  EXPECT_EQ(both.error(), SpecError::metadata_too_large(16385, 16384));
}

TEST(SpecFromKeysDeathTest, TwoBoundsNeedTwoBuffers) {
  KeyBuf same;
  EXPECT_EXIT(std::ignore = shard_spec_from_keys_ref(U32Key{1}, U32Key{2}, {}, same, same),
              testing::KilledBySignal(SIGABRT), "two bounds need two buffers");
}

TEST(KeyBufDeathTest, AnEncoderThatAssignsTooMuchAborts) {
  KeyBuf out;
  const auto wide = hex("(61*4098)");
  EXPECT_EXIT(out.assign(wide), testing::KilledBySignal(SIGABRT), "the caller bounds");
  EXPECT_EXIT(out.set_size(4098), testing::KilledBySignal(SIGABRT), "inside its buffer");
}

// Section 2.1
TEST(KeyBuf, LeavesItselfAloneWhereItRefuses) {
  KeyBuf buf;
  EXPECT_TRUE(buf.empty());
  buf.assign(hex("6162"));
  EXPECT_FALSE(buf.try_assign(hex("(63*4098)")));
  EXPECT_EQ(shown(buf.view()), "6162");
  EXPECT_FALSE(buf.append(hex("(63*4096)")));
  EXPECT_EQ(shown(buf.view()), "6162");
  EXPECT_TRUE(buf.append(hex("(63*4095)")));
  EXPECT_EQ(buf.size(), kKeyBufCapacity);
  EXPECT_FALSE(buf.append(std::uint8_t{1}));
  EXPECT_EQ(buf.size(), kKeyBufCapacity);
  buf.clear();
  EXPECT_TRUE(buf.empty());
}

TEST(KeyBuf, AssignsFromItsOwnBytesAndCopiesByValue) {
  KeyBuf buf;
  buf.assign(hex("6162636465"));
  buf.assign(buf.view().subspan(1));
  EXPECT_EQ(shown(buf.view()), "62636465");
  KeyBuf copy = buf;
  buf.assign(hex("7a"));
  EXPECT_EQ(shown(copy.view()), "62636465");
  copy = buf;
  EXPECT_EQ(shown(copy.view()), "7a");
}

}  // namespace
}  // namespace cadastre::shard
