#include "base/crc32c.h"

#include <array>
#include <cstddef>
#include <cstdint>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

#include "base/bytes.h"
#include "base/endian.h"

namespace cadastre::base {
namespace {

constexpr std::uint32_t kPolynomial = 0x82f63b78;  // Castagnoli, bits reversed.

using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

// Table k moves a byte past k further bytes, so eight lookups take eight bytes at once.
constexpr Tables kTables = [] {
  Tables tables{};
  for (std::uint32_t value = 0; value < 256; ++value) {
    std::uint32_t crc = value;
    for (int bit = 0; bit < 8; ++bit)
      crc = (crc >> 1) ^ ((crc & 1) * kPolynomial);
    tables[0][value] = crc;
  }
  for (std::size_t k = 1; k < tables.size(); ++k) {
    for (std::size_t value = 0; value < 256; ++value) {
      const std::uint32_t before = tables[k - 1][value];
      tables[k][value] = (before >> 8) ^ tables[0][before & 0xff];
    }
  }
  return tables;
}();

std::uint32_t take_byte(std::uint32_t state, std::byte byte) noexcept {
  return (state >> 8) ^ kTables[0][(state ^ std::to_integer<std::uint32_t>(byte)) & 0xff];
}

std::uint32_t take_word(std::uint32_t state, std::uint64_t word) noexcept {
  word ^= state;
  std::uint32_t out = 0;
  for (std::size_t k = 0; k < kTables.size(); ++k) {
    out ^= kTables[kTables.size() - 1 - k][(word >> (8 * k)) & 0xff];
  }
  return out;
}

}  // namespace

namespace crc32c_ways {

std::uint32_t extend_by_table(std::uint32_t crc, ByteView bytes) noexcept {
  std::uint32_t state = ~crc;
  std::size_t at = 0;
  for (; bytes.size() - at >= 8; at += 8) {
    state = take_word(state, load_le<std::uint64_t>(bytes.data() + at));
  }
  for (; at < bytes.size(); ++at)
    state = take_byte(state, bytes[at]);
  return ~state;
}

#if defined(__x86_64__)

bool has_instruction() noexcept {
  return __builtin_cpu_supports("sse4.2") != 0;
}

[[gnu::target("sse4.2")]] std::uint32_t extend_by_instruction(std::uint32_t crc,
                                                              ByteView bytes) noexcept {
  std::uint64_t state = static_cast<std::uint32_t>(~crc);
  std::size_t at = 0;
  for (; bytes.size() - at >= 8; at += 8) {
    state = _mm_crc32_u64(state, load_le<std::uint64_t>(bytes.data() + at));
  }
  auto narrow = static_cast<std::uint32_t>(state);
  for (; at < bytes.size(); ++at) {
    narrow = _mm_crc32_u8(narrow, std::to_integer<std::uint8_t>(bytes[at]));
  }
  return ~narrow;
}

#else

bool has_instruction() noexcept {
  return false;
}

std::uint32_t extend_by_instruction(std::uint32_t crc, ByteView bytes) noexcept {
  return extend_by_table(crc, bytes);
}

#endif

}  // namespace crc32c_ways

std::uint32_t crc32c_extend(std::uint32_t crc, ByteView bytes) noexcept {
  static const bool kUseInstruction = crc32c_ways::has_instruction();
  return kUseInstruction ? crc32c_ways::extend_by_instruction(crc, bytes)
                         : crc32c_ways::extend_by_table(crc, bytes);
}

}  // namespace cadastre::base
