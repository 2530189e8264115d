#include "base/crc32c.h"

#include <cstddef>
#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace cadastre::base {
namespace {

using Extend = std::uint32_t (*)(std::uint32_t, ByteView) noexcept;

// Every way this machine has, the chosen one included.
std::vector<Extend> ways() {
  std::vector<Extend> out{crc32c_extend, crc32c_ways::extend_by_table};
  if (crc32c_ways::has_instruction()) out.push_back(crc32c_ways::extend_by_instruction);
  return out;
}

// One bit at a time, straight from the definition.
std::uint32_t by_definition(ByteView bytes) {
  std::uint32_t state = 0xffffffff;
  for (const std::byte byte : bytes) {
    state ^= std::to_integer<std::uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) {
      state = (state & 1) != 0 ? (state >> 1) ^ 0x82f63b78U : state >> 1;
    }
  }
  return ~state;
}

Bytes random_bytes(std::size_t bytes) {
  std::mt19937_64 random(3720);
  Bytes out(bytes);
  for (std::byte& byte : out)
    byte = static_cast<std::byte>(random());
  return out;
}

// RFC 3720, B.4.
TEST(Crc32c, GivesTheValuesOfTheStandard) {
  Bytes rising(32);
  Bytes falling(32);
  for (std::size_t i = 0; i < 32; ++i) {
    rising[i] = static_cast<std::byte>(i);
    falling[i] = static_cast<std::byte>(31 - i);
  }
  struct Case {
    std::string_view what;
    Bytes bytes;
    std::uint32_t crc;
  };
  const std::vector<Case> cases = {
      {"nothing", {}, 0},
      {"32 zeros", Bytes(32, std::byte{0}), 0x8a9136aa},
      {"32 bytes of ones", Bytes(32, std::byte{0xff}), 0x62a8ab43},
      {"32 rising bytes", rising, 0x46dd794e},
      {"32 falling bytes", falling, 0x113fdb5c},
      {"an iSCSI read command",
       from_hex("01c00000000000000000000000000000140000000000040000000014000000182800000000000000"
                "0200000000000000")
           .value(),
       0xd9963a56},
      {"the digits 1 to 9", to_owned(as_bytes(std::string_view("123456789"))), 0xe3069283},
  };
  for (const auto extend : ways()) {
    for (const auto& row : cases)
      EXPECT_EQ(extend(0, row.bytes), row.crc) << row.what;
  }
}

TEST(Crc32c, EveryWayAgreesWithTheDefinitionAtEveryLengthAndAlignment) {
  const Bytes bytes = random_bytes(320);
  for (std::size_t shift = 0; shift < 9; ++shift) {
    for (std::size_t length = 0; length < 300; ++length) {
      const ByteView input = ByteView(bytes).subspan(shift, length);
      const std::uint32_t expected = by_definition(input);
      for (const auto extend : ways())
        ASSERT_EQ(extend(0, input), expected) << shift << length;
    }
  }
}

TEST(Crc32c, ExtendingIsTheSumOfTheWhole) {
  const Bytes bytes = random_bytes(200);
  const std::uint32_t whole = by_definition(bytes);
  for (const auto extend : ways()) {
    for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
      const std::uint32_t first = extend(0, ByteView(bytes).first(cut));
      ASSERT_EQ(extend(first, ByteView(bytes).subspan(cut)), whole) << cut;
    }
  }
  EXPECT_EQ(crc32c(bytes), whole);
}

TEST(Crc32c, AgreesOnLongInputs) {
  const Bytes bytes = random_bytes(1'000'003);
  const std::uint32_t expected = by_definition(bytes);
  for (const auto extend : ways())
    EXPECT_EQ(extend(0, bytes), expected);
}

}  // namespace
}  // namespace cadastre::base
