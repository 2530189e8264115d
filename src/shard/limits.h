// Every limit of the shard algebra, and the relations between them that other code relies on.

#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace cadastre::shard {

inline constexpr std::size_t kMaxKeySize = 4096;          // range bounds, cursor keys, prefixes
inline constexpr std::size_t kMaxMetadataSize = 16384;    // a spec's metadata, envelope included
inline constexpr std::size_t kMaxTokenSize = 16384;       // a cursor's resume token
inline constexpr std::size_t kMaxInitialShards = 10000;   // entries of one manifest
inline constexpr std::size_t kMaxSplitChildren = 256;     // children of one split or bulk split
inline constexpr std::size_t kMaxSpawnedPerShard = 1024;  // children and residuals over a life
inline constexpr std::size_t kKeyBufCapacity =
    kMaxKeySize + 1;                                 // one more, so that an overrun shows
inline constexpr std::size_t kBuilderMaxCap = 1024;  // template capacity of the builder
inline constexpr std::size_t kManifestRowKeySize = 16;

inline constexpr std::uint8_t kHintTagRange = 0x00;  // On the wire: never renumber.
inline constexpr std::uint8_t kHintTagPrefix = 0x01;
inline constexpr std::uint8_t kHintTagManifest = 0x02;
inline constexpr std::size_t kPrefixHintHeader = 5;   // tag, u32 length
inline constexpr std::size_t kManifestHintSize = 25;  // tag, three u64
inline constexpr std::size_t kEnvelopeHeader = 4;     // u32 hint length

inline constexpr std::size_t kOpLogCapacity = 16;
inline constexpr std::size_t kRunOpLogCapacity = 8;
inline constexpr std::uint64_t kDerivedShardBit = std::uint64_t{1} << 63;
inline constexpr std::size_t kTupleDepthMax = 8;  // nesting of a TupleKey

static_assert(2 <= kMaxSplitChildren, "a split makes at least two children");
static_assert(kMaxSplitChildren <= kMaxSpawnedPerShard, "one full split fits a parent's life");
static_assert(kMaxSpawnedPerShard <= 65535, "spawn counts are stored in 16 bits");
static_assert(kMaxInitialShards > 0);
static_assert(kBuilderMaxCap <= kMaxInitialShards, "whatever a builder holds is a legal manifest");
static_assert(kEnvelopeHeader + kPrefixHintHeader + kMaxKeySize <= kMaxMetadataSize,
              "any legal prefix fits an envelope");
static_assert(std::has_single_bit(kOpLogCapacity) && std::has_single_bit(kRunOpLogCapacity),
              "ring buffers index by mask");

}  // namespace cadastre::shard
