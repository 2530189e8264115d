#include "bitmap/segment_cursor.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "base/endian.h"
#include "base/result.h"
#include "bitmap/error.h"
#include "bitmap/faults.h"
#include "bitmap/ids.h"
#include "bitmap/key_codec.h"
#include "kv/error.h"
#include "kv/kv.h"

namespace cadastre::bitmap {
namespace {

constexpr std::size_t kFenceBytes = sizeof(std::uint64_t);

}  // namespace

SegmentCursor::SegmentCursor(kv::Cursor& cursor, ByteView base_key, Shard shard) noexcept
    : cursor_(&cursor) {
  const StoredKey prefix = stats_key(base_key, shard);
  prefix_bytes_ = prefix.view().size();
  std::ranges::copy(prefix.view(), key_.begin());
}

SegmentCursor::Found SegmentCursor::locate(Id id) {
  auto home = CAD_TRY(answer(cursor_->seek_floor(key_of(id))));
  if (home) return home;
  // A shard whose segments all lie above the id has lost its first one (I-2).
  if (const auto above = CAD_TRY(next())) {
    return base::fail(corrupt(PartitionFault::kFirstFenceNotZero, key_of(above->fence)));
  }
  return std::nullopt;
}

SegmentCursor::Found SegmentCursor::first() {
  return answer(cursor_->seek_ceiling(key_of(Id{})));
}

SegmentCursor::Found SegmentCursor::last() {
  return answer(cursor_->seek_floor(key_of(kIdMax)));
}

SegmentCursor::Found SegmentCursor::next() {
  return answer(cursor_->next());
}

SegmentCursor::Found SegmentCursor::prev() {
  return answer(cursor_->prev());
}

ByteView SegmentCursor::key_of(Id fence) noexcept {
  base::store_be(key_.data() + prefix_bytes_, fence.value());
  return ByteView(key_).first(prefix_bytes_ + kFenceBytes);
}

ByteView SegmentCursor::prefix() const noexcept {
  return ByteView(key_).first(prefix_bytes_);
}

SegmentCursor::Found SegmentCursor::answer(
    const Result<std::optional<kv::EntryView>, kv::Error>& entry) const {
  if (!entry) return base::fail(from_storage(entry.error()));
  if (!*entry) return std::nullopt;
  const ByteView own = prefix();
  const ByteView key = (*entry)->key;
  if (key.size() < own.size() || !base::equal(key.first(own.size()), own)) return std::nullopt;
  if (key.size() == own.size()) return std::nullopt;  // The statistics stand before the segments.
  if (key.size() != own.size() + kFenceBytes) {
    return base::fail(corrupt(KeyFault::kBadLength, key));
  }
  const Id fence{base::load_be<std::uint64_t>(key.data() + own.size())};
  if (slot_of(fence) != 0) return base::fail(corrupt(PartitionFault::kFenceUnaligned, key));
  return StoredSegment{fence, (*entry)->value};
}

}  // namespace cadastre::bitmap
