// TableWriter: a table of sets, changed inside the caller's transaction (5.4).
//
//   auto txn = CAD_TRY(store.begin_write());
//   auto table = CAD_TRY(TableWriter::open(txn->writer(space)));
//   CAD_TRY(table.insert(as_bytes("red"), Id{42}));
//   CAD_TRY(txn->commit());
//
// Never begins or ends a transaction (B-1). After any error but kInvalidArgument the transaction is
// good for abort only. The cost of a change is bounded by the size of a segment, whatever the size of
// the set; a change that changes nothing writes nothing. Belongs to the thread of its transaction.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/function_ref.h"
#include "base/result.h"
#include "bitmap/bitmap.h"
#include "bitmap/bucket_key.h"
#include "bitmap/compact.h"
#include "bitmap/config.h"
#include "bitmap/error.h"
#include "bitmap/id_stream.h"
#include "bitmap/ids.h"
#include "bitmap/limits.h"
#include "bitmap/partition_writer.h"
#include "bitmap/segment_edit.h"
#include "bitmap/segment_value.h"
#include "bitmap/sorted_ids.h"
#include "bitmap/table_reader.h"
#include "kv/kv.h"

namespace cadastre::bitmap {

// Fills a block with ids in any order and answers how many; 0 ends the input.
using IdSource = base::FunctionRef<std::size_t(std::span<Id>)>;

struct StatsReport {
  std::uint32_t shards = 0;   // looked at
  std::uint32_t changed = 0;  // whose record was wrong, missing or superfluous
};

class TableWriter : public TableReader {
 public:
  // kTableExists if there is any record.
  [[nodiscard]] static Result<TableWriter, Error> create(kv::Writer& writer, const Config& config);
  [[nodiscard]] static Result<TableWriter, Error> open(kv::Writer& writer,
                                                       const std::optional<Config>& expected = {});

  // Over records without a descriptor, which nobody else can open: for a copy that is under way.
  [[nodiscard]] static Result<TableWriter, Error> unfinished(kv::Writer& writer,
                                                             const Config& config);

  // Whether the set changed (B-23).
  [[nodiscard]] Result<bool, Error> insert(ByteView key, Id id);
  [[nodiscard]] Result<bool, Error> remove(ByteView key, Id id);
  // How many ids were added or removed.
  [[nodiscard]] Result<std::uint64_t, Error> insert_many(ByteView key, std::span<const Id> ids);
  [[nodiscard]] Result<std::uint64_t, Error> insert_many(ByteView key, SortedIds ids);
  [[nodiscard]] Result<std::uint64_t, Error> insert_many(ByteView key, IdSource source);
  [[nodiscard]] Result<std::uint64_t, Error> remove_many(ByteView key, std::span<const Id> ids);
  // Costs per chunk, not per id, unless ids of one chunk live in several shards. At most
  // kRangeChunksMax chunks in one call.
  [[nodiscard]] Result<std::uint64_t, Error> insert_range(ByteView key, IdRange range);
  [[nodiscard]] Result<std::uint64_t, Error> remove_range(ByteView key, IdRange range);
  [[nodiscard]] Result<std::uint64_t, Error> unite(ByteView key, const Bitmap& other);
  // The stream ascends and does not read this table's transaction.
  [[nodiscard]] Result<std::uint64_t, Error> unite(ByteView key, IdStream& stream);
  [[nodiscard]] Result<std::uint64_t, Error> subtract(ByteView key, const Bitmap& other);
  [[nodiscard]] Result<std::uint64_t, Error> retain(ByteView key, const Bitmap& other);
  // Replaces the set. The stream as above.
  [[nodiscard]] Result<void, Error> assign(ByteView key, IdStream& stream);
  // Whether there was anything.
  [[nodiscard]] Result<bool, Error> erase_key(ByteView key);
  // Every key of these buckets (bucket_key.h). For tables whose keys all have a bucket: the first eight
  // bytes of any other are taken for one. Whether there was anything.
  [[nodiscard]] Result<bool, Error> erase_buckets(BucketRange range);

  // Rewrites a key packed; within a budget, and from where the call before stopped.
  [[nodiscard]] Result<CompactReport, Error> compact(ByteView key,
                                                     CompactBudget budget = {},
                                                     std::optional<CompactCursor> from = {});
  [[nodiscard]] Result<StatsReport, Error> repair_stats(ByteView key);
  // For segments to come; old ones adapt when they change.
  [[nodiscard]] Result<void, Error> set_segment_bytes_max(std::uint32_t bytes);

 private:
  TableWriter(TableReader reader, kv::Writer& writer, PartitionWriter<RoaringValue> partition)
      : TableReader(std::move(reader)), writer_(&writer), partition_(std::move(partition)) {}
  [[nodiscard]] static Result<TableWriter, Error> over(kv::Writer& writer, TableReader reader);

  [[nodiscard]] Result<std::uint64_t, Error> merge(ByteView key, std::span<const Id> ids, SetOp op);
  [[nodiscard]] Result<std::uint64_t, Error> merge_sorted(ByteView key,
                                                          std::span<const Id> ids,
                                                          SetOp op);
  [[nodiscard]] Result<std::uint64_t, Error> merge_range(ByteView key, IdRange range, SetOp op);
  [[nodiscard]] Result<std::uint64_t, Error> merge_stream(ByteView key, IdStream& stream, SetOp op);
  [[nodiscard]] Result<bool, Error> repair_shard(ByteView key, Shard shard);

  kv::Writer* writer_;
  PartitionWriter<RoaringValue> partition_;
  std::vector<Id> batch_;  // sorted, of one call
  std::vector<std::pair<Shard, Id>> by_shard_;
};

}  // namespace cadastre::bitmap
