// PartitionWriter: how a set changes in its segments (3.2 to 3.5). The partition layer.
//
// Knows shards, fences, cuts, merges and statistics; of a segment's content only what the Value says
// . Decisions about cuts are pure and belong to the value; here they are carried out.
//
// Every new value is made before the first one is stored, for the old ones may lie in pages that a
// put overwrites (B-21). A segment that does not change is not written (B-22). Whatever cannot be
// read is not replaced (B-30).

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "base/result.h"
#include "bitmap/config.h"
#include "bitmap/cut_plan.h"
#include "bitmap/error.h"
#include "bitmap/faults.h"
#include "bitmap/ids.h"
#include "bitmap/limits.h"
#include "bitmap/segment_cursor.h"
#include "bitmap/segment_edit.h"
#include "bitmap/segment_form.h"
#include "bitmap/segment_value.h"
#include "bitmap/shard_tally.h"
#include "bitmap/stored.h"
#include "kv/kv.h"

namespace cadastre::bitmap {

template <SegmentValue Value>
class PartitionWriter {
 public:
  // Borrows the writer. The settings are in range.
  [[nodiscard]] static Result<PartitionWriter, Error> open(kv::Writer& writer,
                                                           const Config& config,
                                                           unsigned fill_percent) {
    return PartitionWriter(writer, CAD_TRY(stored(writer.cursor())), config, fill_percent);
  }

  // Whether the set changed (B-23). Base keys are valid, the shard is the id's.
  [[nodiscard]] Result<bool, Error> insert(ByteView base_key, Shard shard, Id id) {
    SegmentCursor segments(*cursor_, base_key, shard);
    const auto home = CAD_TRY(segments.locate(id));
    if (!home) {
      edit_->clear();
      (void)edit_->insert(id);
      CAD_TRY(store(segments, Id{}, edit_->emit()));
      return true;
    }
    if (CAD_TRY(edited(edit_->insert_within(home->value, id, config_.segment_bytes_max), segments,
                       *home)) == Effect::kUnchanged) {
      return false;
    }
    ShardTally tally(config_.stats);
    CAD_TRY(tally.begin(*writer_, segments, before(*home)));
    CAD_TRY(divide(segments, *home, chunk_of(id), tally));
    CAD_TRY(tally.settle(*writer_, segments));
    return true;
  }

  [[nodiscard]] Result<bool, Error> remove(ByteView base_key, Shard shard, Id id) {
    SegmentCursor segments(*cursor_, base_key, shard);
    const auto home = CAD_TRY(segments.locate(id));
    if (!home) return false;
    const Effect effect = CAD_TRY(
        edited(edit_->remove_within(home->value, id, config_.segment_bytes_max), segments, *home));
    if (effect == Effect::kUnchanged) return false;
    ShardTally tally(config_.stats);
    CAD_TRY(tally.begin(*writer_, segments, before(*home)));
    CAD_TRY(shrink(segments, before(*home), effect, tally));
    CAD_TRY(tally.settle(*writer_, segments));
    return true;
  }

  // Adds or removes ids, all of this shard; answers how many made a difference.
  [[nodiscard]] Result<std::uint64_t, Error> merge(ByteView base_key,
                                                   Shard shard,
                                                   std::span<const Id> sorted_unique,
                                                   SetOp op) {
    SegmentCursor segments(*cursor_, base_key, shard);
    ShardTally tally(config_.stats);
    std::uint64_t changed = 0;
    while (!sorted_unique.empty()) {
      const auto home = CAD_TRY(segments.locate(sorted_unique.front()));
      if (!home && op == SetOp::kRemove) break;
      const auto next = home ? CAD_TRY(segments.next()) : std::nullopt;
      const auto run = ids_below(sorted_unique, next);
      changed += CAD_TRY(merge_run(segments, home, !next, run, op, tally));
      sorted_unique = sorted_unique.subspan(run.size());
    }
    CAD_TRY(tally.settle(*writer_, segments));
    return changed;
  }

  // The same for all ids of a range; costs per chunk, not per id.
  [[nodiscard]] Result<std::uint64_t, Error> merge(ByteView base_key,
                                                   Shard shard,
                                                   IdRange range,
                                                   SetOp op) {
    SegmentCursor segments(*cursor_, base_key, shard);
    ShardTally tally(config_.stats);
    std::uint64_t changed = 0;
    for (Id at = range.first;;) {
      const auto home = CAD_TRY(segments.locate(at));
      if (!home && op == SetOp::kRemove) break;
      const auto next = home ? CAD_TRY(segments.next()) : std::nullopt;
      const Id step_last = op == SetOp::kAdd ? addition_end(at, range.last) : range.last;
      const IdRange step{at, next ? std::min(step_last, Id{next->fence.value() - 1}) : step_last};
      changed += CAD_TRY(merge_range(segments, home, !next, step, op, tally));
      if (step.last == range.last) break;
      at = Id{step.last.value() + 1};
    }
    CAD_TRY(tally.settle(*writer_, segments));
    return changed;
  }

