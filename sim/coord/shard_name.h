// Names across tenants: which tenant, by its place in the simulation, then run and shard.

#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "coord/identity.h"

namespace cadastre::sim {

// Tenant i has 32 bytes of i + 1.
[[nodiscard]] inline coord::TenantId tenant_number(std::size_t index) noexcept {
  coord::TenantId::Bytes bytes{};
  bytes.fill(static_cast<std::byte>(index + 1));
  return coord::TenantId::from_bytes(bytes);
}
[[nodiscard]] inline std::size_t number_of(const coord::TenantId& tenant) noexcept {
  return std::to_integer<std::size_t>(tenant.as_bytes()[0]) - 1;
}

struct RunName {
  std::size_t tenant = 0;
  coord::RunId run;

  friend auto operator<=>(const RunName&, const RunName&) = default;
};

struct ShardName {
  std::size_t tenant = 0;
  coord::RunId run;
  coord::ShardId shard;

  [[nodiscard]] RunName run_name() const noexcept { return {tenant, run}; }
  [[nodiscard]] coord::ShardKey key() const noexcept { return {run, shard}; }

  friend auto operator<=>(const ShardName&, const ShardName&) = default;
};

[[nodiscard]] inline ShardName shard_name(const coord::TenantId& tenant,
                                          const coord::ShardKey& key) noexcept {
  return {number_of(tenant), key.run, key.shard};
}

}  // namespace cadastre::sim

template <>
struct std::hash<cadastre::sim::ShardName> {
  std::size_t operator()(const cadastre::sim::ShardName& name) const noexcept {
    const std::uint64_t mixed = name.shard.raw() * 0x9e3779b97f4a7c15U + name.run.raw() * 31U;
    return mixed ^ mixed >> 29U ^ name.tenant;
  }
};
