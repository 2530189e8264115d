// When something is done again: connecting to a peer (L-67), telling the engines that one is away (L-66), telling
// a peer that a group is not here (L-68).
//
// Pure. A pacer belongs to whoever locks it.

#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "base/clock.h"
#include "base/random.h"
#include "log/frame_limits.h"

namespace cadastre::log {

// How long to wait before attempt `attempt` + 1 to connect, after so many that failed in a row: doubles from
// kReconnectMin to kReconnectMax, and anything in the upper half of that, so that peers do not come at once.
[[nodiscard]] inline std::chrono::nanoseconds reconnect_delay(std::uint32_t attempt,
                                                              base::Random& random) {
  using std::chrono::nanoseconds;
  constexpr std::uint32_t kDoublingsMax = 10;
  static_assert(kReconnectMin * (1U << kDoublingsMax) > kReconnectMax, "it grows to the end");
  const nanoseconds most = std::min<nanoseconds>(
      kReconnectMax, 2 * kReconnectMin * (1U << std::min(attempt, kDoublingsMax)));
  const auto half = static_cast<std::uint64_t>((most / 2).count());
  return most / 2 + nanoseconds(random.below(half + 1));
}

// Says yes once in an interval for each key. Remembers at most `keys_max` keys; with more of them all are
// forgotten, which says yes too often but never too seldom.
template <class Key>
class Pacer {
 public:
  Pacer(std::chrono::nanoseconds interval, std::size_t keys_max) noexcept
      : interval_(interval), keys_max_(keys_max) {}

  [[nodiscard]] bool due(const Key& key, base::Elapsed now) {
    const auto last = last_.find(key);
    if (last != last_.end() && now - last->second < interval_) return false;
    if (last == last_.end() && last_.size() >= keys_max_) last_.clear();
    last_.insert_or_assign(key, now);
    return true;
  }

 private:
  const std::chrono::nanoseconds interval_;
  const std::size_t keys_max_;
  std::map<Key, base::Elapsed> last_;
};

}  // namespace cadastre::log
