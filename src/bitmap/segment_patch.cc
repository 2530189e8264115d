#include "bitmap/segment_patch.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "base/bytes.h"
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

bool has_one_map(const SegmentView& view) noexcept {
  return view.portable().last_at() == PortableMaps::first_at();
}

// Whether form 2 would hold the changed set in no more bytes (B-13).
bool is_packed_after(const SegmentView& view,
                     const PortableMap& map,
                     std::size_t index,
                     const ContainerView& changed,
                     std::uint64_t cardinality,
                     std::size_t portable_bytes) noexcept {
  if (cardinality > kPackedIdsMax) return false;
  const Id first = index == 0 ? id_at(changed.chunk, min_slot(changed)) : view.min();
  const Id last = index + 1 == map.count() ? id_at(changed.chunk, max_slot(changed)) : view.max();
  return packed_bytes(cardinality, first, last) <= portable_bytes;
}

// The value with the bytes of container `index`, which begin at `at`, replaced.
ByteView compose(ByteView value,
                 const PortableMap& map,
                 std::size_t index,
                 std::size_t at,
                 std::size_t old_bytes,
                 const ContainerView& changed,
                 ValueBuffer& buffer) {
  const std::size_t size = value.size() - old_bytes + changed.bytes.size();
  const std::span<std::byte> out = buffer.take(size);
  const std::size_t behind = at + old_bytes;
  std::memcpy(out.data(), value.data(), at);
  std::memcpy(out.data() + at, changed.bytes.data(), changed.bytes.size());
  std::memcpy(out.data() + at + changed.bytes.size(), value.data() + behind,
              value.size() - kChecksumBytes - behind);
  std::byte* const front = out.data() + kOnlyMapAt;
  base::store_le(front + map.cardinality_at(index),
                 static_cast<std::uint16_t>(changed.cardinality - 1));
  // Unsigned arithmetic wraps where the container has become smaller.
  const auto moved = static_cast<std::uint32_t>(changed.bytes.size() - old_bytes);
  if (map.has_offsets() && moved != 0) {
    for (std::size_t i = index + 1; i < map.count(); ++i) {
      std::byte* const offset = front + map.offset_at(i);
      base::store_le(offset, base::load_le<std::uint32_t>(offset) + moved);
    }
  }
  seal(out);
  return out;
}

}  // namespace

Result<std::optional<SegmentPatch>, ValueFault> patch_segment(const SegmentView& view,
                                                              ByteView value,
                                                              Id id,
                                                              PatchOp op,
                                                              std::size_t limit_bytes,
                                                              ContainerBuffer& changed_bytes,
                                                              ValueBuffer& out) {
  if (view.form() != SegmentForm::kPortable || !view.is_sealed() || !has_one_map(view)) {
    return std::nullopt;
  }
  const PortableMap map = view.portable().map_at(PortableMaps::first_at());
  if (map.high() != id.value() >> kHighShift) return std::nullopt;
  const auto key = static_cast<std::uint16_t>(chunk_of(id));
  const std::size_t index = map.lower_bound(key);
  if (index == map.count() || map.key(index) != key) return std::nullopt;
  const std::size_t at = map.container_at(index);
  const ContainerView container = map.container(index, at);
  if (op == PatchOp::kRemove && container.cardinality == 1) return std::nullopt;

  CAD_TRY(validate(container));
  const ContainerView changed = op == PatchOp::kInsert
                                    ? insert_slot(container, slot_of(id), changed_bytes)
                                    : remove_slot(container, slot_of(id), changed_bytes);
  if (changed.kind != container.kind) return std::nullopt;
  const std::size_t size = value.size() - container.bytes.size() + changed.bytes.size();
  if (size > limit_bytes) return std::nullopt;
  const std::uint64_t cardinality =
      view.cardinality() - container.cardinality + changed.cardinality;
  if (is_packed_after(view, map, index, changed, cardinality, size - kFormBytes - kChecksumBytes)) {
    return std::nullopt;
  }
  return SegmentPatch{
      compose(value, map, index, kOnlyMapAt + at, container.bytes.size(), changed, out),
      cardinality, map.count()};
}

}  // namespace cadastre::bitmap
