// Limits of bitmap tables (B-18 to B-20). Those that stored bytes depend on are constants of the
// format, the same on every backend.

#pragma once

#include <cstddef>
#include <cstdint>

namespace cadastre::bitmap {

// ---- Keys ------------------------------------------------------------------------------------

inline constexpr std::size_t kStoredKeyBytesMax = 511;  // What LMDB as packaged takes (B-18).
inline constexpr std::size_t kSegmentKeyExtraBytes = 14;
inline constexpr std::size_t kBaseKeyBytesMax = 497;
static_assert(kBaseKeyBytesMax + kSegmentKeyExtraBytes == kStoredKeyBytesMax,
              "the longest base key makes the longest stored key");

// ---- Values ----------------------------------------------------------------------------------

inline constexpr std::size_t kContainerBytesMax = 8192;
inline constexpr std::uint32_t kArrayCardinalityMax = 4096;
static_assert(kArrayCardinalityMax * sizeof(std::uint16_t) == kContainerBytesMax,
              "an array is never larger than a bitset");
inline constexpr std::uint32_t kSlotsPerChunk = 65536;
inline constexpr std::size_t kPackedIdsMax = 65535;

// The largest value that holds one chunk: form 81 with a bitset. Such a value may exceed S (I-5).
inline constexpr std::size_t kOneChunkBytesMax = 8225;
inline constexpr std::size_t kPortableFrameBytes = 29;  // Form byte and headers of one container.
inline constexpr std::size_t kChecksumBytes = 4;
static_assert(kPortableFrameBytes + kContainerBytesMax + kChecksumBytes == kOneChunkBytesMax,
              "frame, bitset, checksum");

// ---- Settings (2.7) --------------------------------------------------------------------------

inline constexpr std::uint16_t kShardCountMin = 1;
inline constexpr std::uint8_t kShardGrainBitsMax = 48;
inline constexpr std::uint32_t kSegmentBytesDefault = 16368;
inline constexpr std::uint32_t kSegmentBytesLeast = 1024;
inline constexpr std::uint32_t kSegmentBytesMost = 1048560;
inline constexpr unsigned kBulkFillPercentDefault = 90;
inline constexpr unsigned kBulkFillPercentLeast = 50;
inline constexpr unsigned kBulkFillPercentMost = 100;

// ---- Work (B-20) -----------------------------------------------------------------------------

inline constexpr std::size_t kBatchIdsMax = std::size_t{1} << 20;  // Longer inputs go in several.
inline constexpr std::size_t kOperandsMax = 256;                   // Of one set operation.
inline constexpr std::uint64_t kRangeChunksMax = std::uint64_t{1} << 20;  // Of one insert_range.
inline constexpr std::size_t kScratchBytes = 2 * kContainerBytesMax;      // Of one stream node.

}  // namespace cadastre::bitmap
