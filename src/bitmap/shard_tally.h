// ShardTally: what one operation does to a shard's statistics (2.5, I-6).
//
// The record exists exactly for shards of two or more segments. It is read once before the first
// change and written once after the last.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/result.h"
#include "bitmap/config.h"
#include "bitmap/error.h"
#include "bitmap/ids.h"
#include "bitmap/segment_cursor.h"
#include "bitmap/stats_record.h"
#include "kv/kv.h"

namespace cadastre::bitmap {

// A segment as it was before it changed.
struct SegmentBefore {
  Id fence;
  std::uint64_t cardinality = 0;
  std::size_t value_bytes = 0;
};

class ShardTally {
 public:
  explicit ShardTally(Stats stats) noexcept : stats_(stats) {}

  // Before the first change; `touched` is the segment that is about to change, none if the shard is
  // empty. Where there is no record it is the only one, and counts for the whole shard.
  [[nodiscard]] Result<void, Error> begin(kv::Writer& writer,
                                          const SegmentCursor& segments,
                                          const std::optional<SegmentBefore>& touched);

  void added(std::uint64_t cardinality, std::size_t value_bytes) noexcept;
  void removed(const SegmentBefore& segment) noexcept;
  void changed(const SegmentBefore& old,
               std::uint64_t cardinality,
               std::size_t value_bytes) noexcept {
    removed(old);
    added(cardinality, value_bytes);
  }

  // Writes the record, or erases it.
  [[nodiscard]] Result<void, Error> settle(kv::Writer& writer, const SegmentCursor& segments);

 private:
  Stats stats_;
  bool began_ = false;
  bool had_record_ = false;
  StatsRecord before_;
  StatsRecord now_;
};

}  // namespace cadastre::bitmap
