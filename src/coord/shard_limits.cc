#include "coord/shard_limits.h"

#include <cstdint>
#include <limits>
#include <optional>

#include "coord/errors.h"
#include "shard/split_coverage.h"

namespace cadastre::coord {
namespace {

bool exceeds(std::uint64_t current, std::uint64_t additional, std::uint64_t max) noexcept {
  if (additional > std::numeric_limits<std::uint64_t>::max() - current) return true;
  return current + additional > max;
}

}  // namespace

std::optional<ShardLimitExceeded> shard_limit_violation(const ShardCounts& counts,
                                                        std::uint64_t additional,
                                                        const ShardLimits& limits) noexcept {
  using Scope = shard::SplitError::Scope;
  if (exceeds(counts.tenant, additional, limits.per_tenant_max)) {
    return ShardLimitExceeded{counts.tenant, additional, limits.per_tenant_max, Scope::kPerTenant};
  }
  if (exceeds(counts.total, additional, limits.total_max)) {
    return ShardLimitExceeded{counts.total, additional, limits.total_max, Scope::kGlobal};
  }
  return std::nullopt;
}

}  // namespace cadastre::coord
