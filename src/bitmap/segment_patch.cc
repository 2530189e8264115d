#include "bitmap/segment_patch.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "base/endian.h"
#include "base/result.h"
#include "bitmap/container.h"
#include "bitmap/container_edit.h"
#include "bitmap/faults.h"
#include "bitmap/ids.h"
#include "bitmap/limits.h"
#include "bitmap/packed_ids.h"
#include "bitmap/portable_format.h"
#include "bitmap/segment_encode.h"
#include "bitmap/segment_form.h"
#include "bitmap/segment_view.h"

namespace cadastre::bitmap {
namespace {

constexpr std::size_t kFormBytes = 1;
constexpr unsigned kHighShift = 32;

// Of a value that has one bitmap, where that one begins.
constexpr std::size_t kOnlyMapAt = kFormBytes + kMapCountBytes + kMapHighBytes;

// A container of the value's only bitmap, and what becomes of it.
struct Change {
  PortableMap map;
  std::size_t index = 0;
  std::size_t at = 0;  // where the container begins, counted from the cookie
  ContainerView before;
  ContainerView after;

  [[nodiscard]] bool is_first() const noexcept { return index == 0; }
  [[nodiscard]] bool is_last() const noexcept { return index + 1 == map.count(); }
};

// The container of the id's chunk, if there is one that can be changed where it lies.
std::optional<Change> find_container(const SegmentView& view, Id id) noexcept {
  if (view.form() != SegmentForm::kPortable || !view.is_sealed()) return std::nullopt;
  if (view.portable().last_at() != PortableMaps::first_at()) return std::nullopt;
  Change change;
  change.map = view.portable().map_at(PortableMaps::first_at());
  if (change.map.high() != id.value() >> kHighShift) return std::nullopt;
  const auto key = static_cast<std::uint16_t>(chunk_of(id));
  change.index = change.map.lower_bound(key);
  if (change.index == change.map.count() || change.map.key(change.index) != key) {
    return std::nullopt;
  }
  change.at = change.map.container_at(change.index);
  change.before = change.map.container(change.index, change.at);
  return change;
}

// Whether form 2 would hold the changed set in no more bytes (B-13).
bool is_packed_after(const SegmentView& view,
                     const Change& change,
                     std::uint64_t cardinality,
                     std::size_t portable_bytes) noexcept {
  if (cardinality > kPackedIdsMax) return false;
  const ContainerView& after = change.after;
  const Id first = change.is_first() ? id_at(after.chunk, min_slot(after)) : view.min();
  const Id last = change.is_last() ? id_at(after.chunk, max_slot(after)) : view.max();
  return packed_bytes(cardinality, first, last) <= portable_bytes;
}

// The value with the container's bytes replaced, and what the front says of it and of those behind.
ByteView compose(ByteView value, const Change& change, std::span<std::byte> out) noexcept {
  const ByteView after = change.after.bytes;
  const std::size_t at = kOnlyMapAt + change.at;
  const std::size_t behind = at + change.before.bytes.size();
  std::memcpy(out.data(), value.data(), at);
  std::memcpy(out.data() + at, after.data(), after.size());
  std::memcpy(out.data() + at + after.size(), value.data() + behind,
              value.size() - kChecksumBytes - behind);
  std::byte* const front = out.data() + kOnlyMapAt;
  base::store_le(front + change.map.cardinality_at(change.index),
                 static_cast<std::uint16_t>(change.after.cardinality - 1));
  // Unsigned arithmetic wraps where the container has become smaller.
  const auto moved = static_cast<std::uint32_t>(after.size() - change.before.bytes.size());
  if (change.map.has_offsets() && moved != 0) {
    for (std::size_t i = change.index + 1; i < change.map.count(); ++i) {
      std::byte* const offset = front + change.map.offset_at(i);
      base::store_le(offset, base::load_le<std::uint32_t>(offset) + moved);
    }
  }
  seal(out);
  return out;
}

}  // namespace

Result<std::optional<SegmentPatch>, ValueFault> patch_segment(const PatchRequest& request,
                                                              const PatchBuffers& buffers) {
  auto change = find_container(request.view, request.id);
  if (!change) return std::nullopt;
  const ContainerView& before = change->before;
  if (request.op == PatchOp::kRemove && before.cardinality == 1) return std::nullopt;
  CAD_TRY(validate(before));
  change->after = request.op == PatchOp::kInsert
                      ? insert_slot(before, slot_of(request.id), buffers.changed)
                      : remove_slot(before, slot_of(request.id), buffers.changed);
  if (change->after.kind != before.kind) return std::nullopt;
  const std::size_t size = request.value.size() - before.bytes.size() + change->after.bytes.size();
  if (size > request.limit_bytes) return std::nullopt;
  const std::uint64_t cardinality =
      request.view.cardinality() - before.cardinality + change->after.cardinality;
  if (is_packed_after(request.view, *change, cardinality, size - kFormBytes - kChecksumBytes)) {
    return std::nullopt;
  }
  return SegmentPatch{compose(request.value, *change, buffers.out.take(size)), cardinality,
                      change->map.count()};
}

}  // namespace cadastre::bitmap
