#include "bench/table_store.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "bench/peers/process_io.h"
#include "bench/peers/set_store.h"
#include "bitmap/bitmap_database.h"
#include "bitmap/compact.h"
#include "bitmap/id_stream.h"
#include "bitmap/segment_form.h"
#include "bitmap/set_ops.h"
#include "bitmap/sorted_ids.h"
#include "bitmap/table_reader.h"
#include "bitmap/table_writer.h"
#include "kv/lmdb/lmdb_options.h"
#include "kv/lmdb/lmdb_store.h"
#include "kv/store.h"

namespace cadastre::bench {
namespace {

// The value of an answer that cannot be an error here.
template <class Answer>
decltype(auto) must(Answer&& answer) {
  CAD_CHECK(answer.has_value(), to_string(answer.error()).c_str());
  return *std::forward<Answer>(answer);
}

class TableStoreReader final : public SetReader {
 public:
  TableStoreReader(kv::Store& store, kv::SpaceId space, bitmap::ReadCheck point_reads)
      : store_(store), space_(space), point_reads_(point_reads) {
    renew();
  }

  void renew() override {
    table_.reset();
    txn_ = must(store_.begin_read());
    table_.emplace(must(bitmap::TableReader::open(txn_->reader(space_), {}, point_reads_)));
  }
  [[nodiscard]] bool contains(std::string_view key, Id id) override {
    return must(table_->contains(base::as_bytes(key), id));
  }
  [[nodiscard]] std::uint64_t count_present(std::string_view key,
                                            std::span<const Id> ids) override {
    const auto present = must(table_->contains_many(base::as_bytes(key), bitmap::SortedIds{ids}));
    return static_cast<std::uint64_t>(std::ranges::count(present, true));
  }
  [[nodiscard]] std::uint64_t count(std::string_view key) override {
    return must(table_->cardinality(base::as_bytes(key)));
  }
  void stream(std::string_view key, IdRange range, VisitIds visit) override {
    bitmap::Stream ids = stream_of(key);
    if (range != kAllIds) ids = bitmap::within(std::move(ids), range);
    visit_all(*ids, visit);
  }
  void visit_combined(SetOperation operation,
                      std::string_view a,
                      std::string_view b,
                      VisitIds visit) const {
    visit_all(*combine(operation, a, b), visit);
  }
  [[nodiscard]] std::uint64_t materialise(std::string_view key) override {
    return must(table_->get(base::as_bytes(key), std::numeric_limits<std::size_t>::max()))
        .cardinality();
  }
  [[nodiscard]] std::uint64_t intersection_count(std::string_view a, std::string_view b) override {
    return count_of(SetOperation::kIntersection, a, b);
  }
  [[nodiscard]] std::uint64_t count_of(SetOperation operation,
                                       std::string_view a,
                                       std::string_view b) override {
    return must(bitmap::count(*combine(operation, a, b)));
  }

 private:
  static void visit_all(bitmap::IdStream& ids, VisitIds visit) {
    const auto visit_block = [&](std::span<const Id> block) {
      visit(block);
      return true;
    };
    must(bitmap::for_each(ids, visit_block));
  }
  [[nodiscard]] bitmap::Stream stream_of(std::string_view key) const {
    return must(table_->stream(base::as_bytes(key)));
  }
  [[nodiscard]] bitmap::Stream combine(SetOperation operation,
                                       std::string_view a,
                                       std::string_view b) const {
    if (operation == SetOperation::kDifference) {
      return bitmap::minus(stream_of(a), stream_of(b));
    }
    std::vector<bitmap::Stream> both;
    both.push_back(stream_of(a));
    both.push_back(stream_of(b));
    return operation == SetOperation::kUnion ? bitmap::any_of(std::move(both))
                                             : bitmap::all_of(std::move(both));
  }

  kv::Store& store_;
  const kv::SpaceId space_;
  const bitmap::ReadCheck point_reads_;
  std::unique_ptr<kv::ReadTransaction> txn_;
  std::optional<bitmap::TableReader> table_;
};

constexpr std::string_view kSpace = "sets";
// Through the map; several times what any workload stores.
constexpr std::uint64_t kAllocatedBytes = std::uint64_t{2} << 30;

kv::lmdb::Durability to_lmdb(Durability durability) {
  return durability == Durability::kSync ? kv::lmdb::Durability::kSync
                                         : kv::lmdb::Durability::kNoSync;
}

}  // namespace

TableStore::TableStore(std::string directory, kv::lmdb::Writes writes)
    : directory_(std::move(directory)), writes_(writes) {
  std::filesystem::create_directories(directory_);
  open(Durability::kNone);
  txn_ = must(store_->begin_write());
  must(bitmap::TableWriter::create(txn_->writer(space_), {}));
  must(txn_->commit());
  txn_.reset();
}

TableStore::~TableStore() {
  table_.reset();
  txn_.reset();
}

void TableStore::open(Durability durability) {
  database_.reset();
  kv::lmdb::LmdbOptions options{.durability = to_lmdb(durability), .writes = writes_};
  if (writes_ == kv::lmdb::Writes::kThroughMap) options.map_bytes = kAllocatedBytes;
  auto store = must(kv::lmdb::LmdbStore::open(clock_, directory_, options));
  store_ = store.get();
  database_ = must(bitmap::BitmapDatabase::open(std::move(store), {}));
  space_ = must(store_->open_space(kSpace));
}

void TableStore::begin() {
  txn_ = must(store_->begin_write());
  table_.emplace(must(bitmap::TableWriter::open(txn_->writer(space_))));
}

void TableStore::insert(std::string_view key, Id id) {
  must(table_->insert(base::as_bytes(key), id));
}

void TableStore::insert_many(std::string_view key, std::span<const Id> ids) {
  must(table_->insert_many(base::as_bytes(key), ids));
}

void TableStore::remove_many(std::string_view key, std::span<const Id> ids) {
  must(table_->remove_many(base::as_bytes(key), ids));
}

void TableStore::commit() {
  table_.reset();
  must(txn_->commit());
  txn_.reset();
}

void TableStore::insert_alone(std::string_view key, Id id) {
  must(database_->insert(kSpace, base::as_bytes(key), id));
}

void TableStore::set_durability(Durability durability) {
  must(store_->sync());
  open(durability);
}

void TableStore::compact(std::string_view key) {
  std::optional<bitmap::CompactCursor> from;
  do {
    begin();
    from = must(table_->compact(base::as_bytes(key), {}, from)).next;
    commit();
  } while (from);
}

std::unique_ptr<SetReader> TableStore::reader() {
  return std::make_unique<TableStoreReader>(*store_, space_, point_reads_);
}

Space TableStore::space() {
  // A copy without free pages tells how many are in use.
  const std::string copy = directory_ + "_copy";
  must(store_->backup(copy));
  const std::uint64_t live = directory_bytes(copy);
  std::filesystem::remove_all(copy);
  return {.file_bytes = directory_bytes(directory_), .live_bytes = live};
}

void TableStore::visit_combined(SetOperation operation,
                                std::string_view a,
                                std::string_view b,
                                VisitIds visit) {
  TableStoreReader(*store_, space_, point_reads_).visit_combined(operation, a, b, visit);
}

std::uint64_t TableStore::value_bytes(std::string_view key) {
  const auto txn = must(store_->begin_read());
  const auto table = must(bitmap::TableReader::open(txn->reader(space_)));
  return must(table.stats(base::as_bytes(key))).value_bytes;
}

}  // namespace cadastre::bench
