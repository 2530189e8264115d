#include "bitmap/shard_tally.h"

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/result.h"
#include "bitmap/config.h"
#include "bitmap/error.h"
#include "bitmap/faults.h"
#include "bitmap/ids.h"
#include "bitmap/segment_cursor.h"
#include "bitmap/stats_record.h"
#include "bitmap/stored.h"
#include "kv/kv.h"

namespace cadastre::bitmap {

Result<void, Error> ShardTally::begin(kv::Writer& writer,
                                      const SegmentCursor& segments,
                                      const std::optional<SegmentBefore>& touched) {
  if (stats_ == Stats::kNone || began_) return {};
  began_ = true;
  const auto bytes = CAD_TRY(stored(writer.get(segments.prefix())));
  had_record_ = bytes.has_value();
  if (bytes) {
    const auto record = decode_stats(*bytes);
    if (!record) return base::fail(corrupt(record.error(), segments.prefix()));
    before_ = *record;
  } else if (touched) {
    // A second segment without a record: somebody has lost it.
    if (touched->fence != Id{}) {
      return base::fail(corrupt(PartitionFault::kStatsDiffer, segments.prefix()));
    }
    before_ = {touched->cardinality, 1, touched->value_bytes};
  }
  now_ = before_;
  return {};
}

void ShardTally::added(std::uint64_t cardinality, std::size_t value_bytes) noexcept {
  now_.cardinality += cardinality;
  now_.segments += 1;
  now_.value_bytes += value_bytes;
}

// Counts that were wrong before wrap around here; verify finds them, repair_stats rights them.
void ShardTally::removed(const SegmentBefore& segment) noexcept {
  now_.cardinality -= segment.cardinality;
  now_.segments -= 1;
  now_.value_bytes -= segment.value_bytes;
}

Result<void, Error> ShardTally::settle(kv::Writer& writer, const SegmentCursor& segments) {
  if (!began_ || now_ == before_) return {};
  if (now_.segments >= 2) return stored(writer.put(segments.prefix(), encode_stats(now_)));
  if (had_record_) return stored(writer.erase(segments.prefix()));
  return {};
}

}  // namespace cadastre::bitmap
