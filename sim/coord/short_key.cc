#include "sim/coord/short_key.h"

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "base/random.h"
#include "sim/chacha_random.h"

namespace cadastre::sim {
namespace {

constexpr int kAttempts = 4;
constexpr std::uint64_t kByteMax = 255;

std::uint8_t draw_byte(base::Random& random, std::uint64_t least, std::uint64_t most) noexcept {
  return static_cast<std::uint8_t>(between(random, least, most));
}

ShortKey draw_any(base::Random& random, base::ByteView low, base::ByteView high) noexcept {
  const auto first = [](base::ByteView key, std::uint64_t absent) {
    return key.empty() ? absent : std::to_integer<std::uint64_t>(key.front());
  };
  ShortKey key{draw_byte(random, first(low, 0), first(high, kByteMax))};
  for (std::uint64_t tail = random.below(3); tail > 0; --tail)
    key.push_back(draw_byte(random, 0, kByteMax));
  return key;
}

}  // namespace

std::optional<ShortKey> draw_point(base::Random& random,
                                   base::ByteView low,
                                   base::ByteView high) noexcept {
  const auto is_inside = [&](const ShortKey& key) {
    return base::less(low, key.view()) && (high.empty() || base::less(key.view(), high));
  };
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const ShortKey key = draw_any(random, low, high);
    if (is_inside(key)) return key;
  }
  // The two are close: whatever begins with the lower one lies between them most of the time.
  if (low.size() >= kShortKeyMax) return std::nullopt;
  ShortKey key = ShortKey::prefix_of(low);
  key.push_back(draw_byte(random, 0, kByteMax));
  if (is_inside(key)) return key;
  return std::nullopt;
}

std::optional<ShortKey> draw_key(base::Random& random,
                                 base::ByteView low,
                                 base::ByteView high) noexcept {
  const bool at_low = !low.empty() && low.size() <= kShortKeyMax && random.below(8) == 0;
  if (at_low) return ShortKey::prefix_of(low);
  return draw_point(random, low, high);
}

}  // namespace cadastre::sim
