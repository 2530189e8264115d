// cache_share: how many bytes of applied entries each group of a node may keep in memory (L-38).
//
// A group keeps at most `group_bytes`. If all groups together would keep more than `node_bytes`, each may keep the same
// share, and whoever has less keeps what it has: the oldest entries of those that have most go first. Pure.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cadastre::log {

struct CacheBounds {
  std::uint64_t group_bytes = 0;
  std::uint64_t node_bytes = 0;
};

// `held`: what each group has.
[[nodiscard]] inline std::uint64_t cache_share(std::vector<std::uint64_t> held,
                                               const CacheBounds& bounds) {
  std::ranges::sort(held);
  std::uint64_t left = bounds.node_bytes;
  for (std::size_t i = 0; i < held.size(); ++i) {
    const std::uint64_t share = std::min(bounds.group_bytes, left / (held.size() - i));
    if (held[i] > share) return share;  // So have all that follow.
    left -= held[i];
  }
  return bounds.group_bytes;
}

}  // namespace cadastre::log
