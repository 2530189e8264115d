// Faults: what exactly is wrong with stored bytes, one enum for each layer (3.9).
//
// A fault is for whoever looks for the damage. The table translates it at its boundary into one of
// the few errors its callers act on, and keeps the fault in the detail.

#pragma once

#include <cstdint>
#include <string_view>

namespace cadastre::bitmap {

// A key.
enum class KeyFault : std::uint8_t {
  kTooLong,        // The base key exceeds kBaseKeyBytesMax: the one fault a caller can cause.
  kTruncated,      // Ends before the base key does.
  kBadLength,      // What follows the base key is of no record's length.
  kBadDescriptor,  // Begins as the descriptor's key and is another.
};

// A segment's value.
enum class ValueFault : std::uint8_t {
  kEmpty,
  kBadForm,  // The one fault that a newer release may explain.
  kTruncated,
  kTrailingBytes,
  kBadCookie,
  kBadCount,
  kUnorderedHigh,
  kUnorderedKey,
  kBadOffset,
  kUnorderedSlots,
  kCardinalityDiffers,
  kBadRuns,
  kEmptyContainer,
  kBadWidth,
  kBadChecksum,
};

// The descriptor or a statistics record.
enum class RecordFault : std::uint8_t {
  kBadLength,
  kBadMagic,
  kBadChecksum,
  kUnsupported,  // A layout, version, flag or hash of a newer release.
  kNotZero,      // A reserved byte is in use.
  kOutOfRange,   // A setting that no table can have.
};

// A segment in its place.
enum class PartitionFault : std::uint8_t {
  kFenceUnaligned,
  kFirstFenceNotZero,
  kIdOutsideInterval,
  kWrongShard,
  kOversize,
  kStatsDiffer,
};

[[nodiscard]] std::string_view name(KeyFault fault) noexcept;
[[nodiscard]] std::string_view name(ValueFault fault) noexcept;
[[nodiscard]] std::string_view name(RecordFault fault) noexcept;
[[nodiscard]] std::string_view name(PartitionFault fault) noexcept;

}  // namespace cadastre::bitmap
