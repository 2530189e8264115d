#include "sim/chacha_random.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/endian.h"

namespace cadastre::sim {
namespace {

std::string keystream(std::uint64_t seed, std::size_t numbers) {
  ChaChaRandom random(seed);
  std::string hex;
  for (std::size_t i = 0; i < numbers; ++i) {
    std::array<std::byte, 8> bytes{};
    base::store_le(bytes.data(), random.next_u64());
    base::append_hex(hex, bytes);
  }
  return hex;
}

// draft-strombergson-chacha-test-vectors, TC1 and TC2 of the 256-bit key with 8 rounds; TC2's key
// begins with byte 1.
TEST(ChaChaRandom, GivesThePublishedKeystream) {
  EXPECT_EQ(keystream(0, 16),
            "3e00ef2f895f40d67f5bb8e81f09a5a12c840ec3ce9a7f3b181be188ef711a1e"
            "984ce172b9216f419f445367456d5619314a42a3da86b001387bfdb80e0cfe42"
            "d2aefa0deaa5c151bf0adb6c01f2a5adc0fd581259f9a2aadcf20f8fd566a26b"
            "5032ec38bbc5da98ee0c6f568b872a65a08abf251deb21bb4b56e5d8821e68aa");
  EXPECT_EQ(keystream(1, 8),
            "cf5ee9a0494aa9613e05d5ed725b804b12f4a465ee635acc3a311de8740489ea"
            "289d04f43c7518db56eb4433e498a1238cd8464d3763ddbb9222ee3bd8fae3c8");
}

TEST(ChaChaRandom, RepeatsASeedAndTellsSeedsApart) {
  EXPECT_EQ(keystream(7, 64), keystream(7, 64));
  EXPECT_NE(keystream(7, 64), keystream(8, 64));
}

TEST(Chance, IsNeverAtZeroAndAlwaysAtAMillion) {
  ChaChaRandom random(1);
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(happens(random, 0));
    EXPECT_TRUE(happens(random, kCertain));
    const std::uint64_t drawn = between(random, 3, 5);
    EXPECT_GE(drawn, 3U);
    EXPECT_LE(drawn, 5U);
  }
}

TEST(Chance, IsAboutWhatItSays) {
  ChaChaRandom random(2);
  int hits = 0;
  for (int i = 0; i < 10'000; ++i)
    hits += happens(random, 250'000) ? 1 : 0;
  EXPECT_GT(hits, 2'300);
  EXPECT_LT(hits, 2'700);
}

}  // namespace
}  // namespace cadastre::sim