 private:
  using View = typename Value::View;
  using Edit = typename Value::Edit;

  // A piece may exceed its share by this part of it: pieces end between containers.
  static constexpr std::size_t kShareSlack = 16;
  // Chunks that one edit adds at most.
  static constexpr std::uint64_t kRangeStepChunks = 1024;

  PartitionWriter(kv::Writer& writer,
                  std::unique_ptr<kv::Cursor> cursor,
                  const Config& config,
                  unsigned fill_percent)
      : writer_(&writer),
        cursor_(std::move(cursor)),
        config_(config),
        fill_percent_(fill_percent),
        edit_(std::make_unique<Edit>()),
        joined_(std::make_unique<Edit>()) {}

  // ---- Small things -------------------------------------------------------------------------

  template <class T>
  [[nodiscard]] static Result<T, Error> edited(Result<T, ValueFault> result,
                                               SegmentCursor& segments,
                                               const StoredSegment& segment) {
    if (!result) return base::fail(corrupt(result.error(), segments.key_of(segment.fence)));
    return *result;
  }

  [[nodiscard]] Result<void, Error> store(SegmentCursor& segments, Id fence, ByteView value) {
    return stored(writer_->put(segments.key_of(fence), value));
  }
  [[nodiscard]] Result<void, Error> drop(SegmentCursor& segments, Id fence) {
    return stored(writer_->erase(segments.key_of(fence)));
  }

  // What the edit has loaded.
  [[nodiscard]] SegmentBefore before(const StoredSegment& segment) const noexcept {
    return {segment.fence, edit_->loaded_cardinality(), segment.value.size()};
  }

  [[nodiscard]] static std::span<const Id> ids_below(std::span<const Id> ids,
                                                     const std::optional<StoredSegment>& next) {
    if (!next) return ids;
    const auto end = std::ranges::lower_bound(ids, next->fence);
    return ids.first(static_cast<std::size_t>(end - ids.begin()));
  }

  [[nodiscard]] static Id addition_end(Id at, Id last) {
    const std::uint64_t chunk = chunk_of(at);
    if (kChunkMax - chunk < kRangeStepChunks) return last;
    return std::min(last, Id{fence_at(chunk + kRangeStepChunks).value() - 1});
  }

  [[nodiscard]] bool fits(std::size_t bytes) const noexcept {
    return bytes <= config_.segment_bytes_max;
  }

  // ---- Growth (3.2, 3.3, 3.4) ---------------------------------------------------------------

  // Stores what the edit holds in the place of `home`, after one insertion. The cursor stands there.
  [[nodiscard]] Result<void, Error> divide(SegmentCursor& segments,
                                           const StoredSegment& home,
                                           std::uint64_t inserted_chunk,
                                           ShardTally& tally) {
    const SegmentBefore old = before(home);
    if (fits(edit_->size_bytes()) || edit_->container_count() == 1) {
      tally.changed(old, edit_->cardinality(), edit_->size_bytes());
      return store(segments, old.fence, edit_->emit());
    }
    const bool is_last = !CAD_TRY(segments.next());
    const bool is_first = old.fence == Id{};
    const SegmentPlace place = is_last ? (is_first ? SegmentPlace::kOnly : SegmentPlace::kLast)
                                       : (is_first ? SegmentPlace::kFirst : SegmentPlace::kMiddle);
    return store_parts(
        segments, old,
        edit_->plan(config_.segment_bytes_max, {.place = place, .inserted_chunk = inserted_chunk}),
        tally);
  }

  [[nodiscard]] Result<void, Error> store_parts(SegmentCursor& segments,
                                                const std::optional<SegmentBefore>& old,
                                                const CutPlan& plan,
                                                ShardTally& tally) {
    values_.clear();
    for (const SegmentPart& part : plan.parts) {
      CAD_CHECK(fits(part.size_bytes) || part.containers.count() == 1, "I-5");
      values_.push_back(edit_->emit(part.containers));
    }
    if (old) tally.removed(*old);
    for (std::size_t i = 0; i < plan.parts.size(); ++i) {
      const SegmentPart& part = plan.parts[i];
      const Id first_fence = old ? old->fence : Id{};
      CAD_TRY(store(segments, i == 0 ? first_fence : part.fence, values_[i]));
      tally.added(part.cardinality, values_[i].size());
    }
    return {};
  }

