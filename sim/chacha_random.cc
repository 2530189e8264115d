#include "sim/chacha_random.h"

#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "base/random.h"

namespace cadastre::sim {
namespace {

constexpr int kDoubleRounds = 4;

void quarter_round(std::uint32_t& a,
                   std::uint32_t& b,
                   std::uint32_t& c,
                   std::uint32_t& d) noexcept {
  a += b;
  d = std::rotl(d ^ a, 16);
  c += d;
  b = std::rotl(b ^ c, 12);
  a += b;
  d = std::rotl(d ^ a, 8);
  c += d;
  b = std::rotl(b ^ c, 7);
}

}  // namespace

ChaChaRandom::ChaChaRandom(std::uint64_t seed) noexcept
    // "expand 32-byte k", the key, the counter and the nonce.
    : input_{0x61707865,
             0x3320646e,
             0x79622d32,
             0x6b206574,
             static_cast<std::uint32_t>(seed),
             static_cast<std::uint32_t>(seed >> 32)} {}

void ChaChaRandom::refill() noexcept {
  Block x = input_;
  for (int i = 0; i < kDoubleRounds; ++i) {
    quarter_round(x[0], x[4], x[8], x[12]);
    quarter_round(x[1], x[5], x[9], x[13]);
    quarter_round(x[2], x[6], x[10], x[14]);
    quarter_round(x[3], x[7], x[11], x[15]);
    quarter_round(x[0], x[5], x[10], x[15]);
    quarter_round(x[1], x[6], x[11], x[12]);
    quarter_round(x[2], x[7], x[8], x[13]);
    quarter_round(x[3], x[4], x[9], x[14]);
  }
  for (std::size_t i = 0; i < kWords; ++i)
    output_[i] = x[i] + input_[i];
  if (++input_[12] == 0) ++input_[13];
  used_ = 0;
}

std::uint64_t ChaChaRandom::next_u64() noexcept {
  if (used_ == kWords) refill();
  const std::uint64_t low = output_[used_];
  const std::uint64_t high = output_[used_ + 1];
  used_ += 2;
  return high << 32 | low;
}

bool happens(base::Random& random, std::uint64_t parts_per_million) noexcept {
  return parts_per_million != 0 && random.below(kCertain) < parts_per_million;
}

std::uint64_t between(base::Random& random, std::uint64_t least, std::uint64_t most) noexcept {
  CAD_CHECK(least <= most, "there is a number between them");
  return least + random.below(most - least + 1);
}

}  // namespace cadastre::sim
