// FixedSet: the test value of the SegmentValue seam. A stored value is the ids, eight bytes
// each, little-endian and ascending; there is no checksum. Cuts lie between chunks, as everywhere.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/endian.h"
#include "base/result.h"
#include "bitmap/cut_plan.h"
#include "bitmap/faults.h"
#include "bitmap/ids.h"
#include "bitmap/segment_edit.h"
#include "bitmap/segment_form.h"
#include "bitmap/segment_value.h"

namespace cadastre::bitmap::testing {

inline constexpr std::size_t kFixedIdBytes = sizeof(std::uint64_t);

class FixedSetView {
 public:
  [[nodiscard]] static base::Result<FixedSetView, ValueFault> open(base::ByteView value,
                                                                   ReadCheck) {
    if (value.empty()) return base::fail(ValueFault::kEmpty);
    if (value.size() % kFixedIdBytes != 0) return base::fail(ValueFault::kTruncated);
    FixedSetView view;
    for (std::size_t at = 0; at < value.size(); at += kFixedIdBytes)
      view.ids_.emplace_back(base::load_le<std::uint64_t>(value.data() + at));
    return view;
  }

  [[nodiscard]] bool contains(Id id) const { return std::ranges::binary_search(ids_, id); }
  [[nodiscard]] std::uint64_t cardinality() const { return ids_.size(); }
  [[nodiscard]] std::uint64_t rank(Id id) const {
    return static_cast<std::uint64_t>(std::ranges::upper_bound(ids_, id) - ids_.begin());
  }
  [[nodiscard]] std::optional<Id> select(std::uint64_t index) const {
    if (index >= ids_.size()) return std::nullopt;
    return ids_[index];
  }
  [[nodiscard]] Id min() const { return ids_.front(); }
  [[nodiscard]] Id max() const { return ids_.back(); }
  [[nodiscard]] base::Result<void, ValueFault> check_contents() const {
    const bool ascends =
        std::ranges::adjacent_find(ids_, std::ranges::greater_equal{}) == ids_.end();
    if (!ascends) return base::fail(ValueFault::kUnorderedSlots);
    return {};
  }

  [[nodiscard]] const std::vector<Id>& ids() const { return ids_; }

 private:
  std::vector<Id> ids_;
};

class FixedSetEdit {
 public:
  void clear() {
    ids_.clear();
    loaded_ = 0;
    emitted_.clear();
  }
  [[nodiscard]] base::Result<void, ValueFault> load(base::ByteView value) {
    clear();
    const auto view = CAD_TRY(FixedSetView::open(value, ReadCheck::kChecksum));
    CAD_TRY(view.check_contents());
    ids_ = view.ids();
    loaded_ = ids_.size();
    return {};
  }
  // Nothing is cheaper here.
  [[nodiscard]] base::Result<Effect, ValueFault> insert_within(base::ByteView value,
                                                               Id id,
                                                               std::size_t /*limit_bytes*/) {
    return load_and_insert(value, id);
  }
  [[nodiscard]] base::Result<Effect, ValueFault> remove_within(base::ByteView value,
                                                               Id id,
                                                               std::size_t /*limit_bytes*/) {
    return load_and_remove(value, id);
  }
  [[nodiscard]] base::Result<Effect, ValueFault> load_and_insert(base::ByteView value, Id id) {
    CAD_TRY(load(value));
    return insert(id);
  }
  [[nodiscard]] base::Result<Effect, ValueFault> load_and_remove(base::ByteView value, Id id) {
    CAD_TRY(load(value));
    return remove(id);
  }
  template <class Ids>
  [[nodiscard]] base::Result<Effect, ValueFault> load_and_merge(base::ByteView value,
                                                                Ids ids,
                                                                SetOp op) {
    CAD_TRY(load(value));
    return merge(ids, op);
  }
  [[nodiscard]] Effect insert(Id id) { return merge(std::span<const Id>(&id, 1), SetOp::kAdd); }
  [[nodiscard]] Effect remove(Id id) { return merge(std::span<const Id>(&id, 1), SetOp::kRemove); }
  [[nodiscard]] Effect merge(std::span<const Id> ids, SetOp op) {
    std::vector<Id> merged;
    const auto out = std::back_inserter(merged);
    switch (op) {
      case SetOp::kAdd: std::ranges::set_union(ids_, ids, out); break;
      case SetOp::kRemove: std::ranges::set_difference(ids_, ids, out); break;
      case SetOp::kRetain: std::ranges::set_intersection(ids_, ids, out); break;
    }
    const bool is_changed = merged != ids_;
    ids_ = merged;
    if (!is_changed) return Effect::kUnchanged;
    return ids_.empty() ? Effect::kEmptied : Effect::kChanged;
  }
  [[nodiscard]] Effect merge(IdRange range, SetOp op) {
    std::vector<Id> all;
    for (std::uint64_t id = range.first.value(); op == SetOp::kAdd; ++id) {
      all.emplace_back(id);
      if (id == range.last.value()) break;
    }
    if (op != SetOp::kAdd) {
      std::ranges::copy_if(ids_, std::back_inserter(all),
                           [&](Id id) { return range.contains(id); });
    }
    return merge(std::span<const Id>(all), op);
  }
  [[nodiscard]] base::Result<void, ValueFault> append_containers(const FixedSetView& right) {
    ids_.insert(ids_.end(), right.ids().begin(), right.ids().end());
    return check_order();
  }
  [[nodiscard]] base::Result<void, ValueFault> prepend_containers(const FixedSetView& left) {
    ids_.insert(ids_.begin(), left.ids().begin(), left.ids().end());
    return check_order();
  }

