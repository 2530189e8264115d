#include "bitmap/table_writer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "base/result.h"
#include "bitmap/bitmap.h"
#include "bitmap/bucket_key.h"
#include "bitmap/bucket_range.h"
#include "bitmap/compact.h"
#include "bitmap/config.h"
#include "bitmap/descriptor.h"
#include "bitmap/error.h"
#include "bitmap/id_stream.h"
#include "bitmap/ids.h"
#include "bitmap/key_codec.h"
#include "bitmap/key_cursor.h"
#include "bitmap/limits.h"
#include "bitmap/partition_writer.h"
#include "bitmap/segment_cursor.h"
#include "bitmap/segment_edit.h"
#include "bitmap/segment_value.h"
#include "bitmap/segment_view.h"
#include "bitmap/set_ops.h"
#include "bitmap/sorted_ids.h"
#include "bitmap/stats_record.h"
#include "bitmap/stored.h"
#include "bitmap/table_reader.h"
#include "kv/kv.h"

namespace cadastre::bitmap {
namespace {

Result<void, Error> check_ascends(const IdStream& stream) {
  if (stream.direction() == Direction::kAscending) return {};
  return base::fail(misuse(Misuse::kMixedDirections));
}

}  // namespace

Result<TableWriter, Error> TableWriter::over(kv::Writer& writer, TableReader reader) {
  auto partition = CAD_TRY(
      PartitionWriter<RoaringValue>::open(writer, reader.config(), kBulkFillPercentDefault));
  return TableWriter(std::move(reader), writer, std::move(partition));
}

Result<TableWriter, Error> TableWriter::create(kv::Writer& writer, const Config& config) {
  CAD_TRY(validate(config, writer.limits()));
  const auto cursor = CAD_TRY(stored(writer.cursor()));
  if (CAD_TRY(stored(cursor->seek_ceiling({})))) return base::fail(misuse(Misuse::kTableExists));
  CAD_TRY(stored(writer.put(descriptor_key(), encode_descriptor(config))));
  return open(writer, config);
}

Result<TableWriter, Error> TableWriter::open(kv::Writer& writer,
                                             const std::optional<Config>& expected) {
  return over(writer, CAD_TRY(TableReader::open(writer, expected)));
}

Result<TableWriter, Error> TableWriter::unfinished(kv::Writer& writer, const Config& config) {
  return over(writer, CAD_TRY(TableReader::with_config(writer, config)));
}

Result<bool, Error> TableWriter::insert(ByteView key, Id id) {
  CAD_TRY(check_key(key));
  return partition_.insert(key, shard_of(key, id), id);
}

Result<bool, Error> TableWriter::remove(ByteView key, Id id) {
  CAD_TRY(check_key(key));
  return partition_.remove(key, shard_of(key, id), id);
}

Result<std::uint64_t, Error> TableWriter::insert_many(ByteView key, std::span<const Id> ids) {
  return merge(key, ids, SetOp::kAdd);
}

Result<std::uint64_t, Error> TableWriter::insert_many(ByteView key, SortedIds ids) {
  CAD_TRY(check_key(key));
  if (!ids.ascend()) return base::fail(misuse(Misuse::kUnsortedIds));
  return merge_sorted(key, ids.ids, SetOp::kAdd);
}

Result<std::uint64_t, Error> TableWriter::insert_many(ByteView key, IdSource source) {
  std::vector<Id> block(kBatchIdsMax);
  std::uint64_t added = 0;
  for (std::size_t n = source(block); n != 0; n = source(block))
    added += CAD_TRY(merge(key, std::span<const Id>(block).first(n), SetOp::kAdd));
  return added;
}

Result<std::uint64_t, Error> TableWriter::remove_many(ByteView key, std::span<const Id> ids) {
  return merge(key, ids, SetOp::kRemove);
}

Result<std::uint64_t, Error> TableWriter::merge(ByteView key, std::span<const Id> ids, SetOp op) {
  CAD_TRY(check_key(key));
  std::uint64_t changed = 0;
  while (!ids.empty()) {
    const auto part = ids.first(std::min(ids.size(), kBatchIdsMax));
    batch_.assign(part.begin(), part.end());
    std::ranges::sort(batch_);
    const auto repeats = std::ranges::unique(batch_);
    batch_.erase(repeats.begin(), repeats.end());
    changed += CAD_TRY(merge_sorted(key, batch_, op));
    ids = ids.subspan(part.size());
  }
  return changed;
}

Result<std::uint64_t, Error> TableWriter::merge_sorted(ByteView key,
                                                       std::span<const Id> ids,
                                                       SetOp op) {
  if (config().shard_count == 1) return partition_.merge(key, Shard{}, ids, op);
  std::uint64_t changed = 0;
  while (!ids.empty()) {
    const auto part = ids.first(std::min(ids.size(), kBatchIdsMax));
    by_shard_.clear();
    for (const Id id : part)
      by_shard_.emplace_back(shard_of(key, id), id);
    std::ranges::sort(by_shard_);
    std::vector<Id> own;
    for (std::size_t i = 0; i < by_shard_.size();) {
      const Shard shard = by_shard_[i].first;
      own.clear();
      for (; i < by_shard_.size() && by_shard_[i].first == shard; ++i)
        own.push_back(by_shard_[i].second);
      changed += CAD_TRY(partition_.merge(key, shard, own, op));
    }
    ids = ids.subspan(part.size());
  }
  return changed;
}

Result<std::uint64_t, Error> TableWriter::insert_range(ByteView key, IdRange range) {
  return merge_range(key, range, SetOp::kAdd);
}

Result<std::uint64_t, Error> TableWriter::remove_range(ByteView key, IdRange range) {
  return merge_range(key, range, SetOp::kRemove);
}

Result<std::uint64_t, Error> TableWriter::merge_range(ByteView key, IdRange range, SetOp op) {
  CAD_TRY(check_key(key));
  if (range.last < range.first) return base::fail(misuse(Misuse::kBadRange));
  if (config().shard_count == 1 && op == SetOp::kRemove) {
    return partition_.merge(key, Shard{}, range, op);
  }
  if (chunk_of(range.last) - chunk_of(range.first) >= kRangeChunksMax) {
    return base::fail(misuse(Misuse::kBadRange));
  }
  if (config().shard_count == 1) return partition_.merge(key, Shard{}, range, op);
  // All ids of a grain share a shard.
  const std::uint64_t grain_last = (std::uint64_t{1} << config().shard_grain_bits) - 1;
  std::uint64_t changed = 0;
  for (Id at = range.first;;) {
    const Id last = std::min(range.last, Id{at.value() | grain_last});
    changed += CAD_TRY(partition_.merge(key, shard_of(key, at), IdRange{at, last}, op));
    if (last == range.last) return changed;
    at = Id{last.value() + 1};
  }
}

Result<std::uint64_t, Error> TableWriter::unite(ByteView key, const Bitmap& other) {
  CAD_TRY(check_key(key));
  return merge_stream(key, *stream_of(other), SetOp::kAdd);
}

Result<std::uint64_t, Error> TableWriter::unite(ByteView key, IdStream& stream) {
  CAD_TRY(check_key(key));
  CAD_TRY(check_ascends(stream));
  return merge_stream(key, stream, SetOp::kAdd);
}

Result<std::uint64_t, Error> TableWriter::subtract(ByteView key, const Bitmap& other) {
  CAD_TRY(check_key(key));
  return merge_stream(key, *stream_of(other), SetOp::kRemove);
}

Result<std::uint64_t, Error> TableWriter::merge_stream(ByteView key, IdStream& stream, SetOp op) {
  std::uint64_t changed = 0;
  std::vector<Id> ids;
  const auto flush = [&]() -> Result<void, Error> {
    changed += CAD_TRY(merge_sorted(key, ids, op));
    ids.clear();
    return {};
  };
  std::optional<Error> failed;
  CAD_TRY(for_each(stream, [&](std::span<const Id> block) {
    ids.insert(ids.end(), block.begin(), block.end());
    if (ids.size() < kBatchIdsMax - kBlockIds) return true;
    if (auto flushed = flush(); !flushed) failed = std::move(flushed.error());
    return !failed;
  }));
  if (failed) return base::fail(std::move(*failed));
  CAD_TRY(flush());
  return changed;
}

// What is to go is gathered before it goes, for a change ends the stream that found it.
Result<std::uint64_t, Error> TableWriter::retain(ByteView key, const Bitmap& other) {
  CAD_TRY(check_key(key));
  std::uint64_t removed = 0;
  std::optional<Id> behind;
  for (;;) {
    if (behind == kIdMax) return removed;
    const Id from = behind ? Id{behind->value() + 1} : Id{};
    const Stream surplus = minus(within(CAD_TRY(stream(key)), {from, kIdMax}), stream_of(other));
    std::vector<Id> ids;
    CAD_TRY(for_each(*surplus, [&ids](std::span<const Id> block) {
      ids.insert(ids.end(), block.begin(), block.end());
      return ids.size() < kBatchIdsMax - kBlockIds;
    }));
    if (ids.empty()) return removed;
    behind = ids.back();
    removed += CAD_TRY(merge_sorted(key, ids, SetOp::kRemove));
  }
}

Result<void, Error> TableWriter::assign(ByteView key, IdStream& stream) {
  CAD_TRY(check_key(key));
  CAD_TRY(check_ascends(stream));
  (void)CAD_TRY(erase_key(key));
  if (config().shard_count == 1) return write_packed_shard(*writer_, config(), key, stream);
  (void)CAD_TRY(merge_stream(key, stream, SetOp::kAdd));
  return {};
}

Result<bool, Error> TableWriter::erase_key(ByteView key) {
  CAD_TRY(check_key(key));
  const StoredKey prefix = key_prefix(key);
  const std::uint64_t before = writer_->mutation_count();
  const auto end = prefix_end(prefix);
  CAD_CHECK(end.has_value(), "a key's length is never all ones");
  CAD_TRY(stored(writer_->erase_range(prefix, *end)));
  return writer_->mutation_count() != before;
}

Result<bool, Error> TableWriter::erase_buckets(BucketRange range) {
  const std::uint64_t before = writer_->mutation_count();
  CAD_TRY(erase_bucket_records(*writer_, cursor(), range));
  return writer_->mutation_count() != before;
}

Result<CompactReport, Error> TableWriter::compact(ByteView key,
                                                  CompactBudget budget,
                                                  std::optional<CompactCursor> from) {
  CAD_TRY(check_key(key));
  return compact_key(*writer_, cursor(), config(), key, budget, from);
}

Result<StatsReport, Error> TableWriter::repair_stats(ByteView key) {
  CAD_TRY(check_key(key));
  StatsReport report;
  for (Shard from{};;) {
    const auto shard = CAD_TRY(find_shard(cursor(), key, from));
    if (!shard) return report;
    report.shards += 1;
    report.changed += CAD_TRY(repair_shard(key, *shard))
    ? 1 : 0;
    if (shard->value() == std::numeric_limits<std::uint16_t>::max()) return report;
    from = Shard{static_cast<std::uint16_t>(shard->value() + 1)};
  }
}

Result<bool, Error> TableWriter::repair_shard(ByteView key, Shard shard) {
  SegmentCursor segments(cursor(), key, shard);
  StatsRecord counted;
  for (auto segment = CAD_TRY(segments.first()); segment; segment = CAD_TRY(segments.next())) {
    const auto view = SegmentView::open(segment->value);
    if (!view) return base::fail(corrupt(view.error(), segments.key_of(segment->fence)));
    counted.cardinality += view->cardinality();
    counted.segments += 1;
    counted.value_bytes += segment->value.size();
  }
  const auto found = CAD_TRY(stored(writer_->get(segments.prefix())));
  if (config().stats == Stats::kKept && counted.segments >= 2) {
    const auto record = encode_stats(counted);
    if (found && base::equal(*found, record)) return false;
    CAD_TRY(stored(writer_->put(segments.prefix(), record)));
    return true;
  }
  if (!found) return false;
  CAD_TRY(stored(writer_->erase(segments.prefix())));
  return true;
}

Result<void, Error> TableWriter::set_segment_bytes_max(std::uint32_t bytes) {
  Config changed = config();
  changed.segment_bytes_max = bytes;
  CAD_TRY(validate(changed, writer_->limits()));
  CAD_TRY(stored(writer_->put(descriptor_key(), encode_descriptor(changed))));
  set_config(changed);
  partition_ =
      CAD_TRY(PartitionWriter<RoaringValue>::open(*writer_, changed, kBulkFillPercentDefault));
  return {};
}

}  // namespace cadastre::bitmap
