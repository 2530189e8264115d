// CRC-32C (Castagnoli, RFC 3720): the sum that finds accidents on disk and wire. Its values reach
// both. Not for what an enemy may choose: take base/blake3.h there.
//
//   crc32c(a then b) == crc32c_extend(crc32c(a), b), and crc32c of nothing is 0.
//
// Pure. Uses the processor's instruction where there is one; the two ways are open to tests.

#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace cadastre::base {

// The sum of `bytes` behind what `crc` is the sum of.
[[nodiscard]] std::uint32_t crc32c_extend(std::uint32_t crc, ByteView bytes) noexcept;

[[nodiscard]] inline std::uint32_t crc32c(ByteView bytes) noexcept {
  return crc32c_extend(0, bytes);
}

namespace crc32c_ways {

[[nodiscard]] std::uint32_t extend_by_table(std::uint32_t crc, ByteView bytes) noexcept;

// The second way is only for machines where the first function says yes.
[[nodiscard]] bool has_instruction() noexcept;
[[nodiscard]] std::uint32_t extend_by_instruction(std::uint32_t crc, ByteView bytes) noexcept;

}  // namespace crc32c_ways

}  // namespace cadastre::base
