#include "bitmap/segment_edit.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "base/result.h"
#include "bitmap/chunked_ids.h"
#include "bitmap/container.h"
#include "bitmap/container_convert.h"
#include "bitmap/container_edit.h"
#include "bitmap/container_ops.h"
#include "bitmap/cut_plan.h"
#include "bitmap/faults.h"
#include "bitmap/form_choice.h"
#include "bitmap/ids.h"
#include "bitmap/limits.h"
#include "bitmap/packed_ids.h"
#include "bitmap/portable_format.h"
#include "bitmap/segment_encode.h"
#include "bitmap/segment_form.h"
#include "bitmap/segment_patch.h"
#include "bitmap/segment_size.h"
#include "bitmap/segment_view.h"

namespace cadastre::bitmap {
namespace {

std::size_t count_chunks(std::span<const Id> sorted) noexcept {
  if (sorted.empty()) return 0;
  std::size_t count = 1;
  for (std::size_t i = 1; i < sorted.size(); ++i)
    count += chunk_of(sorted[i]) == chunk_of(sorted[i - 1]) ? 0 : 1;
  return count;
}

// The part of a range that lies in a chunk, which it touches.
Run slots_in(IdRange range, std::uint64_t chunk) noexcept {
  constexpr std::uint16_t kLastSlot = kSlotsPerChunk - 1;
  return {chunk == chunk_of(range.first) ? slot_of(range.first) : std::uint16_t{0},
          chunk == chunk_of(range.last) ? slot_of(range.last) : kLastSlot};
}

unsigned width_of(std::span<const Id> sorted) noexcept {
  return sorted.empty() ? 0 : packed_width(sorted.back().value() - sorted.front().value());
}

}  // namespace

SegmentEdit::SegmentEdit() = default;

void SegmentEdit::clear() noexcept {
  content_ = Content::kIds;
  patched_ = {};
  ids_.clear();
  containers_.clear();
  arena_.clear();
  chunk_count_ = 0;
  cardinality_ = 0;
  loaded_cardinality_ = 0;
  size_bytes_ = 0;
  emitted_count_ = 0;
}

// ---- Loading ---------------------------------------------------------------------------------

Result<void, ValueFault> SegmentEdit::load(ByteView value) {
  clear();
  const SegmentView view = CAD_TRY(SegmentView::open(value));
  return load(view);
}

Result<void, ValueFault> SegmentEdit::load(const SegmentView& view) {
  clear();
  auto gathered = gather(view);
  if (!gathered) {
    clear();
    return gathered;
  }
  settle(view.is_sealed() ? PortableMayWin::kNo : PortableMayWin::kYes);
  loaded_cardinality_ = cardinality_;
  return {};
}

// The content of a value behind what is there, which has lower chunks only or none.
Result<void, ValueFault> SegmentEdit::gather(const SegmentView& view) {
  if (view.form() == SegmentForm::kPortable) return gather_portable(view);
  if (content_ == Content::kIds) {
    const std::size_t before = ids_.size();
    ids_.resize(before + view.packed().count());
    return view.packed().decode(std::span(ids_).subspan(before));
  }
  ids_.resize(view.packed().count());
  CAD_TRY(view.packed().decode(ids_));
  ChunkedIds chunks(ids_);
  while (const auto container = chunks.next())
    containers_.push_back(keep_canonical(*container));
  return {};
}

Result<void, ValueFault> SegmentEdit::gather_portable(const SegmentView& view) {
  hold_containers();
  const PortableMaps& maps = view.portable();
  for (std::size_t map_at = PortableMaps::first_at(); map_at < maps.end_at();) {
    const PortableMap map = maps.map_at(map_at);
    std::size_t at = map.container_at(0);
    for (std::size_t i = 0; i < map.count(); ++i) {
      const ContainerView container = map.container(i, at);
      at += container.bytes.size();
      containers_.push_back(CAD_TRY(adopt(container, view.is_sealed())));
    }
    map_at = PortableMaps::next_at(map_at, map);
  }
  return {};
}

Result<ContainerView, ValueFault> SegmentEdit::adopt(const ContainerView& container,
                                                     bool is_sealed) {
  CAD_TRY(validate(container));
  // What a table has sealed is canonical; that runs are is cheap to see anyway.
  if (is_sealed && container.kind != ContainerKind::kRun) return container;
  const ContainerView stored = canonical(container, converted_);
  return stored.bytes.data() == container.bytes.data() ? stored : arena_.keep(stored);
}

ContainerView SegmentEdit::keep_canonical(const ContainerView& container) {
  return arena_.keep(canonical(container, converted_));
}

void SegmentEdit::hold_containers() {
  if (content_ == Content::kContainers) return;
  CAD_CHECK(content_ == Content::kIds, "a patched value is taken as a whole");
  content_ = Content::kContainers;
  containers_.clear();
  ChunkedIds chunks(ids_);
  while (const auto container = chunks.next())
    containers_.push_back(keep_canonical(*container));
}

// ---- Settling --------------------------------------------------------------------------------

void SegmentEdit::settle(PortableMayWin may_win) {
  if (content_ == Content::kContainers) return settle_containers();
  chunk_count_ = count_chunks(ids_);
  settle_ids(may_win);
}

void SegmentEdit::settle_ids(PortableMayWin may_win) {
  cardinality_ = ids_.size();
  size_bytes_ = 0;
  if (ids_.empty()) return;
  const std::size_t packed = packed_bytes(ids_.size(), ids_.front(), ids_.back());
  size_bytes_ = kFrameBytes + packed;
  const bool too_many = ids_.size() > kPackedIdsMax;
  const bool may_be_less =
      may_win == PortableMayWin::kYes && portable_bytes_least(chunk_count_) < packed;
  if (!too_many && !may_be_less) return;
  const std::size_t portable = portable_bytes(ids_);
  if (!too_many && packed <= portable) return;  // B-13
  size_bytes_ = kFrameBytes + portable;
  hold_containers();
}

void SegmentEdit::settle_containers() {
  SegmentSize size;
  for (const ContainerView& container : containers_)
    size.add(container);
  cardinality_ = size.cardinality();
  size_bytes_ = containers_.empty() ? 0 : size.bytes();
}

Effect SegmentEdit::effect_since(std::uint64_t cardinality) const noexcept {
  if (cardinality_ == cardinality) return Effect::kUnchanged;
  return empty() ? Effect::kEmptied : Effect::kChanged;
}

// ---- One id ----------------------------------------------------------------------------------

Result<Effect, ValueFault> SegmentEdit::load_and_insert(ByteView value, Id id) {
  return insert_within(value, id, 0);
}

Result<Effect, ValueFault> SegmentEdit::load_and_remove(ByteView value, Id id) {
  return remove_within(value, id, 0);
}

Result<Effect, ValueFault> SegmentEdit::insert_within(ByteView value,
                                                      Id id,
                                                      std::size_t limit_bytes) {
  clear();
  const SegmentView view = CAD_TRY(SegmentView::open(value));
  if (view.contains(id)) return Effect::kUnchanged;
  if (CAD_TRY(patch(view, value, id, PatchOp::kInsert, limit_bytes))) return Effect::kChanged;
  CAD_TRY(load(view));
  return insert(id);
}

Result<Effect, ValueFault> SegmentEdit::remove_within(ByteView value,
                                                      Id id,
                                                      std::size_t limit_bytes) {
  clear();
  const SegmentView view = CAD_TRY(SegmentView::open(value));
  if (!view.contains(id)) return Effect::kUnchanged;
  if (CAD_TRY(patch(view, value, id, PatchOp::kRemove, limit_bytes))) return Effect::kChanged;
  CAD_TRY(load(view));
  return remove(id);
}

Result<bool, ValueFault> SegmentEdit::patch(
    const SegmentView& view, ByteView value, Id id, PatchOp op, std::size_t limit_bytes) {
  if (limit_bytes == 0) return false;  // No value is that short.
  if (emitted_.empty()) emitted_.emplace_back();
  const auto patch =
      CAD_TRY(patch_segment({view, value, id, op, limit_bytes}, {result_, emitted_.front()}));
  if (!patch) return false;
  emitted_count_ = 1;
  content_ = Content::kPatched;
  patched_ = patch->value;
  chunk_count_ = patch->container_count;
  loaded_cardinality_ = view.cardinality();
  cardinality_ = patch->cardinality;
  size_bytes_ = patched_.size();
  return true;
}

Effect SegmentEdit::insert(Id id) {
  CAD_CHECK(content_ != Content::kPatched, "a patched value is taken as a whole");
  return content_ == Content::kIds ? insert_id(id) : insert_slot_of(id);
}

Effect SegmentEdit::remove(Id id) {
  CAD_CHECK(content_ != Content::kPatched, "a patched value is taken as a whole");
  return content_ == Content::kIds ? remove_id(id) : remove_slot_of(id);
}

Effect SegmentEdit::insert_id(Id id) {
  const auto at = std::ranges::lower_bound(ids_, id);
  if (at != ids_.end() && *at == id) return Effect::kUnchanged;
  const Surroundings found = surroundings({ids_.begin(), at}, {at, ids_.end()}, id);
  const unsigned width = width_of(ids_);
  ids_.insert(at, id);
  chunk_count_ += found.shares_chunk ? 0 : 1;
  const bool may_win = width_of(ids_) > width || portable_may_overtake(found, width, ids_.size());
  settle_ids(may_win ? PortableMayWin::kYes : PortableMayWin::kNo);
  return Effect::kChanged;
}

Effect SegmentEdit::remove_id(Id id) {
  const auto at = std::ranges::lower_bound(ids_, id);
  if (at == ids_.end() || *at != id) return Effect::kUnchanged;
  const Surroundings found = surroundings({ids_.begin(), at}, {at + 1, ids_.end()}, id);
  ids_.erase(at);
  chunk_count_ -= found.shares_chunk ? 0 : 1;
  settle_ids(PortableMayWin::kYes);
  return empty() ? Effect::kEmptied : Effect::kChanged;
}

std::size_t SegmentEdit::find(std::uint64_t chunk) const noexcept {
  const auto at = std::ranges::lower_bound(containers_, chunk, {}, &ContainerView::chunk);
  return static_cast<std::size_t>(at - containers_.begin());
}

Effect SegmentEdit::insert_slot_of(Id id) {
  const std::size_t at = find(chunk_of(id));
  if (at == containers_.size() || containers_[at].chunk != chunk_of(id)) {
    const ContainerView alone = arena_.keep(from_ids({&id, 1}, result_));
    containers_.insert(containers_.begin() + static_cast<std::ptrdiff_t>(at), alone);
  } else {
    if (contains(containers_[at], slot_of(id))) return Effect::kUnchanged;
    containers_[at] = arena_.keep(insert_slot(containers_[at], slot_of(id), result_));
  }
  settle_containers();
  return Effect::kChanged;
}

Effect SegmentEdit::remove_slot_of(Id id) {
  const std::size_t at = find(chunk_of(id));
  if (at == containers_.size() || containers_[at].chunk != chunk_of(id) ||
      !contains(containers_[at], slot_of(id))) {
    return Effect::kUnchanged;
  }
  if (containers_[at].cardinality == 1) {
    containers_.erase(containers_.begin() + static_cast<std::ptrdiff_t>(at));
  } else {
    containers_[at] = arena_.keep(remove_slot(containers_[at], slot_of(id), result_));
  }
  settle_containers();
  return empty() ? Effect::kEmptied : Effect::kChanged;
}

// ---- Many ids --------------------------------------------------------------------------------

Result<Effect, ValueFault> SegmentEdit::load_and_merge(ByteView value,
                                                       std::span<const Id> sorted_unique,
                                                       SetOp op) {
  CAD_TRY(load(value));
  return merge(sorted_unique, op);
}

Result<Effect, ValueFault> SegmentEdit::load_and_merge(ByteView value, IdRange range, SetOp op) {
  CAD_TRY(load(value));
  return merge(range, op);
}

Effect SegmentEdit::merge(std::span<const Id> sorted_unique, SetOp op) {
  if (content_ == Content::kIds) return merge_ids(sorted_unique, op);
  ChunkedIds chunks(sorted_unique);
  const auto merged = merge([&chunks] { return chunks.next(); }, op);
  CAD_CHECK(merged.has_value(), "the ids ascend");
  return *merged;
}

Effect SegmentEdit::merge_ids(std::span<const Id> sorted_unique, SetOp op) {
  const std::uint64_t before = cardinality_;
  merged_ids_.clear();
  const auto out = std::back_inserter(merged_ids_);
  switch (op) {
    case SetOp::kAdd: std::ranges::set_union(ids_, sorted_unique, out); break;
    case SetOp::kRemove: std::ranges::set_difference(ids_, sorted_unique, out); break;
    case SetOp::kRetain: std::ranges::set_intersection(ids_, sorted_unique, out); break;
  }
  if (merged_ids_.size() == before) return Effect::kUnchanged;
  std::swap(ids_, merged_ids_);
  settle(PortableMayWin::kYes);
  return effect_since(before);
}

Effect SegmentEdit::merge(IdRange range, SetOp op) {
  CAD_CHECK(range.first <= range.last, "ranges are checked by whoever takes them from a caller");
  if (op == SetOp::kAdd) {
    hold_containers();
    std::uint64_t chunk = chunk_of(range.first);
    const auto next = [&]() -> std::optional<ContainerView> {
      if (chunk > chunk_of(range.last)) return std::nullopt;
      const std::uint64_t here = chunk++;
      return from_run(here, slots_in(range, here), range_);
    };
    const auto merged = merge(next, op);
    CAD_CHECK(merged.has_value(), "chunks of a range ascend");
    return *merged;
  }
  return content_ == Content::kIds ? cut_ids(range, op) : cut_containers(range, op);
}

// Ids inside the range go, or stay alone.
Effect SegmentEdit::cut_ids(IdRange range, SetOp op) {
  const std::uint64_t before = cardinality_;
  const auto first = std::ranges::lower_bound(ids_, range.first);
  const auto last = std::ranges::upper_bound(ids_, range.last);
  if (op == SetOp::kRemove) {
    ids_.erase(first, last);
  } else {
    ids_.erase(last, ids_.end());
    ids_.erase(ids_.begin(), first);
  }
  if (ids_.size() == before) return Effect::kUnchanged;
  settle(PortableMayWin::kYes);
  return effect_since(before);
}

// Only chunks that are there are looked at, however long the range is.
Effect SegmentEdit::cut_containers(IdRange range, SetOp op) {
  const std::uint64_t before = cardinality_;
  merged_.clear();
  for (const ContainerView& own : containers_) {
    if (own.chunk < chunk_of(range.first) || own.chunk > chunk_of(range.last)) {
      if (op == SetOp::kRemove) merged_.push_back(own);
      continue;
    }
    merge_equal(own, from_run(own.chunk, slots_in(range, own.chunk), range_), op);
  }
  std::swap(containers_, merged_);
  settle_containers();
  return effect_since(before);
}

// ---- Containers ------------------------------------------------------------------------------

// Two containers of one chunk; what is left of them goes behind `merged_`.
void SegmentEdit::merge_equal(const ContainerView& own, const ContainerView& other, SetOp op) {
  ContainerView result;
  switch (op) {
    case SetOp::kAdd: result = unite(own, other, result_); break;
    case SetOp::kRemove: result = subtract(own, other, result_); break;
    case SetOp::kRetain: result = intersect(own, other, result_); break;
  }
  if (result.cardinality == 0) return;
  merged_.push_back(result.cardinality == own.cardinality ? own : keep_canonical(result));
}

Result<Effect, ValueFault> SegmentEdit::merge(ContainerSource source, SetOp op) {
  hold_containers();
  const std::uint64_t before = cardinality_;
  merged_.clear();
  std::size_t at = 0;
  std::optional<std::uint64_t> last_chunk;
  while (const std::optional<ContainerView> other = source()) {
    const bool ascends = !last_chunk || *last_chunk < other->chunk;
    auto valid = validate(*other);
    if (!ascends || !valid) {
      clear();
      return valid ? base::fail(ValueFault::kUnorderedKey) : std::unexpected(valid.error());
    }
    last_chunk = other->chunk;
    for (; at < containers_.size() && containers_[at].chunk < other->chunk; ++at) {
      if (op != SetOp::kRetain) merged_.push_back(containers_[at]);
    }
    if (at < containers_.size() && containers_[at].chunk == other->chunk) {
      merge_equal(containers_[at++], *other, op);
    } else if (op == SetOp::kAdd) {
      merged_.push_back(keep_canonical(*other));
    }
  }
  if (op != SetOp::kRetain) {
    merged_.insert(merged_.end(), containers_.begin() + static_cast<std::ptrdiff_t>(at),
                   containers_.end());
  }
  std::swap(containers_, merged_);
  settle_containers();
  return effect_since(before);
}

// ---- Neighbours ------------------------------------------------------------------------------

Result<void, ValueFault> SegmentEdit::append_containers(const SegmentView& right) {
  const bool follows = empty() || last_chunk() < chunk_of(right.min());
  if (!follows) {
    clear();
    return base::fail(ValueFault::kUnorderedKey);
  }
  auto gathered = gather(right);
  if (!gathered) {
    clear();
    return gathered;
  }
  settle(PortableMayWin::kYes);
  return {};
}

Result<void, ValueFault> SegmentEdit::prepend_containers(const SegmentView& left) {
  const bool follows = empty() || chunk_of(left.max()) < first_chunk();
  if (!follows) {
    clear();
    return base::fail(ValueFault::kUnorderedKey);
  }
  hold_containers();
  const std::size_t own = containers_.size();
  auto gathered = gather(left);
  if (!gathered) {
    clear();
    return gathered;
  }
  std::ranges::rotate(containers_, containers_.begin() + static_cast<std::ptrdiff_t>(own));
  settle(PortableMayWin::kYes);
  return {};
}

// ---- Result ----------------------------------------------------------------------------------

std::size_t SegmentEdit::container_count() const noexcept {
  return content_ == Content::kContainers ? containers_.size() : chunk_count_;
}

CutPlan SegmentEdit::plan(std::size_t limit_bytes, const CutHint& hint) {
  CAD_CHECK(!empty(), "an empty segment is erased, not written");
  if (size_bytes_ <= limit_bytes || container_count() == 1) return whole();
  hold_containers();
  return choose_cut(containers_, limit_bytes, hint, cut_scratch_);
}

CutPlan SegmentEdit::pack(std::size_t limit_bytes) {
  CAD_CHECK(!empty(), "an empty segment is erased, not written");
  if (size_bytes_ <= limit_bytes || container_count() == 1) return whole();
  hold_containers();
  return choose_packing(containers_, limit_bytes, cut_scratch_);
}

CutPlan SegmentEdit::whole() {
  CAD_CHECK(content_ != Content::kPatched, "a patched value is taken as a whole");
  cut_scratch_.parts.clear();
  cut_scratch_.parts.push_back({.containers = {0, container_count()},
                                .fence = fence_at(first_chunk()),
                                .cardinality = cardinality_,
                                .size_bytes = size_bytes_});
  return {cut_scratch_.parts};
}

ByteView SegmentEdit::emit() {
  if (content_ == Content::kPatched) return patched_;
  return emit({0, container_count()});
}

ByteView SegmentEdit::emit(ContainerSpan span) {
  CAD_CHECK(content_ != Content::kPatched, "a patched value is taken as a whole");
  CAD_CHECK(span.first < span.last && span.last <= container_count(), "spans come from a plan");
  if (emitted_count_ == emitted_.size()) emitted_.emplace_back();
  ValueBuffer& out = emitted_[emitted_count_++];
  if (content_ == Content::kIds) {
    if (span.count() == chunk_count_) return encode_packed(ids_, out);
    hold_containers();
  }
  const auto part = std::span(containers_).subspan(span.first, span.count());
  return encode_containers(part, ids_, out);
}

std::uint64_t SegmentEdit::first_chunk() const noexcept {
  return content_ == Content::kIds ? chunk_of(ids_.front()) : containers_.front().chunk;
}

std::uint64_t SegmentEdit::last_chunk() const noexcept {
  return content_ == Content::kIds ? chunk_of(ids_.back()) : containers_.back().chunk;
}

}  // namespace cadastre::bitmap
