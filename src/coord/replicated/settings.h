// Settings: what decides answers of the replicated backend. They are part of the state: a command writes
// them when the state is created, and a command changes them; a node's configuration decides nothing.

#pragma once

#include <cstdint>

#include "coord/limits.h"
#include "coord/memory/memory_backend.h"
#include "coord/shard_limits.h"

namespace cadastre::coord::replicated {

// What the blocks of all strings may take: a slab has 32-bit offsets, and twice this is in it.
inline constexpr std::uint64_t kRecordBytesCeiling = std::uint64_t{1} << 31;
inline constexpr std::uint64_t kRecordBytesDefault = std::uint64_t{1} << 30;
static_assert(kRecordBytesDefault <= kRecordBytesCeiling);

struct Settings {
  std::uint64_t shards_per_tenant_max = kShardsPerTenantMax;
  std::uint64_t shards_total_max = kShardsTotalMax;
  std::uint64_t claim_cooldown_interval = 0;  // 0: none
  std::uint64_t record_bytes_max = kRecordBytesDefault;
  std::uint64_t children_max = kMaxSplitChildren;

  friend bool operator==(const Settings&, const Settings&) = default;
};

[[nodiscard]] constexpr bool is_valid(const Settings& settings) noexcept {
  return settings.shards_per_tenant_max > 0 && settings.shards_total_max > 0 &&
         settings.record_bytes_max > 0 && settings.record_bytes_max <= kRecordBytesCeiling &&
         settings.children_max >= 2 && settings.children_max <= kMaxSplitChildren;
}

[[nodiscard]] constexpr memory::MemorySettings in_memory(const Settings& settings) noexcept {
  return {.limits = {settings.shards_per_tenant_max, settings.shards_total_max},
          .claim_cooldown_interval = settings.claim_cooldown_interval,
          .children_max = static_cast<std::size_t>(settings.children_max),
          .record_bytes_max = settings.record_bytes_max};
}

}  // namespace cadastre::coord::replicated
