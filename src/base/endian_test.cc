#include "base/endian.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace cadastre::base {
namespace {

static_assert(byte_swap(std::uint8_t{0x12}) == 0x12);
static_assert(byte_swap(std::uint16_t{0x1234}) == 0x3412);
static_assert(byte_swap(std::uint32_t{0x12345678}) == 0x78563412);
static_assert(byte_swap(std::uint64_t{0x123456789abcdef0}) == 0xf0debc9a78563412);

constexpr std::uint64_t kNumber = 0x0123456789abcdef;

// The bytes that a store of a T leaves at an odd address, with the byte behind them.
template <class T, class Store>
std::string stored(Store store) {
  std::array<std::byte, sizeof(T) + 2> memory{};
  store(memory.data() + 1, static_cast<T>(kNumber));
  return to_hex(ByteView(memory).subspan(1));
}

TEST(Endian, BigPutsTheHighestByteFirst) {
  const auto store = [](std::byte* to, auto value) {
    store_be(to, value);
  };
  EXPECT_EQ(stored<std::uint8_t>(store), "ef00");
  EXPECT_EQ(stored<std::uint16_t>(store), "cdef00");
  EXPECT_EQ(stored<std::uint32_t>(store), "89abcdef00");
  EXPECT_EQ(stored<std::uint64_t>(store), "0123456789abcdef00");
}

TEST(Endian, LittlePutsTheLowestByteFirst) {
  const auto store = [](std::byte* to, auto value) {
    store_le(to, value);
  };
  EXPECT_EQ(stored<std::uint8_t>(store), "ef00");
  EXPECT_EQ(stored<std::uint16_t>(store), "efcd00");
  EXPECT_EQ(stored<std::uint32_t>(store), "efcdab8900");
  EXPECT_EQ(stored<std::uint64_t>(store), "efcdab896745230100");
}

TEST(Endian, LoadsWhatTheOtherOrderWouldReadBackwards) {
  const Bytes memory = from_hex("ff0123456789abcdef").value();
  const std::byte* const odd = memory.data() + 1;
  EXPECT_EQ(load_be<std::uint8_t>(odd), 0x01);
  EXPECT_EQ(load_be<std::uint16_t>(odd), 0x0123);
  EXPECT_EQ(load_be<std::uint32_t>(odd), 0x01234567U);
  EXPECT_EQ(load_be<std::uint64_t>(odd), kNumber);
  EXPECT_EQ(load_le<std::uint8_t>(odd), 0x01);
  EXPECT_EQ(load_le<std::uint16_t>(odd), 0x2301);
  EXPECT_EQ(load_le<std::uint32_t>(odd), 0x67452301U);
  EXPECT_EQ(load_le<std::uint64_t>(odd), byte_swap(kNumber));
}

TEST(Endian, BigEndianOrderIsByteOrder) {
  const std::array<std::uint64_t, 6> rising{0, 1, 0xff, 0x100, 1ULL << 63, ~0ULL};
  for (std::size_t i = 1; i < rising.size(); ++i) {
    std::array<std::byte, 8> low{};
    std::array<std::byte, 8> high{};
    store_be(low.data(), rising[i - 1]);
    store_be(high.data(), rising[i]);
    EXPECT_TRUE(less(low, high)) << rising[i];
  }
}

}  // namespace
}  // namespace cadastre::base
