// The byte-wise baseline: range arithmetic as the defining procedures state it, one byte at a time,
// with a zero-filled temporary and both interior comparisons. What the word-wise kernels are held
// against.

#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "base/bytes.h"

namespace cadastre::bench {

inline constexpr std::size_t kPeerKeyMax = 4096;

// NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): `size` says how many bytes are written
struct PeerKey {
  std::array<std::byte, kPeerKeyMax + 1> bytes;
  std::size_t size = 0;

  [[nodiscard]] base::ByteView view() const { return {bytes.data(), size}; }
};

// False where there is none. `out` is overwritten.
bool bytewise_midpoint(base::ByteView a, base::ByteView b, PeerKey& out);
bool bytewise_prefix_successor(base::ByteView prefix, PeerKey& out);

}  // namespace cadastre::bench
