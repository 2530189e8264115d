#include "coord/identity.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "base/bytes.h"
#include "base/xxh3.h"

namespace cadastre::coord {

std::string to_string(const ShardKey& key) {
  return "ShardKey { run: " + to_string(key.run) + ", shard: ShardId(" +
         std::to_string(key.shard.raw()) + ") }";
}

}  // namespace cadastre::coord

std::size_t std::hash<cadastre::coord::TenantId>::operator()(
    const cadastre::coord::TenantId& tenant) const noexcept {
  return cadastre::base::xxh3_64(tenant.as_bytes());
}

std::size_t std::hash<cadastre::coord::ShardKey>::operator()(
    const cadastre::coord::ShardKey& key) const noexcept {
  const std::array<std::uint64_t, 2> words{key.run.raw(), key.shard.raw()};
  return cadastre::base::xxh3_64(std::bit_cast<std::array<std::byte, 16>>(words));
}
