#include "bitmap/segment_form.h"

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/bytes.h"
#include "base/endian.h"
#include "base/result.h"
#include "base/xxh3.h"
#include "bitmap/faults.h"
#include "bitmap/limits.h"

namespace cadastre::bitmap {
namespace {

std::uint32_t checksum(base::ByteView bytes) noexcept {
  return static_cast<std::uint32_t>(base::xxh3_64(bytes));
}

}  // namespace

base::Result<SegmentPayload, ValueFault> open_payload(base::ByteView value, ReadCheck check) {
  if (value.empty()) return base::fail(ValueFault::kEmpty);
  SegmentPayload payload;
  const std::byte form = value.front() & ~kSealedBit;
  if (form != std::byte{1} && form != std::byte{2}) return base::fail(ValueFault::kBadForm);
  payload.form = static_cast<SegmentForm>(form);
  payload.is_sealed = (value.front() & kSealedBit) == kSealedBit;
  payload.bytes = value.subspan(1);
  if (!payload.is_sealed) return payload;

  const bool has_room = payload.bytes.size() >= kChecksumBytes;
  if (check == ReadCheck::kChecksum) {
    if (!has_room) return base::fail(ValueFault::kBadChecksum);
    const base::ByteView summed = value.first(value.size() - kChecksumBytes);
    const auto stored = base::load_le<std::uint32_t>(summed.data() + summed.size());
    if (stored != checksum(summed)) return base::fail(ValueFault::kBadChecksum);
  }
  if (!has_room) return base::fail(ValueFault::kTruncated);
  payload.bytes = payload.bytes.first(payload.bytes.size() - kChecksumBytes);
  return payload;
}

void seal(std::span<std::byte> value) noexcept {
  const auto summed = value.first(value.size() - kChecksumBytes);
  base::store_le(summed.data() + summed.size(), checksum(summed));
}

}  // namespace cadastre::bitmap
