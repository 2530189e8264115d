#include "bitmap/shard_stream.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "base/bytes.h"
#include "base/result.h"
#include "bitmap/container.h"
#include "bitmap/error.h"
#include "bitmap/faults.h"
#include "bitmap/id_stream.h"
#include "bitmap/ids.h"
#include "bitmap/segment_cursor.h"
#include "bitmap/segment_view.h"
#include "bitmap/stored.h"
#include "kv/kv.h"

namespace cadastre::bitmap {
namespace {

using MaybeContainer = std::optional<ContainerView>;

// What both directions share: the transaction, the segment, and that neither may change.
class ShardStream : public IdStream {
 public:
  ShardStream(kv::Reader& reader,
              std::unique_ptr<kv::Cursor> cursor,
              base::ByteView base_key,
              Shard shard,
              Direction direction)
      : IdStream(direction),
        reader_(&reader),
        mutations_(reader.mutation_count()),
        cursor_(std::move(cursor)),
        segments_(*cursor_, base_key, shard) {}

 protected:
  [[nodiscard]] Result<void, Error> check_fresh() const {
    if (reader_->mutation_count() != mutations_) return base::fail(stale());
    return {};
  }
  [[nodiscard]] SegmentCursor& segments() noexcept { return segments_; }
  [[nodiscard]] const std::optional<SegmentView>& view() const noexcept { return view_; }

  // Stands on the segment, or at the end.
  Result<void, Error> enter(const SegmentCursor::Found& found) {
    if (!found) return base::fail(found.error());
    if (!*found) {
      view_ = std::nullopt;
      return {};
    }
    const StoredSegment& segment = **found;
    auto opened = SegmentView::open(segment.value);
    if (!opened) return base::fail(corrupt(opened.error(), segments_.key_of(segment.fence)));
    if (opened->min() < segment.fence || overlaps(segment.fence, *opened)) {
      return base::fail(
          corrupt(PartitionFault::kIdOutsideInterval, segments_.key_of(segment.fence)));
    }
    view_ = *opened;
    fence_ = segment.fence;
    return {};
  }

 private:
  // Whether the segment that was read before reaches into this one's interval, or the other way.
  [[nodiscard]] bool overlaps(Id fence, const SegmentView& opened) const noexcept {
    if (!view_ || fence_ == fence) return false;
    return fence_ < fence ? view_->max() >= fence : opened.max() >= fence_;
  }

  kv::Reader* reader_;
  std::uint64_t mutations_;
  std::unique_ptr<kv::Cursor> cursor_;
  SegmentCursor segments_;
  std::optional<SegmentView> view_;
  Id fence_;  // of the view
};

class Ascending final : public ShardStream {
 public:
  using ShardStream::ShardStream;

  Result<MaybeContainer, Error> next() override {
    CAD_TRY(check_fresh());
    if (!started_) {
      started_ = true;
      CAD_TRY(enter_at_begin(segments().first()));
    } else if (view()) {
      ++at_;
    }
    return show();
  }

  // The segment after this one is tried before a lookup is paid for (B-26).
  Result<MaybeContainer, Error> seek(std::uint64_t chunk) override {
    CAD_TRY(check_fresh());
    if (chunk > kChunkMax) {  // Behind every id.
      started_ = true;
      CAD_TRY(enter(std::nullopt));
      return std::nullopt;
    }
    if (!started_) {
      started_ = true;
      CAD_TRY(enter_at(segments().locate(fence_at(chunk)), chunk));
      if (!view()) CAD_TRY(enter_at_begin(segments().first()));
      return show();
    }
    if (!view()) return std::nullopt;
    if (at_ != std::default_sentinel && chunk <= (*at_).chunk) return next();
    if (chunk > chunk_of(view()->max())) {
      CAD_TRY(enter_at(segments().next(), chunk));
      if (view() && chunk > chunk_of(view()->max())) {
        CAD_TRY(enter_at(segments().locate(fence_at(chunk)), chunk));
      }
      return show();
    }
    at_ = view()->seek(chunk);
    return show();
  }

 private:
  Result<void, Error> enter_at_begin(const SegmentCursor::Found& found) {
    CAD_TRY(enter(found));
    if (view()) at_ = view()->begin();
    return {};
  }
  Result<void, Error> enter_at(const SegmentCursor::Found& found, std::uint64_t chunk) {
    CAD_TRY(enter(found));
    if (view()) at_ = view()->seek(chunk);
    return {};
  }
  // The container that the stream stands at, or the next segment's first.
  Result<MaybeContainer, Error> show() {
    while (view()) {
      if (at_ != std::default_sentinel) return *at_;
      CAD_TRY(enter_at_begin(segments().next()));
    }
    return std::nullopt;
  }

  bool started_ = false;
  ContainerIterator at_;
};

class Descending final : public ShardStream {
 public:
  using ShardStream::ShardStream;

  Result<MaybeContainer, Error> next() override {
    CAD_TRY(check_fresh());
    if (!started_) return start(segments().last(), kChunkMax);
    if (below_ == 0) return std::nullopt;
    return show(below_ - 1);
  }

  Result<MaybeContainer, Error> seek(std::uint64_t chunk) override {
    CAD_TRY(check_fresh());
    chunk = std::min(chunk, kChunkMax);
    if (!started_) return start(segments().locate(id_at(chunk, kLastSlot)), chunk);
    if (chunk + 1 >= below_) return next();
    if (view() && chunk < chunk_of(view()->min())) {
      CAD_TRY(enter(segments().locate(id_at(chunk, kLastSlot))));
    }
    return show(chunk);
  }

 private:
  static constexpr std::uint16_t kLastSlot = kSlotsPerChunk - 1;

  Result<MaybeContainer, Error> start(const SegmentCursor::Found& found, std::uint64_t chunk) {
    started_ = true;
    CAD_TRY(enter(found));
    return show(chunk);
  }
  // The greatest container whose chunk is at most this one.
  Result<MaybeContainer, Error> show(std::uint64_t chunk) {
    while (view()) {
      if (const auto container = view()->floor(chunk, buffer_)) {
        below_ = container->chunk;
        return container;
      }
      CAD_TRY(enter(segments().prev()));
    }
    below_ = 0;
    return std::nullopt;
  }

  bool started_ = false;
  std::uint64_t below_ = 0;  // what comes lies under this chunk
  ContainerBuffer buffer_;
};

}  // namespace

Result<Stream, Error> stream_shard(kv::Reader& reader,
                                   base::ByteView base_key,
                                   Shard shard,
                                   Direction direction) {
  auto cursor = CAD_TRY(stored(reader.cursor()));
  if (direction == Direction::kAscending) {
    return std::make_unique<Ascending>(reader, std::move(cursor), base_key, shard, direction);
  }
  return std::make_unique<Descending>(reader, std::move(cursor), base_key, shard, direction);
}

}  // namespace cadastre::bitmap
