#include "base/xxh3.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace cadastre::base {
namespace {

// The generator of xxHash's own self test.
Bytes sanity_buffer(std::size_t bytes) {
  constexpr std::uint64_t kStart = 2654435761U;
  constexpr std::uint64_t kFactor = 11400714785074694797U;
  Bytes out(bytes);
  std::uint64_t state = kStart;
  for (std::byte& byte : out) {
    byte = static_cast<std::byte>(state >> 56);
    state *= kFactor;
  }
  return out;
}

TEST(Xxh3, GivesTheValuesOfTheSelfTestOfXxHash) {
  struct Case {
    std::size_t bytes;
    std::uint64_t hash;
  };
  const std::vector<Case> cases = {
      {0, 0x2d06800538d394c2},    {1, 0xc44bdff4074eecdb},    {6, 0x27b56a84cd2d7325},
      {12, 0xa713daf0dfbb77e7},   {24, 0xa3fe70bf9d3510eb},   {48, 0x397da259ecba1f11},
      {80, 0xbcdefbbb2c47c90a},   {195, 0xcd94217ee362ec3a},  {403, 0xcdeb804d65c6dea4},
      {512, 0x617e49599013cb6b},  {2048, 0xdd59e2c3a5f038e0}, {2240, 0x6e73a90539cf2948},
      {2367, 0xcb37aeb9e5d361ed},
  };
  const Bytes buffer = sanity_buffer(2367);
  for (const auto& [bytes, hash] : cases) {
    EXPECT_EQ(xxh3_64(ByteView(buffer).first(bytes)), hash) << bytes << " bytes";
  }
}

TEST(Xxh3, TakesANullView) {
  EXPECT_EQ(xxh3_64({}), 0x2d06800538d394c2U);
}

TEST(Xxh3, DoesNotCareAboutAlignment) {
  const Bytes buffer = sanity_buffer(1000);
  for (std::size_t shift = 1; shift < 16; ++shift) {
    Bytes shifted(shift);
    shifted.insert(shifted.end(), buffer.begin(), buffer.end());
    EXPECT_EQ(xxh3_64(ByteView(shifted).subspan(shift)), xxh3_64(buffer)) << shift;
  }
}

}  // namespace
}  // namespace cadastre::base
