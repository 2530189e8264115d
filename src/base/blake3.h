// BLAKE3: the hash for whatever must not be forged or confused: ids, file lists, payloads.
//
//   const Blake3Digest id = base::derive_key("cadastre/v1/plan", encoded);
//
// Two contexts give two independent functions, so every kind of message has its own context string,
// fixed for ever. For sums against accidents take base/crc32c.h; for spreading keys, base/xxh3.h.
//
// The functions are pure. A hasher belongs to one thread and can be copied to branch.

#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "base/bytes.h"

namespace cadastre::base {

using Blake3Digest = std::array<std::byte, 32>;

class Blake3Hasher {
 public:
  Blake3Hasher() noexcept;
  // In derive-key mode: `context` is hard-coded by the caller, what is hashed is the key material.
  [[nodiscard]] static Blake3Hasher deriving(std::string_view context) noexcept;

  // The cut of the input into updates does not matter.
  void update(ByteView bytes) noexcept;

  // The digest of all bytes so far; more may follow.
  [[nodiscard]] Blake3Digest finalize() const noexcept;

 private:
  friend class Blake3Context;

  // The C library's state, whose header stays in the .cc; a static_assert there compares the sizes.
  static constexpr std::size_t kStateBytes = 1912;
  alignas(8) std::array<std::byte, kStateBytes> state_;
};

// Derive-key mode with the context worked in, for many short inputs: up to 1,024 bytes cost one call
// of the compression function for every 64, and nothing else.
class Blake3Context {
 public:
  explicit Blake3Context(std::string_view context) noexcept
      : keyed_(Blake3Hasher::deriving(context)) {}

  // As derive_key() with this context.
  [[nodiscard]] Blake3Digest hash(ByteView key_material) const noexcept;
  // For material that comes in pieces.
  [[nodiscard]] Blake3Hasher hasher() const noexcept { return keyed_; }

 private:
  Blake3Hasher keyed_;
};

[[nodiscard]] Blake3Digest blake3(ByteView bytes) noexcept;
[[nodiscard]] Blake3Digest derive_key(std::string_view context, ByteView key_material) noexcept;

}  // namespace cadastre::base
