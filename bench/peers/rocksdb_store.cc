#include "bench/peers/rocksdb_store.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <rocksdb/cache.h>
#include <rocksdb/compression_type.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/iterator.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/options.h>
#include <rocksdb/slice.h>
#include <rocksdb/snapshot.h>
#include <rocksdb/status.h>
#include <rocksdb/table.h>
#include <rocksdb/version.h>

#include "base/bytes.h"
#include "base/check.h"
#include "base/endian.h"
#include "bench/peers/chunk_value.h"
#include "bench/peers/process_io.h"
#include "bench/peers/set_store.h"
#include "bitmap/ids.h"

namespace cadastre::bench {
namespace {

constexpr std::size_t kCacheBytes = std::size_t{1} << 30;
constexpr std::size_t kWriteBufferBytes = std::size_t{128} << 20;
constexpr double kFilterBits = 10;
constexpr std::size_t kChunkKeyBytes = 6;
constexpr std::size_t kBlockIds = 1024;

void must(const rocksdb::Status& status) {
  CAD_CHECK(status.ok(), status.ToString().c_str());
}

std::string_view to_text(const rocksdb::Slice& slice) {
  return {slice.data(), slice.size()};
}
rocksdb::Slice to_slice(std::string_view text) {
  return {text.data(), text.size()};
}

std::string row_key(std::string_view key, std::uint64_t chunk) {
  std::array<std::byte, sizeof chunk> bytes{};
  base::store_be(bytes.data(), chunk);
  std::string out(key);
  out += base::as_text(bytes).substr(sizeof chunk - kChunkKeyBytes);
  return out;
}

// The chunk of a row that belongs to `key`, or nothing.
std::optional<std::uint64_t> chunk_of_row(const rocksdb::Slice& row, std::string_view key) {
  if (row.size() != key.size() + kChunkKeyBytes || !row.starts_with(to_slice(key))) {
    return std::nullopt;
  }
  std::array<std::byte, sizeof(std::uint64_t)> bytes{};
  const base::ByteView tail = base::as_bytes(to_text(row)).subspan(key.size());
  std::ranges::copy(tail, bytes.end() - kChunkKeyBytes);
  return base::load_be<std::uint64_t>(bytes.data());
}

class UniteOperator final : public rocksdb::AssociativeMergeOperator {
 public:
  bool Merge(const rocksdb::Slice&,
             const rocksdb::Slice* existing,
             const rocksdb::Slice& value,
             std::string* out,
             rocksdb::Logger*) const override {
    *out =
        existing == nullptr ? value.ToString() : unite_chunks(to_text(*existing), to_text(value));
    return true;
  }
  const char* Name() const override { return "unite"; }
};

rocksdb::Options make_options() {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(kCacheBytes);
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(kFilterBits));
  rocksdb::Options options;
  options.create_if_missing = true;
  options.merge_operator = std::make_shared<UniteOperator>();
  options.write_buffer_size = kWriteBufferBytes;
  options.compression = rocksdb::kNoCompression;  // Lists of slots hardly compress.
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.IncreaseParallelism(2);
  return options;
}

// The rows of one key, in order.
class Rows {
 public:
  Rows(rocksdb::DB& database,
       const rocksdb::ReadOptions& options,
       std::string_view key,
       std::uint64_t chunk)
      : key_(key), at_(database.NewIterator(options)) {
    at_->Seek(row_key(key, chunk));
    read();
  }

  [[nodiscard]] std::optional<std::uint64_t> chunk() const { return chunk_; }
  [[nodiscard]] std::string_view value() const { return to_text(at_->value()); }
  void next() {
    at_->Next();
    read();
  }

 private:
  void read() {
    must(at_->status());
    chunk_ = at_->Valid() ? chunk_of_row(at_->key(), key_) : std::nullopt;
  }

  std::string key_;
  std::unique_ptr<rocksdb::Iterator> at_;
  std::optional<std::uint64_t> chunk_;
};

class RocksdbReader final : public SetReader {
 public:
  explicit RocksdbReader(rocksdb::DB& database) : database_(database) {
    options_.snapshot = database.GetSnapshot();
  }
  ~RocksdbReader() override { database_.ReleaseSnapshot(options_.snapshot); }

  void renew() override {
    database_.ReleaseSnapshot(options_.snapshot);
    options_.snapshot = database_.GetSnapshot();
  }

  [[nodiscard]] bool contains(std::string_view key, Id id) override {
    rocksdb::PinnableSlice value;
    const auto status = database_.Get(options_, database_.DefaultColumnFamily(),
                                      row_key(key, bitmap::chunk_of(id)), &value);
    if (status.IsNotFound()) return false;
    must(status);
    return chunk_contains(to_text(value), bitmap::slot_of(id));
  }

