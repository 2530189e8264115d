// Random: chance, as an argument. Jitter, sampling and simulation take a base::Random&, so that a
// seed repeats a run. Not for secrets.
//
// A generator belongs to one thread.

#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/check.h"

namespace cadastre::base {

class Random {
 public:
  Random() = default;
  virtual ~Random() = default;

  [[nodiscard]] virtual std::uint64_t next_u64() noexcept = 0;

  // Each of 0 .. bound-1 equally often. `bound` is not 0.
  [[nodiscard]] std::uint64_t below(std::uint64_t bound) noexcept {
    CAD_CHECK(bound != 0, "there is no number below 0");
    // Numbers under 2^64 mod bound would make the smallest answers a little too frequent.
    const std::uint64_t least = (0 - bound) % bound;
    std::uint64_t value = next_u64();
    while (value < least)
      value = next_u64();
    return value % bound;
  }

 protected:
  Random(const Random&) = default;
  Random(Random&&) = default;
  Random& operator=(const Random&) = default;
  Random& operator=(Random&&) = default;
};

// xoshiro256** by Blackman and Vigna. The sequence of a seed is fixed for ever: recorded simulation
// seeds depend on it. A copy repeats what the original will say.
class SeededRandom final : public Random {
 public:
  // Spreads the seed over the state with splitmix64, as the authors advise.
  explicit SeededRandom(std::uint64_t seed) noexcept {
    for (std::uint64_t& word : state_) {
      seed += 0x9e3779b97f4a7c15;
      std::uint64_t mixed = seed;
      mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
      mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
      word = mixed ^ (mixed >> 31);
    }
  }

  [[nodiscard]] std::uint64_t next_u64() noexcept override {
    const std::uint64_t out = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return out;
  }

 private:
  std::array<std::uint64_t, 4> state_{};
};

// A seed from the operating system, to be logged by whoever may have to repeat the run.
[[nodiscard]] std::uint64_t os_seed();

// Another sequence for every object, in every process.
class OsSeededRandom final : public Random {
 public:
  OsSeededRandom() : random_(os_seed()) {}
  [[nodiscard]] std::uint64_t next_u64() noexcept override { return random_.next_u64(); }

 private:
  SeededRandom random_;
};

}  // namespace cadastre::base
