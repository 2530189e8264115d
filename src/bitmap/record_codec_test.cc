// The two small records: the descriptor and the statistics.

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/endian.h"
#include "base/xxh3.h"
#include "bitmap/config.h"
#include "bitmap/descriptor.h"
#include "bitmap/faults.h"
#include "bitmap/stats_record.h"

namespace cadastre::bitmap {
namespace {

constexpr std::size_t kSummedBytes = 24;

// The default descriptor with bytes replaced from `at` on, under a right checksum.
std::array<std::byte, kDescriptorBytes> changed(std::size_t at, std::vector<std::uint8_t> bytes) {
  auto descriptor = encode_descriptor(Config{});
  for (const std::uint8_t byte : bytes)
    descriptor.at(at++) = std::byte{byte};
  base::store_le(&descriptor[kSummedBytes],
                 base::xxh3_64(base::ByteView(descriptor).first(kSummedBytes)));
  return descriptor;
}

// B-16, 2.6
TEST(Descriptor, RefusesWhatNoTableHas) {
  struct Case {
    const char* what;
    std::size_t at;
    std::vector<std::uint8_t> bytes;
    RecordFault fault;
  };
  const std::vector<Case> cases = {
      {"another magic", 7, {'m'}, RecordFault::kBadMagic},
      {"the rolled layout", 8, {1}, RecordFault::kUnsupported},
      {"a newer layout", 8, {3}, RecordFault::kUnsupported},
      {"an unknown flag", 9, {2}, RecordFault::kUnsupported},
      {"no shards", 10, {0, 0}, RecordFault::kOutOfRange},
      {"a grain of 49", 12, {49}, RecordFault::kOutOfRange},
      {"another hash", 13, {2}, RecordFault::kUnsupported},
      {"a reserved byte", 14, {1}, RecordFault::kNotZero},
      {"another reserved byte", 15, {1}, RecordFault::kNotZero},
      {"segments of 1023 bytes", 16, {0xff, 3}, RecordFault::kOutOfRange},
      {"segments of 1048561 bytes", 16, {0xf1, 0xff, 0x0f, 0}, RecordFault::kOutOfRange},
      {"a reserved word", 23, {1}, RecordFault::kNotZero},
  };
  for (const Case& each : cases) {
    const auto decoded = decode_descriptor(changed(each.at, each.bytes));
    ASSERT_FALSE(decoded.has_value()) << each.what;
    EXPECT_EQ(name(decoded.error().code), name(each.fault)) << each.what;
  }
}

TEST(Descriptor, KeepsEverySetting) {
  const std::vector<Config> configs = {
      {.shard_count = 1, .shard_grain_bits = 0, .segment_bytes_max = 1024, .stats = Stats::kNone},
      {.shard_count = 65535, .shard_grain_bits = 48, .segment_bytes_max = 1048560},
      {.shard_count = 16, .shard_grain_bits = 20, .segment_bytes_max = 65520}};
  for (const Config& config : configs) {
    const auto decoded = decode_descriptor(encode_descriptor(config));
    ASSERT_TRUE(decoded.has_value());
    EXPECT_EQ(*decoded, config);
  }
}

TEST(Descriptor, NoticesEveryFlippedBitAndEveryLength) {
  const auto good = encode_descriptor(Config{});
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    auto bad = good;
    bad.at(bit / 8) ^= std::byte{1} << (bit % 8);
    EXPECT_FALSE(decode_descriptor(bad).has_value()) << bit;
  }
  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(decode_descriptor(base::ByteView(good).first(size)).has_value());
  base::Bytes longer = base::to_owned(good);
  longer.push_back(std::byte{0});
  EXPECT_EQ(decode_descriptor(longer).error().code, RecordFault::kBadLength);
}

// 2.5
TEST(StatsRecord, HasOneLengthAndOneVersion) {
  const StatsRecord record{.cardinality = ~std::uint64_t{0}, .segments = 7, .value_bytes = 1};
  auto bytes = encode_stats(record);
  EXPECT_EQ(bytes.size(), 21U);
  EXPECT_EQ(*decode_stats(bytes), record);
  EXPECT_EQ(decode_stats(base::ByteView(bytes).first(20)).error().code, RecordFault::kBadLength);
  base::Bytes longer = base::to_owned(bytes);
  longer.push_back(std::byte{0});
  EXPECT_EQ(decode_stats(longer).error().code, RecordFault::kBadLength);
  bytes[0] = std::byte{2};
  EXPECT_EQ(decode_stats(bytes).error().code, RecordFault::kUnsupported);
}

// 3.9: every fault has a name of its own.
TEST(Faults, HaveNames) {
  EXPECT_EQ(name(ValueFault::kBadChecksum), "bad checksum");
  EXPECT_EQ(name(ValueFault::kEmpty), "empty");
  EXPECT_EQ(name(PartitionFault::kStatsDiffer), "stats differ");
  EXPECT_EQ(name(KeyFault::kTooLong), "key too long");
  EXPECT_EQ(name(RecordFault::kOutOfRange), "out of range");
}

}  // namespace
}  // namespace cadastre::bitmap
