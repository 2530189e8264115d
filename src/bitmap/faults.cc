#include "bitmap/faults.h"

#include <string_view>

namespace cadastre::bitmap {

std::string_view name(KeyFault fault) noexcept {
  switch (fault) {
    case KeyFault::kTooLong: return "key too long";
    case KeyFault::kTruncated: return "key truncated";
    case KeyFault::kBadLength: return "bad key length";
    case KeyFault::kBadDescriptor: return "bad descriptor key";
  }
  return "unknown";
}

std::string_view name(ValueFault fault) noexcept {
  switch (fault) {
    case ValueFault::kEmpty: return "empty";
    case ValueFault::kBadForm: return "bad form";
    case ValueFault::kTruncated: return "truncated";
    case ValueFault::kTrailingBytes: return "trailing bytes";
    case ValueFault::kBadCookie: return "bad cookie";
    case ValueFault::kBadCount: return "bad count";
    case ValueFault::kUnorderedHigh: return "unordered high";
    case ValueFault::kUnorderedKey: return "unordered key";
    case ValueFault::kBadOffset: return "bad offset";
    case ValueFault::kUnorderedSlots: return "unordered slots";
    case ValueFault::kCardinalityDiffers: return "cardinality differs";
    case ValueFault::kBadRuns: return "bad runs";
    case ValueFault::kEmptyContainer: return "empty container";
    case ValueFault::kBadWidth: return "bad width";
    case ValueFault::kBadChecksum: return "bad checksum";
  }
  return "unknown";
}

std::string_view name(RecordFault fault) noexcept {
  switch (fault) {
    case RecordFault::kBadLength: return "bad length";
    case RecordFault::kBadMagic: return "bad magic";
    case RecordFault::kBadChecksum: return "bad checksum";
    case RecordFault::kUnsupported: return "unsupported";
    case RecordFault::kNotZero: return "reserved bytes not zero";
    case RecordFault::kOutOfRange: return "out of range";
  }
  return "unknown";
}

std::string_view name(PartitionFault fault) noexcept {
  switch (fault) {
    case PartitionFault::kFenceUnaligned: return "fence unaligned";
    case PartitionFault::kFirstFenceNotZero: return "first fence not zero";
    case PartitionFault::kIdOutsideInterval: return "id outside interval";
    case PartitionFault::kWrongShard: return "wrong shard";
    case PartitionFault::kOversize: return "oversize";
    case PartitionFault::kStatsDiffer: return "stats differ";
  }
  return "unknown";
}

}  // namespace cadastre::bitmap
