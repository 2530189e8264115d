// Forms of a segment's value: its first byte, and the checksum behind those that have one (B-15).
//
//   01  portable roaring            81  the same || u32_le checksum
//   02  packed ids                  82  the same || u32_le checksum
//
// The checksum is the low half of XXH3_64bits of everything before it. A table writes 81 and 82; 01
// and 02 are what import and export use, and are read wherever a segment is read.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/bytes.h"
#include "base/result.h"
#include "bitmap/faults.h"

namespace cadastre::bitmap {

enum class SegmentForm : std::uint8_t {
  kPortable = 1,
  kPacked = 2,
};
inline constexpr std::byte kSealedBit{0x80};

// How much of a value is checked before it is read. Reading stays inside the value either way.
enum class ReadCheck : std::uint8_t {
  kStructure,  // for point reads
  kChecksum,   // the checksum, if the form has one, and then the structure
};

// A value without its frame. Borrows.
struct SegmentPayload {
  SegmentForm form = SegmentForm::kPortable;
  bool is_sealed = false;
  base::ByteView bytes;
};

// kEmpty, kBadForm, kBadChecksum; kTruncated where a checksum that is not looked at has no room.
[[nodiscard]] base::Result<SegmentPayload, ValueFault> open_payload(base::ByteView value,
                                                                    ReadCheck check);

// Writes the checksum of all of `value` but its last four bytes into those.
void seal(std::span<std::byte> value) noexcept;

}  // namespace cadastre::bitmap