  [[nodiscard]] bool empty() const { return ids_.empty(); }
  [[nodiscard]] std::uint64_t cardinality() const { return ids_.size(); }
  [[nodiscard]] std::uint64_t loaded_cardinality() const { return loaded_; }
  [[nodiscard]] std::size_t size_bytes() const { return ids_.size() * kFixedIdBytes; }
  [[nodiscard]] std::size_t container_count() const { return chunk_starts().size() - 1; }

  // Halves by chunks, and packs if a half does not fit. The hint is not taken.
  [[nodiscard]] CutPlan plan(std::size_t limit_bytes, const CutHint&) {
    const std::size_t count = container_count();
    if (size_bytes() <= limit_bytes || count == 1) return cut_at({0, count});
    const CutPlan halves = cut_at({0, (count + 1) / 2, count});
    for (const SegmentPart& part : halves.parts) {
      if (part.size_bytes > limit_bytes) return pack(limit_bytes);
    }
    return halves;
  }
  [[nodiscard]] CutPlan pack(std::size_t limit_bytes) {
    const std::vector<std::size_t> starts = chunk_starts();
    std::vector<std::size_t> cuts{0};
    for (std::size_t i = 1; i + 1 < starts.size(); ++i) {
      if ((starts[i + 1] - starts[cuts.back()]) * kFixedIdBytes > limit_bytes) cuts.push_back(i);
    }
    cuts.push_back(starts.size() - 1);
    return cut_at(cuts);
  }

  [[nodiscard]] base::ByteView emit() { return emit({0, container_count()}); }
  [[nodiscard]] base::ByteView emit(ContainerSpan span) {
    const std::vector<std::size_t> starts = chunk_starts();
    base::Bytes& out = emitted_.emplace_back();
    for (std::size_t i = starts[span.first]; i < starts[span.last]; ++i) {
      out.resize(out.size() + kFixedIdBytes);
      base::store_le(out.data() + out.size() - kFixedIdBytes, ids_[i].value());
    }
    return out;
  }

 private:
  // Index of the first id of each chunk, and one past the last.
  [[nodiscard]] std::vector<std::size_t> chunk_starts() const {
    std::vector<std::size_t> starts;
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      if (i == 0 || chunk_of(ids_[i]) != chunk_of(ids_[i - 1])) starts.push_back(i);
    }
    starts.push_back(ids_.size());
    return starts;
  }
  [[nodiscard]] CutPlan cut_at(const std::vector<std::size_t>& chunks) {
    const std::vector<std::size_t> starts = chunk_starts();
    parts_.clear();
    for (std::size_t i = 0; i + 1 < chunks.size(); ++i) {
      const std::size_t count = starts[chunks[i + 1]] - starts[chunks[i]];
      parts_.push_back({.containers = {chunks[i], chunks[i + 1]},
                        .fence = fence_at(chunk_of(ids_[starts[chunks[i]]])),
                        .cardinality = count,
                        .size_bytes = count * kFixedIdBytes});
    }
    return {parts_};
  }
  [[nodiscard]] base::Result<void, ValueFault> check_order() const {
    if (std::ranges::adjacent_find(ids_, std::ranges::greater_equal{}) == ids_.end()) return {};
    return base::fail(ValueFault::kUnorderedKey);
  }

  std::vector<Id> ids_;
  std::uint64_t loaded_ = 0;
  std::vector<SegmentPart> parts_;
  std::deque<base::Bytes> emitted_;  // Views of what was emitted stay.
};

struct FixedSetValue {
  using View = FixedSetView;
  using Edit = FixedSetEdit;
};
static_assert(SegmentValue<FixedSetValue>);

}  // namespace cadastre::bitmap::testing
