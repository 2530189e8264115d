#include "bitmap/compact.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "base/result.h"
#include "bitmap/config.h"
#include "bitmap/container.h"
#include "bitmap/cut_plan.h"
#include "bitmap/error.h"
#include "bitmap/faults.h"
#include "bitmap/id_stream.h"
#include "bitmap/ids.h"
#include "bitmap/key_cursor.h"
#include "bitmap/limits.h"
#include "bitmap/segment_build.h"
#include "bitmap/segment_cursor.h"
#include "bitmap/segment_edit.h"
#include "bitmap/segment_view.h"
#include "bitmap/shard_tally.h"
#include "bitmap/stored.h"
#include "kv/kv.h"

namespace cadastre::bitmap {
namespace {

constexpr std::size_t kHeaderShare = 8;  // key, cardinality and offset of a container
constexpr std::size_t kIdShare = 8;      // the most that a packed id takes

// What a container adds to a segment, about. The same wherever it is stored, so that packing what is
// packed finds the same cuts.
std::size_t weight(const ContainerView& container) noexcept {
  const std::size_t bytes =
      std::min(plain_bytes(container.cardinality), run_bytes(count_runs(container)));
  return std::min(bytes + kHeaderShare, container.cardinality * kIdShare);
}

std::size_t fill_bytes(const Config& config) noexcept {
  return std::size_t{config.segment_bytes_max} * kBulkFillPercentDefault / kBulkFillPercentMost;
}

// How many containers each segment gets: segment j ends at the boundary nearest to j/m of the whole.
std::vector<std::size_t> choose_pieces(std::span<const std::size_t> weights, std::size_t fill) {
  std::uint64_t total = 0;
  for (const std::size_t own : weights)
    total += own;
  const std::uint64_t pieces = std::max<std::uint64_t>(1, (total + fill - 1) / fill);
  std::vector<std::size_t> counts;
  std::uint64_t sum = 0;
  std::size_t count = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const std::uint64_t goal = total * (counts.size() + 1) / pieces;
    const std::uint64_t with = sum + weights[i];
    const bool nearer_without =
        count > 0 && with > goal && with - goal > goal - std::min(sum, goal);
    if (nearer_without && counts.size() + 1 < pieces) {
      counts.push_back(count);
      count = 0;
    }
    sum = with;
    ++count;
  }
  if (count > 0) counts.push_back(count);
  return counts;
}

struct NewSegment {
  Id fence;
  std::uint64_t cardinality = 0;
  base::Bytes value;
};

// A stretch of segments of one shard, on their way to being packed.
class Window {
 public:
  Window(kv::Cursor& cursor, const Config& config, ByteView base_key, Shard shard)
      : config_(config), segments_(cursor, base_key, shard) {}

  // Reads segments from `from` on, at least one, until they exceed the budget.
  Result<void, Error> read(Id from, std::size_t bytes_max) {
    std::size_t bytes = 0;
    auto segment = CAD_TRY(from == Id{} ? segments_.first() : segments_.locate(from));
    for (; segment; segment = CAD_TRY(segments_.next())) {
      if (!old_.empty() && bytes + segment->value.size() > bytes_max) break;
      const auto view = CAD_TRY(open(*segment));
      for (const ContainerView& container : view)
        weights_.push_back(weight(container));
      bytes += segment->value.size();
      old_.push_back({segment->fence, view.cardinality(), segment->value.size()});
    }
    if (segment) next_fence_ = segment->fence;
    return {};
  }

  Result<void, Error> pack() {
    const auto pieces = choose_pieces(weights_, fill_bytes(config_));
    std::size_t piece = 0;
    for (const SegmentBefore& old : old_) {
      const auto found = CAD_TRY(segments_.locate(old.fence));
      CAD_CHECK(found && found->fence == old.fence, "nothing has changed since the first reading");
      for (const ContainerView& container : CAD_TRY(open(*found))) {
        take(container);
        if (taken_ < pieces[piece]) continue;
        finish_piece();
        ++piece;
      }
    }
    return {};
  }

