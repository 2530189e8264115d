#include "bitmap/table_reader.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "base/result.h"
#include "bitmap/bitmap.h"
#include "bitmap/bucket_key.h"
#include "bitmap/bucket_range.h"
#include "bitmap/config.h"
#include "bitmap/container.h"
#include "bitmap/descriptor.h"
#include "bitmap/error.h"
#include "bitmap/id_stream.h"
#include "bitmap/ids.h"
#include "bitmap/key_codec.h"
#include "bitmap/key_cursor.h"
#include "bitmap/limits.h"
#include "bitmap/segment_cursor.h"
#include "bitmap/segment_form.h"
#include "bitmap/segment_view.h"
#include "bitmap/set_ops.h"
#include "bitmap/shard_stream.h"
#include "bitmap/sorted_ids.h"
#include "bitmap/stats_record.h"
#include "bitmap/stored.h"
#include "bitmap/verify.h"
#include "kv/kv.h"

namespace cadastre::bitmap {
namespace {

constexpr std::uint16_t kShardMax = std::numeric_limits<std::uint16_t>::max();

Result<SegmentView, Error> open_segment(SegmentCursor& segments,
                                        const StoredSegment& segment,
                                        ReadCheck check) {
  const auto view = SegmentView::open(segment.value, check);
  if (!view) return base::fail(corrupt(view.error(), segments.key_of(segment.fence)));
  return *view;
}

// Whether the settings that cannot change agree.
bool is_compatible(const Config& expected, const Config& found) noexcept {
  return expected.shard_count == found.shard_count &&
         expected.shard_grain_bits == found.shard_grain_bits;
}

}  // namespace

Result<void, Error> validate(const Config& config, const kv::Limits& limits) {
  const std::size_t value_bytes =
      std::max<std::size_t>(config.segment_bytes_max, kOneChunkBytesMax);
  if (!in_range(config) || limits.key_bytes_max < kStoredKeyBytesMax ||
      limits.value_bytes_max < value_bytes) {
    return base::fail(misuse(Misuse::kConfig));
  }
  // Statistics would make all writers of a shard conflict.
  if (config.stats == Stats::kKept && limits.counters_conflict) {
    return base::fail(misuse(Misuse::kConfig));
  }
  return {};
}

Result<std::optional<Config>, Error> TableReader::read_config(kv::Reader& reader,
                                                              kv::Cursor& cursor) {
  const StoredKey key = descriptor_key();
  const auto bytes = CAD_TRY(stored(reader.get(key)));
  if (bytes) {
    const auto config = decode_descriptor(*bytes);
    if (!config) return base::fail(corrupt(config.error(), key));
    return *config;
  }
  if (CAD_TRY(stored(cursor.seek_ceiling({})))) return base::fail(config_mismatch());
  return std::nullopt;
}

Result<TableReader, Error> TableReader::open(kv::Reader& reader,
                                             const std::optional<Config>& expected,
                                             ReadCheck point_reads) {
  if (expected) CAD_TRY(validate(*expected, reader.limits()));
  auto cursor = CAD_TRY(stored(reader.cursor()));
  const auto found = CAD_TRY(read_config(reader, *cursor));
  if (!found) return base::fail(misuse(Misuse::kNoSuchTable));
  if (expected && !is_compatible(*expected, *found)) return base::fail(config_mismatch());
  return TableReader(reader, std::move(cursor), *found, point_reads);
}

Result<TableReader, Error> TableReader::with_config(kv::Reader& reader, const Config& config) {
  CAD_TRY(validate(config, reader.limits()));
  return TableReader(reader, CAD_TRY(stored(reader.cursor())), config, ReadCheck::kStructure);
}

Result<void, Error> TableReader::check_key(ByteView key) {
  if (!check_base_key(key)) return base::fail(misuse(Misuse::kKeyTooLong));
  return {};
}

template <class Visit>
Result<void, Error> TableReader::for_each_shard(ByteView key, const Visit& visit) const {
  CAD_TRY(check_key(key));
  for (Shard from{};;) {
    const auto shard = CAD_TRY(find_shard(*cursor_, key, from));
    if (!shard) return {};
    CAD_TRY(visit(*shard));
    if (shard->value() == kShardMax) return {};
    from = Shard{static_cast<std::uint16_t>(shard->value() + 1)};
  }
}

Result<bool, Error> TableReader::contains(ByteView key, Id id) const {
  CAD_TRY(check_key(key));
  SegmentCursor segments(*cursor_, key, shard_of(key, id));
  const auto home = CAD_TRY(segments.locate(id));
  if (!home) return false;
  return CAD_TRY(open_segment(segments, *home, point_reads_))
  .contains(id);
}

Result<std::vector<bool>, Error> TableReader::contains_many(ByteView key, SortedIds ids) const {
  CAD_TRY(check_key(key));
  if (!ids.ascend()) return base::fail(misuse(Misuse::kUnsortedIds));
  std::vector<bool> found;
  found.reserve(ids.ids.size());
  std::optional<SegmentView> view;  // what the id before was looked up in
  Shard shard{};
  for (const Id id : ids.ids) {
    const Shard own = shard_of(key, id);
    // Ids ascend, so one that is not above the segment's last has the same home.
    if (!view || own != shard || view->max() < id) {
      SegmentCursor segments(*cursor_, key, own);
      const auto home = CAD_TRY(segments.locate(id));
      shard = own;
      view = std::nullopt;
      if (home) view = CAD_TRY(open_segment(segments, *home, point_reads_));
    }
    found.push_back(view && view->contains(id));
  }
  return found;
}

Result<std::uint64_t, Error> TableReader::cardinality(ByteView key) const {
  std::uint64_t sum = 0;
  CAD_TRY(for_each_shard(key, [&](Shard shard) -> Result<void, Error> {
    SegmentCursor segments(*cursor_, key, shard);
    if (const auto bytes = CAD_TRY(stored(reader_->get(segments.prefix())))) {
      const auto record = decode_stats(*bytes);
      if (!record) return base::fail(corrupt(record.error(), segments.prefix()));
      sum += record->cardinality;
      return {};
    }
    for (auto segment = CAD_TRY(segments.first()); segment; segment = CAD_TRY(segments.next()))
      sum += CAD_TRY(open_segment(segments, *segment, ReadCheck::kStructure))
    .cardinality();
    return {};
  }));
  return sum;
}

Result<std::uint64_t, Error> TableReader::cardinality(ByteView key, IdRange range) const {
  if (range.last < range.first) return base::fail(misuse(Misuse::kBadRange));
  const std::uint64_t up_to_last = CAD_TRY(rank(key, range.last));
  if (range.first == Id{}) return up_to_last;
  return up_to_last - CAD_TRY(rank(key, Id{range.first.value() - 1}));
}

Result<std::optional<Id>, Error> TableReader::min(ByteView key) const {
  std::optional<Id> least;
  CAD_TRY(for_each_shard(key, [&](Shard shard) -> Result<void, Error> {
    SegmentCursor segments(*cursor_, key, shard);
    const auto first = CAD_TRY(segments.first());
    if (!first) return {};
    const Id own = CAD_TRY(open_segment(segments, *first, point_reads_))
    .min();
    least = least ? std::min(*least, own) : own;
    return {};
  }));
  return least;
}

Result<std::optional<Id>, Error> TableReader::max(ByteView key) const {
  std::optional<Id> greatest;
  CAD_TRY(for_each_shard(key, [&](Shard shard) -> Result<void, Error> {
    SegmentCursor segments(*cursor_, key, shard);
    const auto last = CAD_TRY(segments.last());
    if (!last) return {};
    const Id own = CAD_TRY(open_segment(segments, *last, point_reads_))
    .max();
    greatest = greatest ? std::max(*greatest, own) : own;
    return {};
  }));
  return greatest;
}

Result<std::uint64_t, Error> TableReader::rank(ByteView key, Id id) const {
  std::uint64_t sum = 0;
  CAD_TRY(for_each_shard(key, [&](Shard shard) -> Result<void, Error> {
    SegmentCursor segments(*cursor_, key, shard);
    for (auto segment = CAD_TRY(segments.first()); segment && segment->fence <= id;
         segment = CAD_TRY(segments.next())) {
      sum += CAD_TRY(open_segment(segments, *segment, point_reads_))
      .rank(id);
    }
    return {};
  }));
  return sum;
}

Result<std::optional<Id>, Error> TableReader::select(ByteView key, std::uint64_t index) const {
  const Stream ids = CAD_TRY(stream(key));
  while (const auto container = CAD_TRY(ids->next())) {
    if (index < container->cardinality) {
      const auto slot = bitmap::select(*container, static_cast<std::uint32_t>(index));
      if (!slot) return base::fail(corrupt(ValueFault::kCardinalityDiffers, {}));
      return id_at(container->chunk, *slot);
    }
    index -= container->cardinality;
  }
  return std::nullopt;
}

Result<Stream, Error> TableReader::stream(ByteView key, Direction direction) const {
  CAD_TRY(check_key(key));
  if (config_.shard_count == 1) return stream_shard(*reader_, key, Shard{}, direction);
  std::vector<Stream> shards;
  CAD_TRY(for_each_shard(key, [&](Shard shard) -> Result<void, Error> {
    shards.push_back(CAD_TRY(stream_shard(*reader_, key, shard, direction)));
    return {};
  }));
  return unite_many(std::move(shards), direction);
}

Result<std::vector<std::uint64_t>, Error> TableReader::buckets(ByteView key,
                                                               BucketRange range) const {
  return find_buckets(*cursor_, key, range);
}

Result<Stream, Error> TableReader::stream_buckets(ByteView key,
                                                  BucketRange range,
                                                  Direction direction) const {
  std::vector<Stream> streams;
  for (const std::uint64_t bucket : CAD_TRY(buckets(key, range))) {
    const auto base_key = bucket_key(bucket, key);
    CAD_CHECK(base_key.has_value(), "its length was checked when the bucket was found");
    streams.push_back(CAD_TRY(stream(*base_key, direction)));
  }
  return unite_many(std::move(streams), direction);
}

Result<Bitmap, Error> TableReader::get(ByteView key, std::size_t bytes_max) const {
  return collect(*CAD_TRY(stream(key)), bytes_max);
}

Result<KeyStats, Error> TableReader::stats(ByteView key) const {
  KeyStats stats;
  CAD_TRY(for_each_shard(key, [&](Shard shard) -> Result<void, Error> {
    SegmentCursor segments(*cursor_, key, shard);
    stats.shards += 1;
    for (auto segment = CAD_TRY(segments.first()); segment; segment = CAD_TRY(segments.next())) {
      const auto view = CAD_TRY(open_segment(segments, *segment, ReadCheck::kStructure));
      stats.segments += 1;
      stats.value_bytes += segment->value.size();
      stats.cardinality += view.cardinality();
    }
    return {};
  }));
  return stats;
}

Result<KeyCursor, Error> TableReader::keys(ByteView prefix, std::optional<ByteView> after) const {
  return KeyCursor::open(*reader_, prefix, after);
}

Result<std::vector<Finding>, Error> TableReader::verify(ByteView key,
                                                        std::size_t findings_max) const {
  CAD_TRY(check_key(key));
  return verify_key(*cursor_, config_, key, findings_max);
}

Result<std::vector<Finding>, Error> TableReader::verify_all(std::size_t findings_max) const {
  return verify_table(*cursor_, config_, findings_max);
}

}  // namespace cadastre::bitmap
