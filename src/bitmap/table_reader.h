// TableReader: a table of sets, read inside the caller's transaction (5.4).
//
//   auto table = CAD_TRY(TableReader::open(txn->reader(space)));
//   if (CAD_TRY(table.contains(as_bytes("red"), Id{42}))) ...
//
// Never begins or ends a transaction. An absent key is the empty set, never an error (B-27). Point
// reads look at one segment in place; streams at one container at a time. Belongs to the thread of
// its transaction and dies with it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "bitmap/bitmap.h"
#include "bitmap/bucket_key.h"
#include "bitmap/config.h"
#include "bitmap/error.h"
#include "bitmap/id_stream.h"
#include "bitmap/ids.h"
#include "bitmap/key_codec.h"
#include "bitmap/key_cursor.h"
#include "bitmap/segment_form.h"
#include "bitmap/segment_view.h"
#include "bitmap/sorted_ids.h"
#include "bitmap/verify.h"
#include "kv/kv.h"

namespace cadastre::bitmap {

// Whether every setting is in range and the backend can keep such a table (B-16, B-18, B-19). Pure.
[[nodiscard]] Result<void, Error> validate(const Config& config, const kv::Limits& limits);

struct KeyStats {
  std::uint64_t cardinality = 0;
  std::uint64_t segments = 0;
  std::uint64_t value_bytes = 0;
  std::uint32_t shards = 0;  // that are not empty

  friend bool operator==(const KeyStats&, const KeyStats&) = default;
};

class TableReader {
 public:
  // kNoSuchTable where nothing is; kConfigMismatch if `expected` differs in what cannot change, or if
  // there are records without a descriptor (B-17). `point_reads` says how much of a segment a single
  // lookup checks.
  [[nodiscard]] static Result<TableReader, Error> open(
      kv::Reader& reader,
      const std::optional<Config>& expected = {},
      ReadCheck point_reads = ReadCheck::kStructure);

  [[nodiscard]] const Config& config() const noexcept { return config_; }

  [[nodiscard]] Result<bool, Error> contains(ByteView key, Id id) const;
  [[nodiscard]] Result<std::vector<bool>, Error> contains_many(ByteView key, SortedIds ids) const;
  [[nodiscard]] Result<std::uint64_t, Error> cardinality(ByteView key) const;
  [[nodiscard]] Result<std::uint64_t, Error> cardinality(ByteView key, IdRange range) const;
  [[nodiscard]] Result<std::optional<Id>, Error> min(ByteView key) const;
  [[nodiscard]] Result<std::optional<Id>, Error> max(ByteView key) const;
  // Members <= id.
  [[nodiscard]] Result<std::uint64_t, Error> rank(ByteView key, Id id) const;
  // The member with `index` members before it.
  [[nodiscard]] Result<std::optional<Id>, Error> select(ByteView key, std::uint64_t index) const;
  [[nodiscard]] Result<Stream, Error> stream(ByteView key,
                                             Direction direction = Direction::kAscending) const;
  // The union of a key's buckets (bucket_key.h); costs by those that are present. At most kBucketsMax.
  [[nodiscard]] Result<Stream, Error> stream_buckets(
      ByteView key, BucketRange range, Direction direction = Direction::kAscending) const;
  // Their numbers, ascending.
  [[nodiscard]] Result<std::vector<std::uint64_t>, Error> buckets(ByteView key,
                                                                  BucketRange range) const;
  // kResultTooLarge above bytes_max.
  [[nodiscard]] Result<Bitmap, Error> get(ByteView key, std::size_t bytes_max) const;
  // Counted anew; the statistics are not asked.
  [[nodiscard]] Result<KeyStats, Error> stats(ByteView key) const;
  [[nodiscard]] Result<KeyCursor, Error> keys(ByteView prefix = {},
                                              std::optional<ByteView> after = {}) const;
  // What is wrong with one key's records, or with the whole table; at most so many findings.
  [[nodiscard]] Result<std::vector<Finding>, Error> verify(ByteView key,
                                                           std::size_t findings_max) const;
  [[nodiscard]] Result<std::vector<Finding>, Error> verify_all(std::size_t findings_max) const;

 protected:
  TableReader(kv::Reader& reader,
              std::unique_ptr<kv::Cursor> cursor,
              const Config& config,
              ReadCheck point_reads)
      : reader_(&reader), cursor_(std::move(cursor)), config_(config), point_reads_(point_reads) {}

  [[nodiscard]] Shard shard_of(ByteView key, Id id) const noexcept {
    return choose_shard(key, id, {config_.shard_count, config_.shard_grain_bits});
  }
  [[nodiscard]] kv::Reader& reader() const noexcept { return *reader_; }
  [[nodiscard]] kv::Cursor& cursor() const noexcept { return *cursor_; }
  [[nodiscard]] static Result<void, Error> check_key(ByteView key);
  // The settings as stored; nothing if there is no record at all.
  [[nodiscard]] static Result<std::optional<Config>, Error> read_config(kv::Reader& reader,
                                                                        kv::Cursor& cursor);
  // Without asking the descriptor.
  [[nodiscard]] static Result<TableReader, Error> with_config(kv::Reader& reader,
                                                              const Config& config);
  void set_config(const Config& config) noexcept { config_ = config; }

 private:
  // Calls `visit` with each shard of the key that is not empty, in order.
  template <class Visit>
  [[nodiscard]] Result<void, Error> for_each_shard(ByteView key, const Visit& visit) const;

  kv::Reader* reader_;
  std::unique_ptr<kv::Cursor> cursor_;
  Config config_;
  ReadCheck point_reads_;
};

}  // namespace cadastre::bitmap