  Result<void, Error> store(kv::Writer& writer, CompactReport& report) {
    if (old_.empty()) return {};
    ShardTally tally(config_.stats);
    CAD_TRY(tally.begin(writer, segments_, old_.front()));
    for (const SegmentBefore& old : old_) {
      tally.removed(old);
      report.segments_before += 1;
      report.bytes_before += old.value_bytes;
      const bool stays = std::ranges::binary_search(new_, old.fence, {}, &NewSegment::fence);
      if (!stays) CAD_TRY(stored(writer.erase(segments_.key_of(old.fence))));
    }
    for (const NewSegment& made : new_) {
      tally.added(made.cardinality, made.value.size());
      report.segments_after += 1;
      report.bytes_after += made.value.size();
      const auto found = CAD_TRY(stored(writer.get(segments_.key_of(made.fence))));
      if (found && base::equal(*found, made.value)) continue;
      CAD_TRY(stored(writer.put(segments_.key_of(made.fence), made.value)));
    }
    return tally.settle(writer, segments_);
  }

  [[nodiscard]] std::optional<Id> next_fence() const noexcept { return next_fence_; }

 private:
  Result<SegmentView, Error> open(const StoredSegment& segment) {
    const auto view = SegmentView::open(segment.value);
    if (!view) return base::fail(corrupt(view.error(), segments_.key_of(segment.fence)));
    if (const auto content = view->check_contents(); !content) {
      return base::fail(corrupt(content.error(), segments_.key_of(segment.fence)));
    }
    return *view;
  }

  void take(const ContainerView& container) {
    bool given = false;
    const auto merged = edit_.merge(
        [&]() -> std::optional<ContainerView> {
          if (std::exchange(given, true)) return std::nullopt;
          return container;
        },
        SetOp::kAdd);
    CAD_CHECK(merged.has_value(), "contents were checked");
    ++taken_;
  }

  // Containers that are heavier than they look are divided once more.
  void finish_piece() {
    for (const SegmentPart& part : edit_.pack(config_.segment_bytes_max).parts) {
      const Id fence = new_.empty() ? old_.front().fence : part.fence;
      new_.push_back({fence, part.cardinality, base::to_owned(edit_.emit(part.containers))});
    }
    edit_.clear();
    taken_ = 0;
  }

  Config config_;
  SegmentCursor segments_;
  std::vector<SegmentBefore> old_;
  std::vector<std::size_t> weights_;
  std::vector<NewSegment> new_;
  std::optional<Id> next_fence_;
  SegmentEdit edit_;
  std::size_t taken_ = 0;
};

}  // namespace

Result<CompactReport, Error> compact_key(kv::Writer& writer,
                                         kv::Cursor& cursor,
                                         const Config& config,
                                         ByteView base_key,
                                         CompactBudget budget,
                                         std::optional<CompactCursor> from) {
  CompactReport report;
  CompactCursor at = from.value_or(CompactCursor{});
  for (;;) {
    const auto shard = CAD_TRY(find_shard(cursor, base_key, at.shard));
    if (!shard) return report;
    const Id fence = *shard == at.shard ? at.fence : Id{};
    if (report.bytes_before >= budget.bytes) {
      report.next = CompactCursor{*shard, fence};
      return report;
    }
    Window window(cursor, config, base_key, *shard);
    CAD_TRY(window.read(fence, budget.bytes - static_cast<std::size_t>(report.bytes_before)));
    CAD_TRY(window.pack());
    CAD_TRY(window.store(writer, report));
    if (const auto next = window.next_fence()) {
      report.next = CompactCursor{*shard, *next};
      return report;
    }
    if (shard->value() == std::numeric_limits<std::uint16_t>::max()) return report;
    at = {Shard{static_cast<std::uint16_t>(shard->value() + 1)}, Id{}};
  }
}

Result<void, Error> write_packed_shard(kv::Writer& writer,
                                       const Config& config,
                                       ByteView base_key,
                                       IdStream& stream) {
  const auto cursor = CAD_TRY(stored(writer.cursor()));
  SegmentCursor segments(*cursor, base_key, Shard{});
  ShardTally tally(config.stats);
  CAD_TRY(tally.begin(writer, segments, std::nullopt));
  SegmentBuild build(fill_bytes(config));
  bool is_first = true;
  const auto put = [&](const BuiltSegment& built) -> Result<void, Error> {
    tally.added(built.cardinality, built.value.size());
    const Id fence = std::exchange(is_first, false) ? Id{} : built.fence;
    return stored(writer.put(segments.key_of(fence), built.value));
  };
  while (const auto container = CAD_TRY(stream.next())) {
    const auto full = build.add(*container);
    if (!full) return base::fail(corrupt(full.error(), {}));
    if (*full) CAD_TRY(put(**full));
  }
  while (const auto rest = build.finish())
    CAD_TRY(put(*rest));
  return tally.settle(writer, segments);
}

}  // namespace cadastre::bitmap