  [[nodiscard]] std::uint64_t count(std::string_view key) override {
    std::uint64_t total = 0;
    for (Rows rows(database_, options_, key, 0); rows.chunk(); rows.next())
      total += count_chunk(rows.value());
    return total;
  }

  void stream(std::string_view key, IdRange range, VisitIds visit) override {
    std::vector<std::uint16_t> slots;
    std::vector<Id> block;
    Rows rows(database_, options_, key, bitmap::chunk_of(range.first));
    for (; rows.chunk() && *rows.chunk() <= bitmap::chunk_of(range.last); rows.next()) {
      if (gives_up()) return;
      slots.clear();
      decode_slots(rows.value(), slots);
      for (const std::uint16_t slot : slots) {
        const Id id = bitmap::id_at(*rows.chunk(), slot);
        if (range.contains(id)) block.push_back(id);
      }
      if (block.size() < kBlockIds) continue;
      visit(block);
      block.clear();
    }
    if (!block.empty()) visit(block);
  }

  [[nodiscard]] std::uint64_t intersection_count(std::string_view a, std::string_view b) override {
    Rows left(database_, options_, a, 0);
    Rows right(database_, options_, b, 0);
    std::uint64_t both = 0;
    while (left.chunk() && right.chunk() && !gives_up()) {
      const auto order = *left.chunk() <=> *right.chunk();
      if (order == 0) both += count_shared(left.value(), right.value());
      if (order <= 0) left.next();
      if (order >= 0) right.next();
    }
    return both;
  }

 private:
  rocksdb::DB& database_;
  rocksdb::ReadOptions options_;
};

// Calls visit(chunk, slots) for each chunk of ascending ids; repeats are dropped.
template <class Visit>
void for_each_chunk(std::span<const Id> sorted, const Visit& visit) {
  std::vector<std::uint16_t> slots;
  for (std::size_t i = 0; i < sorted.size();) {
    const std::uint64_t chunk = bitmap::chunk_of(sorted[i]);
    slots.clear();
    for (; i < sorted.size() && bitmap::chunk_of(sorted[i]) == chunk; ++i) {
      const std::uint16_t slot = bitmap::slot_of(sorted[i]);
      if (slots.empty() || slots.back() != slot) slots.push_back(slot);
    }
    visit(chunk, slots);
  }
}

}  // namespace

std::string rocksdb_version() {
  return rocksdb::GetRocksVersionAsString();
}

RocksdbStore::RocksdbStore(std::string directory) : directory_(std::move(directory)) {
  std::filesystem::create_directories(directory_);
  rocksdb::DB* database = nullptr;
  must(rocksdb::DB::Open(make_options(), directory_, &database));
  database_.reset(database);
}

void RocksdbStore::insert(std::string_view key, Id id) {
  must(batch_.Merge(row_key(key, bitmap::chunk_of(id)), encode_slots({bitmap::slot_of(id)})));
}

void RocksdbStore::insert_many(std::string_view key, std::span<const Id> ids) {
  sorted_.assign(ids.begin(), ids.end());
  std::ranges::sort(sorted_);
  for_each_chunk(sorted_, [&](std::uint64_t chunk, const std::vector<std::uint16_t>& slots) {
    must(batch_.Merge(row_key(key, chunk), encode_slots(slots)));
  });
}

void RocksdbStore::remove_many(std::string_view key, std::span<const Id> ids) {
  sorted_.assign(ids.begin(), ids.end());
  std::ranges::sort(sorted_);
  for_each_chunk(sorted_, [&](std::uint64_t chunk, const std::vector<std::uint16_t>& gone) {
    const std::string row = row_key(key, chunk);
    std::string value;
    const auto status = database_->Get({}, row, &value);
    if (status.IsNotFound()) return;
    must(status);
    std::vector<std::uint16_t> slots;
    decode_slots(value, slots);
    std::erase_if(slots,
                  [&](std::uint16_t slot) { return std::ranges::binary_search(gone, slot); });
    must(slots.empty() ? batch_.Delete(row) : batch_.Put(row, encode_slots(slots)));
  });
}

void RocksdbStore::commit() {
  must(database_->Write(write_options_, &batch_));
  batch_.Clear();
}

void RocksdbStore::set_durability(Durability durability) {
  write_options_.sync = durability == Durability::kSync;
}

void RocksdbStore::compact(std::string_view) {
  must(database_->CompactRange({}, nullptr, nullptr));
}

std::unique_ptr<SetReader> RocksdbStore::reader() {
  return std::make_unique<RocksdbReader>(*database_);
}

Space RocksdbStore::space() {
  must(database_->Flush({}));
  std::uint64_t live = 0;
  CAD_CHECK(database_->GetIntProperty(rocksdb::DB::Properties::kLiveSstFilesSize, &live),
            "RocksDB knows its files");
  return {.file_bytes = directory_bytes(directory_), .live_bytes = live};
}

}  // namespace cadastre::bench
