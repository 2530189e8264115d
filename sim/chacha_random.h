// ChaChaRandom: one seed, one endless sequence, the same on every machine.
//
// The keystream of ChaCha with 8 rounds (D. J. Bernstein), read as little-endian 64-bit numbers. The
// seed is the first eight bytes of an otherwise zero key; nonce and counter begin at zero. Recorded
// seeds depend on the sequence: it never changes.
//
// Chances are whole parts of a million, and bounded draws are base::Random::below: no floating point
// and no distribution of the standard library, which may differ between platforms.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/random.h"

namespace cadastre::sim {

class ChaChaRandom final : public base::Random {
 public:
  explicit ChaChaRandom(std::uint64_t seed) noexcept;

  [[nodiscard]] std::uint64_t next_u64() noexcept override;

 private:
  static constexpr std::size_t kWords = 16;
  using Block = std::array<std::uint32_t, kWords>;

  void refill() noexcept;

  Block input_;
  Block output_{};
  std::size_t used_ = kWords;
};

inline constexpr std::uint64_t kCertain = 1'000'000;  // parts per million

// Whether something with this chance happens now. A chance of 0 draws nothing.
[[nodiscard]] bool happens(base::Random& random, std::uint64_t parts_per_million) noexcept;

// Each of least .. most equally often.
[[nodiscard]] std::uint64_t between(base::Random& random,
                                    std::uint64_t least,
                                    std::uint64_t most) noexcept;

}  // namespace cadastre::sim
