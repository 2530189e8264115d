#include "bitmap/segment_view.h"

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "base/result.h"
#include "bitmap/container.h"
#include "bitmap/container_bytes.h"
#include "bitmap/faults.h"
#include "bitmap/ids.h"
#include "bitmap/limits.h"
#include "bitmap/packed_ids.h"
#include "bitmap/portable_format.h"
#include "bitmap/segment_form.h"

namespace cadastre::bitmap {
namespace {

constexpr unsigned kHighBits = 16;  // of a chunk, above the key inside its bitmap

std::uint16_t key_of(std::uint64_t chunk) noexcept {
  return static_cast<std::uint16_t>(chunk);
}

// Packed ids [first, last), of one chunk, as an array or a bitset in `buffer`.
ContainerView unpack(const PackedIds& ids,
                     std::size_t first,
                     std::size_t last,
                     ContainerBuffer& buffer) noexcept {
  const std::uint64_t chunk = chunk_of(ids.id_at(first));
  const auto count = static_cast<std::uint32_t>(last - first);
  if (count <= kArrayCardinalityMax) {
    for (std::size_t i = first; i < last; ++i)
      put_slot(buffer, i - first, slot_of(ids.id_at(i)));
    return array_in(buffer, chunk, count);
  }
  clear_words(buffer);
  for (std::size_t i = first; i < last; ++i)
    put_bit(buffer, slot_of(ids.id_at(i)));
  return {chunk, count, ContainerKind::kBitset, ByteView(buffer.bytes)};
}

// A container's place in a payload of form 1.
struct Place {
  std::size_t map_at = 0;
  PortableMap map{};
  std::size_t index = 0;
};

// The first container whose chunk is not less, or nothing.
std::optional<Place> find(const PortableMaps& maps, std::uint64_t chunk) noexcept {
  for (std::size_t at = PortableMaps::first_at(); at < maps.end_at();) {
    Place place{.map_at = at, .map = maps.map_at(at)};
    const std::uint64_t high = place.map.high();
    if (high > chunk >> kHighBits) return place;
    if (high == chunk >> kHighBits) {
      place.index = place.map.lower_bound(key_of(chunk));
      if (place.index < place.map.count()) return place;
    }
    at = PortableMaps::next_at(at, place.map);
  }
  return std::nullopt;
}

// The last container whose chunk is not greater, or nothing.
std::optional<Place> find_floor(const PortableMaps& maps, std::uint64_t chunk) noexcept {
  std::optional<Place> found;
  for (std::size_t at = PortableMaps::first_at(); at < maps.end_at();) {
    Place place{.map_at = at, .map = maps.map_at(at)};
    const std::uint64_t high = place.map.high();
    if (high > chunk >> kHighBits) break;
    std::size_t not_greater = place.map.count();
    if (high == chunk >> kHighBits) {
      not_greater = place.map.lower_bound(key_of(chunk));
      if (not_greater < place.map.count() && place.map.chunk(not_greater) == chunk) ++not_greater;
    }
    at = PortableMaps::next_at(at, place.map);
    if (not_greater == 0) break;
    place.index = not_greater - 1;
    found = place;
  }
  return found;
}

}  // namespace

Result<SegmentView, ValueFault> SegmentView::open(ByteView value, ReadCheck check) {
  SegmentView view;
  view.payload_ = CAD_TRY(open_payload(value, check));
  switch (view.payload_.form) {
    case SegmentForm::kPacked:
      view.packed_ = CAD_TRY(PackedIds::parse(view.payload_.bytes));
      view.cardinality_ = view.packed_.count();
      break;
    case SegmentForm::kPortable:
      view.portable_ = CAD_TRY(PortableMaps::parse(view.payload_.bytes, EmptyMaps::kRefused));
      view.cardinality_ = view.portable_.cardinality();
      break;
  }
  return view;
}

bool SegmentView::contains(Id id) const noexcept {
  if (form() == SegmentForm::kPacked) {
    const std::size_t at = packed_.lower_bound(id);
    return at < packed_.count() && packed_.id_at(at) == id;
  }
  const auto place = find(portable_, chunk_of(id));
  if (!place || place->map.chunk(place->index) != chunk_of(id)) return false;
  return bitmap::contains(place->map.container(place->index), slot_of(id));
}

std::uint64_t SegmentView::rank(Id id) const noexcept {
  if (form() == SegmentForm::kPacked) {
    const std::size_t at = packed_.lower_bound(id);
    const bool is_here = at < packed_.count() && packed_.id_at(at) == id;
    return at + (is_here ? 1 : 0);
  }
  std::uint64_t before = 0;
  for (std::size_t at = PortableMaps::first_at(); at < portable_.end_at();) {
    const PortableMap map = portable_.map_at(at);
    for (std::size_t i = 0; i < map.count(); ++i) {
      if (map.chunk(i) > chunk_of(id)) return before;
      if (map.chunk(i) == chunk_of(id)) return before + bitmap::rank(map.container(i), slot_of(id));
      before += map.cardinality(i);
    }
    at = PortableMaps::next_at(at, map);
  }
  return before;
}

std::optional<Id> SegmentView::select(std::uint64_t index) const noexcept {
  if (index >= cardinality_) return std::nullopt;
  if (form() == SegmentForm::kPacked) return packed_.id_at(index);
  for (std::size_t at = PortableMaps::first_at(); at < portable_.end_at();) {
    const PortableMap map = portable_.map_at(at);
    for (std::size_t i = 0; i < map.count(); ++i) {
      if (index < map.cardinality(i)) {
        const auto slot = bitmap::select(map.container(i), static_cast<std::uint32_t>(index));
        if (!slot) return std::nullopt;
        return id_at(map.chunk(i), *slot);
      }
      index -= map.cardinality(i);
    }
    at = PortableMaps::next_at(at, map);
  }
  return std::nullopt;
}

Id SegmentView::min() const noexcept {
  if (form() == SegmentForm::kPacked) return packed_.first();
  const PortableMap map = portable_.map_at(PortableMaps::first_at());
  return id_at(map.chunk(0), min_slot(map.container(0)));
}

Id SegmentView::max() const noexcept {
  if (form() == SegmentForm::kPacked) return packed_.last();
  const PortableMap map = portable_.map_at(portable_.last_at());
  const std::size_t last = map.count() - 1;
  return id_at(map.chunk(last), max_slot(map.container(last)));
}

std::size_t SegmentView::container_count() const noexcept {
  if (form() == SegmentForm::kPortable) return portable_.container_count();
  std::size_t count = 0;
  for (std::size_t at = 0; at < packed_.count(); ++count)
    at = packed_.chunk_end(at);
  return count;
}

ContainerIterator SegmentView::begin() const noexcept {
  return seek(0);
}

ContainerIterator SegmentView::seek(std::uint64_t chunk) const noexcept {
  ContainerIterator it;
  if (chunk > kChunkMax) return it;
  it.form_ = form();
  if (form() == SegmentForm::kPacked) {
    it.packed_ = packed_;
    it.next_id_ = chunk == 0 ? 0 : packed_.lower_bound(fence_at(chunk));
    it.show_packed();
    return it;
  }
  const auto place = find(portable_, chunk);
  if (!place) return it;
  it.portable_ = portable_;
  it.map_at_ = place->map_at;
  it.map_ = place->map;
  it.container_ = place->index;
  it.container_at_ = place->map.container_at(place->index);
  it.show_portable();
  return it;
}

std::optional<ContainerView> SegmentView::floor(std::uint64_t chunk,
                                                ContainerBuffer& buffer) const noexcept {
  if (form() == SegmentForm::kPortable) {
    const auto place = find_floor(portable_, chunk);
    if (!place) return std::nullopt;
    return place->map.container(place->index);
  }
  const std::size_t end =
      chunk >= kChunkMax ? packed_.count() : packed_.lower_bound(fence_at(chunk + 1));
  if (end == 0) return std::nullopt;
  const std::uint64_t found = chunk_of(packed_.id_at(end - 1));
  const std::size_t first = packed_.lower_bound(fence_at(found));
  if (first >= end) return std::nullopt;  // Ids out of order.
  return unpack(packed_, first, packed_.chunk_end(first), buffer);
}

Result<void, ValueFault> SegmentView::check_contents() const {
  if (form() == SegmentForm::kPacked) return packed_.check_order();
  for (auto it = begin(); it != end(); ++it)
    CAD_TRY(validate(*it));
  return {};
}

ContainerView ContainerIterator::operator*() const noexcept {
  ContainerView shown = current_;
  if (form_ == SegmentForm::kPacked)
    shown.bytes = ByteView(buffer_.bytes).first(shown.bytes.size());
  return shown;
}

ContainerIterator& ContainerIterator::operator++() noexcept {
  if (form_ == SegmentForm::kPacked) {
    show_packed();
    return *this;
  }
  container_at_ += current_.bytes.size();
  ++container_;
  if (container_ == map_.count()) {
    map_at_ = PortableMaps::next_at(map_at_, map_);
    if (map_at_ >= portable_.end_at()) {
      at_end_ = true;
      return *this;
    }
    map_ = portable_.map_at(map_at_);
    container_ = 0;
    container_at_ = map_.container_at(0);
  }
  show_portable();
  return *this;
}

void ContainerIterator::show_packed() noexcept {
  at_end_ = next_id_ >= packed_.count();
  if (at_end_) return;
  const std::size_t first = next_id_;
  next_id_ = packed_.chunk_end(first);
  current_ = unpack(packed_, first, next_id_, buffer_);
}

void ContainerIterator::show_portable() noexcept {
  at_end_ = false;
  current_ = map_.container(container_, container_at_);
}

}  // namespace cadastre::bitmap
