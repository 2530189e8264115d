#include "bitmap/packed_ids.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>

#include "base/bytes.h"
#include "base/endian.h"
#include "base/result.h"
#include "bitmap/faults.h"
#include "bitmap/ids.h"

namespace cadastre::bitmap {
namespace {

constexpr std::size_t kWordBytes = sizeof(std::uint64_t);
constexpr std::size_t kCountAt = 1;
constexpr std::size_t kFirstAt = 3;
constexpr unsigned kByteBits = 8;

}  // namespace

unsigned packed_width(std::uint64_t difference) noexcept {
  return (static_cast<unsigned>(std::bit_width(difference)) + kByteBits - 1) / kByteBits;
}

std::size_t packed_bytes(std::uint64_t count, Id first, Id last) noexcept {
  return kPackedHeaderBytes +
         static_cast<std::size_t>(count - 1) * packed_width(last.value() - first.value());
}

void write_packed(std::byte* to, std::span<const Id> ids) noexcept {
  const std::uint64_t first = ids.front().value();
  const unsigned width = packed_width(ids.back().value() - first);
  to[0] = static_cast<std::byte>(width);
  base::store_le(to + kCountAt, static_cast<std::uint16_t>(ids.size()));
  base::store_le(to + kFirstAt, first);
  std::byte* at = to + kPackedHeaderBytes;
  const std::byte* const end = at + (ids.size() - 1) * width;
  std::size_t i = 1;
  // Whole words while there is room for them: what they write behind a difference, the next one
  // writes over.
  for (; static_cast<std::size_t>(end - at) >= kWordBytes; ++i, at += width)
    base::store_le(at, ids[i].value() - first);
  for (; i < ids.size(); ++i, at += width) {
    std::uint64_t word = 0;
    base::store_le(reinterpret_cast<std::byte*>(&word), ids[i].value() - first);
    std::memcpy(at, &word, width);
  }
}

base::Result<PackedIds, ValueFault> PackedIds::parse(base::ByteView payload) {
  if (payload.size() < kPackedHeaderBytes) return base::fail(ValueFault::kTruncated);
  PackedIds ids;
  ids.width_ = std::to_integer<unsigned>(payload[0]);
  ids.count_ = base::load_le<std::uint16_t>(&payload[kCountAt]);
  ids.first_ = base::load_le<std::uint64_t>(&payload[kFirstAt]);
  ids.differences_ = payload.subspan(kPackedHeaderBytes);
  if (ids.count_ == 0) return base::fail(ValueFault::kBadCount);
  if (ids.width_ > kPackedWidthMax) return base::fail(ValueFault::kBadWidth);
  if ((ids.width_ == 0) != (ids.count_ == 1)) return base::fail(ValueFault::kBadWidth);
  const std::size_t bytes = (ids.count_ - 1) * ids.width_;
  if (ids.differences_.size() < bytes) return base::fail(ValueFault::kTruncated);
  if (ids.differences_.size() > bytes) return base::fail(ValueFault::kTrailingBytes);
  const std::uint64_t span = ids.difference_at(ids.count_ - 1);
  if (packed_width(span) != ids.width_) return base::fail(ValueFault::kBadWidth);
  if (span > std::numeric_limits<std::uint64_t>::max() - ids.first_) {
    return base::fail(ValueFault::kUnorderedSlots);
  }
  return ids;
}

std::size_t PackedIds::lower_bound(Id id) const noexcept {
  if (id.value() <= first_) return 0;
  const std::uint64_t wanted = id.value() - first_;
  std::size_t first = 1;
  std::size_t left = count_ - 1;
  while (left > 0) {
    const std::size_t half = left / 2;
    const bool is_less = difference_at(first + half) < wanted;
    first += is_less ? half + 1 : 0;
    left = is_less ? left - half - 1 : half;
  }
  return first;
}

std::size_t PackedIds::chunk_end(std::size_t index) const noexcept {
  const std::uint64_t chunk = chunk_of(id_at(index));
  do {
    ++index;
  } while (index < count_ && chunk_of(id_at(index)) == chunk);
  return index;
}

base::Result<void, ValueFault> PackedIds::decode(std::span<Id> out) const {
  out[0] = Id{first_};
  std::uint64_t before = 0;
  std::uint64_t wrong = 0;
  for (std::size_t i = 1; i < count_; ++i) {
    const std::uint64_t difference = difference_at(i);
    wrong += difference <= before ? 1 : 0;
    before = difference;
    out[i] = Id{first_ + difference};
  }
  if (wrong != 0) return base::fail(ValueFault::kUnorderedSlots);
  return {};
}

base::Result<void, ValueFault> PackedIds::check_order() const {
  std::uint64_t before = 0;
  std::uint64_t wrong = 0;
  for (std::size_t i = 1; i < count_; ++i) {
    const std::uint64_t difference = difference_at(i);
    wrong += difference <= before ? 1 : 0;
    before = difference;
  }
  if (wrong != 0) return base::fail(ValueFault::kUnorderedSlots);
  return {};
}

}  // namespace cadastre::bitmap