  // Stores what the edit holds, after a change of many ids.
  [[nodiscard]] Result<void, Error> store_bulk(SegmentCursor& segments,
                                               const std::optional<SegmentBefore>& old,
                                               bool grows_at_end,
                                               ShardTally& tally) {
    if (!fits(edit_->size_bytes())) {
      return store_parts(segments, old, edit_->pack(bulk_limit(grows_at_end)), tally);
    }
    const ByteView value = edit_->emit();
    if (old) tally.removed(*old);
    tally.added(edit_->cardinality(), value.size());
    return store(segments, old ? old->fence : Id{}, value);
  }

  // How large the pieces may be. They are full where the set grows at its end. Elsewhere they leave room
  // for later ids and are of about equal size: packing from the left would leave a small last piece
  // each time a segment overflows, and a table of random ids would fill with those.
  [[nodiscard]] std::size_t bulk_limit(bool grows_at_end) const noexcept {
    const std::size_t most = config_.segment_bytes_max;
    const std::size_t size = edit_->size_bytes();
    if (grows_at_end) return most;
    const std::size_t fill = most * fill_percent_ / kBulkFillPercentMost;
    const std::size_t share = size / ((size + fill - 1) / fill);
    return std::min(most, share + share / kShareSlack);
  }

  // ---- Shrinkage (3.5) ----------------------------------------------------------------------

  [[nodiscard]] Result<void, Error> shrink(SegmentCursor& segments,
                                           const SegmentBefore& old,
                                           Effect effect,
                                           ShardTally& tally) {
    // A removal can make a value larger: it breaks runs.
    if (effect != Effect::kEmptied && !fits(edit_->size_bytes()) && edit_->container_count() > 1) {
      return store_parts(segments, old, edit_->plan(config_.segment_bytes_max, {}), tally);
    }
    tally.removed(old);
    if (effect == Effect::kEmptied) return vacate(segments, old.fence);
    const ByteView own = edit_->emit();
    if (own.size() < config_.segment_bytes_max / 4) {
      if (CAD_TRY(join_left(segments, old.fence, own, tally))) return {};
      if (CAD_TRY(join_right(segments, old.fence, own, tally))) return {};
    }
    tally.added(edit_->cardinality(), own.size());
    return store(segments, old.fence, own);
  }

  // An empty segment goes. Its interval falls to its left neighbour; the first one has none, so the
  // second takes its fence (I-2).
  [[nodiscard]] Result<void, Error> vacate(SegmentCursor& segments, Id fence) {
    CAD_TRY(drop(segments, fence));
    if (fence != Id{}) return {};
    const auto second = CAD_TRY(segments.first());
    if (!second) return {};
    moved_.assign(second->value.begin(), second->value.end());
    const Id old_fence = second->fence;
    CAD_TRY(store(segments, Id{}, moved_));
    return drop(segments, old_fence);
  }

  [[nodiscard]] bool may_join(const StoredSegment& neighbour) const noexcept {
    return neighbour.value.size() <= config_.segment_bytes_max / 2;
  }

  [[nodiscard]] Result<bool, Error> join_left(SegmentCursor& segments,
                                              Id fence,
                                              ByteView own,
                                              ShardTally& tally) {
    if (fence == Id{}) return false;
    const auto left = CAD_TRY(segments.locate(Id{fence.value() - 1}));
    if (!left || !may_join(*left)) return false;
    if (!CAD_TRY(join(segments, *left, left->value, own))) return false;
    tally.removed({left->fence, joined_->loaded_cardinality(), left->value.size()});
    const Id left_fence = left->fence;
    const ByteView value = joined_->emit();
    tally.added(joined_->cardinality(), value.size());
    CAD_TRY(store(segments, left_fence, value));
    CAD_TRY(drop(segments, fence));
    return true;
  }

