// How many shards a tenant, and the whole registry, may have. All records count, finished ones too.

#pragma once

#include <cstdint>
#include <optional>

#include "coord/errors.h"
#include "coord/limits.h"

namespace cadastre::coord {

struct ShardCounts {
  std::uint64_t tenant = 0;
  std::uint64_t total = 0;
};

struct ShardLimits {
  std::uint64_t per_tenant_max = kShardsPerTenantMax;
  std::uint64_t total_max = kShardsTotalMax;
};

// Which limit `additional` more shards would exceed, the tenant's first; nothing if none.
[[nodiscard]] std::optional<ShardLimitExceeded> shard_limit_violation(
    const ShardCounts& counts, std::uint64_t additional, const ShardLimits& limits) noexcept;

}  // namespace cadastre::coord
