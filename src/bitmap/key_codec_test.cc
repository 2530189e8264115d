#include "bitmap/key_codec.h"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <limits>
#include <tuple>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "bitmap/faults.h"
#include "bitmap/ids.h"
#include "bitmap/limits.h"
#include "shard/bytes_testing.h"
#include "shard/hexrun_testing.h"

namespace cadastre::bitmap {
namespace {

using shard::hex;
using shard::shown;
using shard::testing::repeated;
using shard::testing::operator""_b;

constexpr std::uint16_t kShardMax = std::numeric_limits<std::uint16_t>::max();

std::vector<base::Bytes> base_keys() {
  return {{},
          hex("00"),
          hex("ff"),
          hex("0000"),
          hex("00ff"),
          hex("ffff"),
          hex("ffffffff"),
          hex("616263"),
          hex("61626364"),
          repeated(0xff, kBaseKeyBytesMax),
          repeated(0, kBaseKeyBytesMax)};
}

// 6.1: round trip.
TEST(KeyCodec, RoundTrips) {
  for (const base::Bytes& base_key : base_keys()) {
    for (const std::uint16_t shard : {std::uint16_t{0}, std::uint16_t{255}, kShardMax}) {
      for (const Id fence : {Id{0}, Id{65536}, Id{~std::uint64_t{0xffff}}}) {
        const StoredKey segment = segment_key(base_key, Shard{shard}, fence);
        EXPECT_EQ(segment.view().size(), base_key.size() + 14);
        const auto decoded = decode_key(segment);
        ASSERT_TRUE(decoded.has_value());
        const auto& key = std::get<SegmentKey>(*decoded);
        EXPECT_EQ(shown(key.base_key), shown(base_key));
        EXPECT_EQ(key.shard.value(), shard);
        EXPECT_EQ(key.fence, fence);
      }
      const StoredKey stats = stats_key(base_key, Shard{shard});
      EXPECT_EQ(stats.view().size(), base_key.size() + 6);
      const auto decoded = decode_key(stats);
      ASSERT_TRUE(decoded.has_value());
      EXPECT_EQ(shown(std::get<StatsKey>(*decoded).base_key), shown(base_key));
      EXPECT_EQ(std::get<StatsKey>(*decoded).shard.value(), shard);
    }
  }
}

// 6.1: stored order is (length, bytes, shard, stats before segments, fence); B-8, B-10.
TEST(KeyCodec, OrderIsByLengthBytesShardFence) {
  struct Row {
    base::Bytes base_key;
    std::uint16_t shard;
    bool is_segment;
    std::uint64_t fence;
    base::Bytes stored;
  };
  std::vector<Row> rows;
  for (const base::Bytes& base_key : base_keys()) {
    for (const std::uint16_t shard : {std::uint16_t{0}, std::uint16_t{1}, std::uint16_t{256}}) {
      rows.push_back(
          {base_key, shard, false, 0, base::to_owned(stats_key(base_key, Shard{shard}))});
      for (const std::uint64_t fence : {0ULL, 65536ULL, 0xffffffffffff0000ULL}) {
        rows.push_back({base_key, shard, true, fence,
                        base::to_owned(segment_key(base_key, Shard{shard}, Id{fence}))});
      }
    }
  }
  const auto meaning = [](const Row& row) {
    return std::tuple(row.base_key.size(), base::as_text(row.base_key), row.shard, row.is_segment,
                      row.fence);
  };
  for (const Row& a : rows) {
    EXPECT_TRUE(base::less(a.stored, descriptor_key()));
    for (const Row& b : rows) {
      EXPECT_EQ(base::compare(a.stored, b.stored) < 0, meaning(a) < meaning(b))
          << shown(a.stored) << " " << shown(b.stored);
    }
  }
}

// B-9, W-9: the end of a shard's records, for every shard.
TEST(KeyCodec, PrefixEndBoundsEveryShard) {
  const base::Bytes base_key = hex("61ff");
  const StoredKey beyond = segment_key(hex("6200"), Shard{0}, Id{0});
  for (std::uint32_t shard = 0; shard <= kShardMax; ++shard) {
    const Shard one{static_cast<std::uint16_t>(shard)};
    const auto end = prefix_end(stats_key(base_key, one));
    ASSERT_TRUE(end.has_value());
    ASSERT_TRUE(base::less(segment_key(base_key, one, kIdMax), *end)) << shard;
    if (shard == kShardMax) {
      EXPECT_TRUE(base::compare(*end, beyond) <= 0);
    } else {
      const Shard next{static_cast<std::uint16_t>(shard + 1)};
      ASSERT_TRUE(base::compare(*end, stats_key(base_key, next)) <= 0) << shard;
    }
  }
}

TEST(KeyCodec, PrefixEndCarries) {
  EXPECT_EQ(shown(*prefix_end(hex("6100"))), "6101");
  EXPECT_EQ(shown(*prefix_end(hex("61ff"))), "62");
  EXPECT_EQ(shown(*prefix_end(hex("61ffff"))), "62");
  EXPECT_EQ(shown(*prefix_end(hex("00feffff"))), "00ff");
  EXPECT_FALSE(prefix_end(hex("ff")).has_value());
  EXPECT_FALSE(prefix_end(hex("ffffffff")).has_value());
  EXPECT_FALSE(prefix_end({}).has_value());
}

// B-10
TEST(KeyCodec, AListingPrefixStartsTheKeysOfOneLength) {
  EXPECT_EQ(shown(listing_prefix(5, hex("6162"))), "000000056162");
  EXPECT_EQ(shown(listing_prefix(0, {})), "00000000");
}

// B-7, B-18
TEST(KeyCodec, RefusesWhatIsNoKey) {
  struct Case {
    const char* what;
    const char* bytes;
    KeyFault fault;
  };
  const std::vector<Case> cases = {
      {"nothing", "", KeyFault::kTruncated},
      {"half a length", "0000", KeyFault::kTruncated},
      {"a base key cut short", "000000036162", KeyFault::kTruncated},
      {"no shard", "0000000161", KeyFault::kBadLength},
      {"half a shard", "000000016100", KeyFault::kBadLength},
      {"one byte behind the shard", "00000001610000ff", KeyFault::kBadLength},
      {"a fence cut short", "0000000161000000000000000000", KeyFault::kBadLength},
      {"a byte behind the fence", "00000001610000000000000000000000", KeyFault::kBadLength},
      {"a base key too long", "000001f2(61*498)0000", KeyFault::kTooLong},
      {"a descriptor cut short", "ffffffff64657363726970746f", KeyFault::kBadDescriptor},
      {"more than a descriptor", "ffffffff64657363726970746f7200", KeyFault::kBadDescriptor},
  };
  for (const Case& each : cases) {
    const base::Bytes bytes = hex(each.bytes);
    const auto decoded = decode_key(bytes);
    ASSERT_FALSE(decoded.has_value()) << each.what;
    EXPECT_EQ(name(decoded.error().code), name(each.fault)) << each.what;
  }
}

// B-18
TEST(KeyCodec, ABaseKeyHasAtMost497Bytes) {
  EXPECT_TRUE(check_base_key({}).has_value());
  EXPECT_TRUE(check_base_key(repeated('k', 497)).has_value());
  const auto refused = check_base_key(repeated('k', 498));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, KeyFault::kTooLong);
}

// B-11: ids that agree above the grain share a shard; others spread.
TEST(KeyCodec, ShardsFollowTheGrain) {
  constexpr ShardRule kRule{.count = 300, .grain_bits = 16};
  std::vector<int> hits(kRule.count);
  for (std::uint64_t chunk = 0; chunk < 3000; ++chunk) {
    const Shard shard = choose_shard("hot"_b, fence_at(chunk), kRule);
    EXPECT_EQ(shard, choose_shard("hot"_b, id_at(chunk, 0xffff), kRule));
    ASSERT_LT(shard.value(), kRule.count);
    ++hits[shard.value()];
  }
  EXPECT_LT(std::ranges::max(hits), 40);
  EXPECT_GT(std::ranges::count_if(hits, [](int each) { return each > 0; }), 290);
}

}  // namespace
}  // namespace cadastre::bitmap