  [[nodiscard]] Result<bool, Error> join_right(SegmentCursor& segments,
                                               Id fence,
                                               ByteView own,
                                               ShardTally& tally) {
    CAD_TRY(segments.locate(fence));
    const auto right = CAD_TRY(segments.next());
    if (!right || !may_join(*right)) return false;
    if (!CAD_TRY(join(segments, *right, own, right->value))) return false;
    tally.removed({right->fence, joined_->cardinality() - joined_->loaded_cardinality(),
                   right->value.size()});
    const Id right_fence = right->fence;
    const ByteView value = joined_->emit();
    tally.added(joined_->cardinality(), value.size());
    CAD_TRY(store(segments, fence, value));
    CAD_TRY(drop(segments, right_fence));
    return true;
  }

  // Puts both into joined_; whether the result is small enough.
  [[nodiscard]] Result<bool, Error> join(SegmentCursor& segments,
                                         const StoredSegment& neighbour,
                                         ByteView left,
                                         ByteView right) {
    (void)CAD_TRY(edited(loaded(*joined_, left), segments, neighbour));
    const auto view = View::open(right, ReadCheck::kChecksum);
    if (!view) return base::fail(corrupt(view.error(), segments.key_of(neighbour.fence)));
    if (const auto appended = joined_->append_containers(*view); !appended) {
      return base::fail(corrupt(appended.error(), segments.key_of(neighbour.fence)));
    }
    return joined_->size_bytes() <= config_.segment_bytes_max / 2;
  }

  [[nodiscard]] static Result<bool, ValueFault> loaded(Edit& edit, ByteView value) {
    CAD_TRY(edit.load(value));
    return true;
  }

  // ---- Many ids -----------------------------------------------------------------------------

  // Batches of random ids are smaller than tables: most segments get one id of them.
  [[nodiscard]] Result<Effect, ValueFault> merge_into(ByteView value,
                                                      std::span<const Id> run,
                                                      SetOp op) {
    const std::size_t limit = config_.segment_bytes_max;
    if (run.size() == 1 && op == SetOp::kAdd) return edit_->insert_within(value, run[0], limit);
    if (run.size() == 1 && op == SetOp::kRemove) return edit_->remove_within(value, run[0], limit);
    return edit_->load_and_merge(value, run, op);
  }

  [[nodiscard]] Result<std::uint64_t, Error> merge_run(SegmentCursor& segments,
                                                       const std::optional<StoredSegment>& home,
                                                       bool is_last,
                                                       std::span<const Id> run,
                                                       SetOp op,
                                                       ShardTally& tally) {
    bool grows_at_end = is_last;
    Effect effect = Effect::kChanged;
    if (home) {
      if (is_last) {
        const auto view = View::open(home->value, ReadCheck::kStructure);
        grows_at_end = view && view->max() < run.front();
      }
      effect = CAD_TRY(edited(merge_into(home->value, run, op), segments, *home));
    } else {
      edit_->clear();
      effect = edit_->merge(run, op);
    }
    return finish_merge(segments, home, grows_at_end, effect, op, tally);
  }

  [[nodiscard]] Result<std::uint64_t, Error> merge_range(SegmentCursor& segments,
                                                         const std::optional<StoredSegment>& home,
                                                         bool is_last,
                                                         IdRange range,
                                                         SetOp op,
                                                         ShardTally& tally) {
    Effect effect = Effect::kChanged;
    if (home) {
      effect = CAD_TRY(edited(edit_->load_and_merge(home->value, range, op), segments, *home));
    } else {
      edit_->clear();
      effect = edit_->merge(range, op);
    }
    return finish_merge(segments, home, is_last, effect, op, tally);
  }

  [[nodiscard]] Result<std::uint64_t, Error> finish_merge(SegmentCursor& segments,
                                                          const std::optional<StoredSegment>& home,
                                                          bool grows_at_end,
                                                          Effect effect,
                                                          SetOp op,
                                                          ShardTally& tally) {
    if (effect == Effect::kUnchanged) return 0;
    const auto old = home ? std::optional(before(*home)) : std::nullopt;
    const std::uint64_t was = old ? old->cardinality : 0;
    const std::uint64_t is = edit_->cardinality();
    CAD_TRY(tally.begin(*writer_, segments, old));
    if (op == SetOp::kAdd) {
      CAD_TRY(store_bulk(segments, old, grows_at_end, tally));
      return is - was;
    }
    CAD_TRY(shrink(segments, *old, effect, tally));
    return was - is;
  }

  kv::Writer* writer_;
  std::unique_ptr<kv::Cursor> cursor_;
  Config config_;
  unsigned fill_percent_;
  std::unique_ptr<Edit> edit_;
  std::unique_ptr<Edit> joined_;  // for merges of neighbours
  std::vector<ByteView> values_;
  base::Bytes moved_;
};

}  // namespace cadastre::bitmap
