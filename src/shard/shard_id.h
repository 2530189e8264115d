// ShardId: names a shard within its run.

#pragma once

#include <compare>
#include <cstdint>

#include "shard/limits.h"
#include "shard/view_guard.h"

namespace cadastre::shard::inline CAD_SHARD_FLAVOUR {

// Ids that a caller chooses have bit 63 clear; ids derived by a split have it set.
class ShardId {
 public:
  constexpr ShardId() noexcept = default;
  [[nodiscard]] static constexpr ShardId from_raw(std::uint64_t raw) noexcept {
    return ShardId(raw);
  }
  [[nodiscard]] constexpr std::uint64_t raw() const noexcept { return raw_; }
  [[nodiscard]] constexpr bool is_derived() const noexcept {
    return (raw_ & kDerivedShardBit) != 0;
  }

  friend constexpr auto operator<=>(ShardId, ShardId) noexcept = default;

 private:
  constexpr explicit ShardId(std::uint64_t raw) noexcept : raw_(raw) {}
  std::uint64_t raw_ = 0;
};

}  // namespace cadastre::shard::inline CAD_SHARD_FLAVOUR
