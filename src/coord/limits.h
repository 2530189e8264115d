// Every limit of the coordination protocol, and the relations between them.

#pragma once

#include <cstddef>
#include <cstdint>

#include "shard/limits.h"

namespace cadastre::coord {

using shard::kMaxInitialShards;
using shard::kMaxKeySize;
using shard::kMaxMetadataSize;
using shard::kMaxSpawnedPerShard;
using shard::kMaxSplitChildren;
using shard::kMaxTokenSize;
using shard::kOpLogCapacity;
using shard::kRunOpLogCapacity;

inline constexpr std::uint64_t kShardsPerTenantMax = 100'000;  // defaults; a backend may be told
inline constexpr std::uint64_t kShardsTotalMax = 1'000'000;    // others
inline constexpr std::size_t kRenewManyMax = 1024;             // leases of one renew_many
inline constexpr std::size_t kListLimitDefault = 1000;         // entries of one page

inline constexpr std::size_t kCodecFieldBytesMax = std::size_t{1} << 20;  // one byte field
inline constexpr std::uint64_t kSlabBytesPerShard = 4096;                 // of the automatic size
inline constexpr std::uint64_t kSlabBytesAutoMax = std::uint64_t{64} << 20;

static_assert(kMaxSplitChildren <= kShardsPerTenantMax, "a fresh tenant can split");
static_assert(kMaxInitialShards <= kShardsPerTenantMax, "a fresh tenant can register a manifest");
static_assert(kShardsPerTenantMax <= kShardsTotalMax);
static_assert(kMaxMetadataSize <= kCodecFieldBytesMax && kMaxTokenSize <= kCodecFieldBytesMax,
              "whatever is legal can be written");

}  // namespace cadastre::coord
