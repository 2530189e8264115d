#include "bitmap/copy_table.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "base/bytes.h"
#include "base/check.h"
#include "base/result.h"
#include "bitmap/budget_stream.h"
#include "bitmap/config.h"
#include "bitmap/descriptor.h"
#include "bitmap/error.h"
#include "bitmap/ids.h"
#include "bitmap/key_codec.h"
#include "bitmap/key_cursor.h"
#include "bitmap/segment_view.h"
#include "bitmap/stats_record.h"
#include "bitmap/stored.h"
#include "bitmap/table_reader.h"
#include "bitmap/table_writer.h"
#include "kv/kv.h"

namespace cadastre::bitmap {
namespace {

Result<base::Bytes, Error> last_key(kv::Reader& table) {
  const auto cursor = CAD_TRY(stored(table.cursor()));
  const auto last = CAD_TRY(stored(cursor->prev()));
  return last ? base::to_owned(last->key) : base::Bytes{};
}

// That the target is as this copy left it: empty before the first call.
Result<void, Error> check_target(kv::Writer& target, const std::optional<CopyCursor>& from) {
  const base::Bytes end = CAD_TRY(last_key(target));
  if (from && end != from->target_end) return base::fail(misuse(Misuse::kBadCopyCursor));
  if (!from && !end.empty()) return base::fail(misuse(Misuse::kTableExists));
  return {};
}

// The descriptor makes a table of what was copied.
Result<void, Error> close(kv::Writer& target, const Config& settings, CopyReport& report) {
  if (report.next) {
    report.next->target_end = CAD_TRY(last_key(target));
    return {};
  }
  return stored(target.put(descriptor_key(), encode_descriptor(settings)));
}

// Nothing that cannot be read is handed on (B-30).
Result<void, Error> check_record(const DecodedKey& key, const kv::EntryView& entry) {
  if (std::holds_alternative<StatsKey>(key)) {
    const auto record = decode_stats(entry.value);
    if (!record) return base::fail(corrupt(record.error(), entry.key));
    return {};
  }
  const auto view = SegmentView::open(entry.value);
  if (!view) return base::fail(corrupt(view.error(), entry.key));
  return {};
}

// Statistics stand before the first segment of their shard.
StoredKey place_of(const CopyCursor& from) {
  return from.fence == Id{} ? stats_key(from.base_key, from.shard)
                            : segment_key(from.base_key, from.shard, from.fence);
}

CopyCursor cursor_at(const DecodedKey& key) {
  if (const auto* const stats = std::get_if<StatsKey>(&key)) {
    return {base::to_owned(stats->base_key), stats->shard, Id{}, {}};
  }
  const auto& segment = std::get<SegmentKey>(key);
  return {base::to_owned(segment.base_key), segment.shard, segment.fence, {}};
}

Result<CopyReport, Error> copy_records(kv::Reader& source,
                                       kv::Writer& target,
                                       std::size_t budget_bytes,
                                       const std::optional<CopyCursor>& from) {
  CopyReport report;
  base::Bytes current = from ? from->base_key : base::Bytes{};
  bool has_current = from.has_value();
  const auto cursor = CAD_TRY(stored(source.cursor()));
  auto entry =
      CAD_TRY(stored(from ? cursor->seek_ceiling(place_of(*from)) : cursor->seek_ceiling({})));
  for (; entry; entry = CAD_TRY(stored(cursor->next()))) {
    const auto owner = CAD_TRY(owner_of(entry->key));
    if (!owner) break;  // The descriptor is behind everything else.
    const auto key = decode_key(entry->key);
    CAD_CHECK(key.has_value(), "its owner was found in it");
    const bool is_next_key = has_current && !base::equal(owner->base_key, current);
    if (is_next_key) report.keys += 1;
    if (report.bytes >= budget_bytes) {
      report.next = cursor_at(*key);
      return report;
    }
    if (is_next_key || !has_current) current = base::to_owned(owner->base_key);
    has_current = true;
    CAD_TRY(check_record(*key, *entry));
    // Statistics are not weighed: no call ends between them and the segment they stand before.
    if (std::holds_alternative<SegmentKey>(*key)) report.bytes += entry->value.size();
    CAD_TRY(stored(target.put(entry->key, entry->value)));
  }
  report.keys += has_current ? 1 : 0;
  return report;
}

// One key, from a fence on: where it stopped for the budget, if it did.
Result<std::optional<Id>, Error> rebuild_key(
    const TableReader& source, TableWriter& target, ByteView key, Id from, BudgetLeft& budget) {
  BudgetStream stream(CAD_TRY(source.stream(key)), key, chunk_of(from), budget);
  if (from == Id{}) {
    CAD_TRY(target.assign(key, stream));
  } else {
    (void)CAD_TRY(target.unite(key, stream));
  }
  const auto stopped = stream.stopped_at();
  return stopped ? std::optional(fence_at(*stopped)) : std::nullopt;
}

Result<CopyReport, Error> rebuild_sets(const TableReader& source,
                                       TableWriter& target,
                                       std::size_t budget_bytes,
                                       const std::optional<CopyCursor>& from) {
  CopyReport report;
  BudgetLeft budget{budget_bytes};
  const auto rebuild = [&](base::Bytes key, Id fence) -> Result<void, Error> {
    const std::size_t before = budget.bytes_read;
    const auto stopped = CAD_TRY(rebuild_key(source, target, key, fence, budget));
    report.bytes += budget.bytes_read - before;
    if (stopped) {
      report.next = CopyCursor{std::move(key), Shard{}, *stopped, {}};
    } else {
      report.keys += 1;
    }
    return {};
  };
  if (from) CAD_TRY(rebuild(from->base_key, from->fence));
  auto keys =
      CAD_TRY(source.keys({}, from ? std::optional<ByteView>(from->base_key) : std::nullopt));
  while (!report.next) {
    auto key = CAD_TRY(keys.next());
    if (!key) return report;
    CAD_TRY(rebuild(std::move(*key), Id{}));
  }
  return report;
}

}  // namespace

Result<CopyReport, Error> rebuild_into(kv::Reader& source,
                                       kv::Writer& target,
                                       const Config& settings,
                                       std::size_t budget_bytes,
                                       const std::optional<CopyCursor>& from) {
  const auto table = CAD_TRY(TableReader::open(source));
  CAD_TRY(validate(settings, target.limits()));
  CAD_TRY(check_target(target, from));
  auto unfinished = CAD_TRY(TableWriter::unfinished(target, settings));
  CopyReport report = CAD_TRY(rebuild_sets(table, unfinished, budget_bytes, from));
  CAD_TRY(close(target, settings, report));
  return report;
}

Result<CopyReport, Error> copy_table(kv::Reader& source,
                                     kv::Writer& target,
                                     const CopyOptions& options,
                                     const std::optional<CopyCursor>& from) {
  const auto table = CAD_TRY(TableReader::open(source));
  const Config settings = options.settings.value_or(table.config());
  if (settings != table.config()) {
    return rebuild_into(source, target, settings, options.budget_bytes, from);
  }
  CAD_TRY(validate(settings, target.limits()));
  CAD_TRY(check_target(target, from));
  CopyReport report = CAD_TRY(copy_records(source, target, options.budget_bytes, from));
  CAD_TRY(close(target, settings, report));
  return report;
}

}  // namespace cadastre::bitmap
