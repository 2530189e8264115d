// Spec 7.5: reading a segment allocates nothing, and neither does editing, cutting or joining one
// once the edit's scratch has seen such a segment. Nor does a table over them; what the store allocates
// for its pages is the store's.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/result.h"
#include "bitmap/config.h"
#include "bitmap/cut_plan.h"
#include "bitmap/ids.h"
#include "bitmap/key_codec.h"
#include "bitmap/segment_edit.h"
#include "bitmap/segment_form.h"
#include "bitmap/segment_view.h"
#include "bitmap/table_model_testing.h"
#include "bitmap/table_reader.h"
#include "bitmap/table_writer.h"
#include "kv/error.h"
#include "kv/kv.h"
#include "kv/lmdb_testing.h"
#include "kv/store.h"
#include "tests/allocation_guard.h"

namespace cadastre::bitmap {
namespace {

using cadastre::testing::AllocationGuard;
using cadastre::testing::Expect;

constexpr std::size_t kLimitBytes = 16368;

struct Sample {
  const char* what;
  base::Bytes value;
};

base::Bytes stored(const std::vector<Id>& ids) {
  SegmentEdit edit;
  (void)edit.merge(ids, SetOp::kAdd);
  return base::to_owned(edit.emit());
}

// Arrays of an 11 KB segment, sparse ids, runs, a bitset, and a segment about to be cut.
std::vector<Sample> samples() {
  std::vector<Id> arrays;
  std::vector<Id> sparse;
  std::vector<Id> runs;
  std::vector<Id> dense;
  std::vector<Id> full;
  for (std::uint64_t i = 0; i < 5000; ++i)
    arrays.emplace_back(i * 431);
  for (std::uint64_t i = 0; i < 2000; ++i)
    sparse.emplace_back(i * 0x123456789ab);
  for (std::uint64_t i = 0; i < 20000; ++i)
    runs.emplace_back(i + i / 100 * 50);
  for (std::uint64_t i = 0; i < 20000; ++i)
    dense.emplace_back(i * 3);
  for (std::uint64_t i = 0; i < 8000; ++i)
    full.emplace_back(i * 431);
  return {{"arrays", stored(arrays)},
          {"sparse", stored(sparse)},
          {"runs", stored(runs)},
          {"dense", stored(dense)},
          {"full", stored(full)}};
}

// Everything that a single operation may do with a segment.
std::size_t edit_and_emit(SegmentEdit& edit, base::ByteView value, Id id) {
  std::size_t bytes = 0;
  const auto effect = edit.load_and_insert(value, id);
  if (effect && *effect == Effect::kChanged) {
    const CutHint hint{SegmentPlace::kMiddle, chunk_of(id)};
    for (const SegmentPart& part : edit.plan(kLimitBytes, hint).parts)
      bytes += edit.emit(part.containers).size();
  }
  const auto removed = edit.load_and_remove(value, id);
  if (removed && *removed == Effect::kChanged) bytes += edit.emit().size();
  return bytes;
}

TEST(BitmapAllocation, EditsAllocateNothingOnceWarm) {
  for (const Sample& sample : samples()) {
    SCOPED_TRACE(sample.what);
    SegmentEdit edit;
    std::size_t bytes = 0;
    const auto run = [&] {
      for (const std::uint64_t id :
           {1ULL, 430ULL, 431ULL, 70001ULL, 5'000'000'000ULL, 0x123456789abULL})
        bytes += edit_and_emit(edit, sample.value, Id{id});
    };
    {
      const AllocationGuard guard(Expect::kSome);
      run();
    }
    {
      const AllocationGuard guard(Expect::kNone);
      run();
    }
    EXPECT_GT(bytes, 2 * sample.value.size());
  }
}

TEST(BitmapAllocation, MergesAllocateNothingOnceWarm) {
  const std::vector<Id> ids{Id{1}, Id{2}, Id{3}, Id{70000}, Id{200000}, Id{1'000'000}};
  for (const Sample& sample : samples()) {
    SCOPED_TRACE(sample.what);
    SegmentEdit edit;
    const auto run = [&] {
      for (const SetOp op : {SetOp::kAdd, SetOp::kRemove, SetOp::kRetain}) {
        (void)edit.load_and_merge(sample.value, ids, op);
        (void)edit.load_and_merge(sample.value, IdRange{Id{100}, Id{200'000}}, op);
        if (!edit.empty()) (void)edit.emit();
      }
    };
    run();
    const AllocationGuard guard(Expect::kNone);
    run();
  }
}

TEST(BitmapAllocation, ReadsAllocateNothing) {
  std::uint64_t found = 0;
  for (const Sample& sample : samples()) {
    const AllocationGuard guard(Expect::kNone);
    for (const ReadCheck check : {ReadCheck::kStructure, ReadCheck::kChecksum}) {
      const auto view = SegmentView::open(sample.value, check);
      if (!view) continue;
      found += view->contains(Id{431}) ? 1 : 0;
      found += view->rank(Id{100'000}) + view->select(7)->value() + view->max().value();
      for (auto it = view->begin(); it != view->end(); ++it)
        found += (*it).cardinality;
      found += view->check_contents().has_value() ? 1 : 0;
    }
    (void)SegmentView::open(base::ByteView(sample.value).first(30));  // A refusal.
  }
  EXPECT_GT(found, 0U);
}

TEST(BitmapAllocation, KeysAllocateNothing) {
  const base::Bytes base_key(40, std::byte{7});
  const AllocationGuard guard(Expect::kNone);
  const StoredKey key = segment_key(base_key, choose_shard(base_key, Id{9}, {16, 16}), Id{0});
  EXPECT_TRUE(decode_key(key).has_value());
  EXPECT_TRUE(prefix_end(key_prefix(base_key)).has_value());
}

// ---- Tables ----------------------------------------------------------------------------------

using bitmap::testing::as_ids;
using bitmap::testing::IdDice;
using bitmap::testing::must;
using cadastre::testing::allocation_count;

// Allocations that were made inside the store.
class StoreAllocations {
 public:
  template <class Call>
  auto during(const Call& call) {
    const std::uint64_t before = allocation_count();
    auto result = call();
    count_ += allocation_count() - before;
    return result;
  }
  [[nodiscard]] std::uint64_t count() const { return count_; }

 private:
  std::uint64_t count_ = 0;
};

class CountingCursor final : public kv::Cursor {
 public:
  CountingCursor(std::unique_ptr<kv::Cursor> behind, StoreAllocations& store)
      : behind_(std::move(behind)), store_(store) {}

  using Found = base::Result<std::optional<kv::EntryView>, kv::Error>;
  [[nodiscard]] Found seek_ceiling(base::ByteView key) override {
    return store_.during([&] { return behind_->seek_ceiling(key); });
  }
  [[nodiscard]] Found seek_floor(base::ByteView key) override {
    return store_.during([&] { return behind_->seek_floor(key); });
  }
  [[nodiscard]] Found next() override {
    return store_.during([&] { return behind_->next(); });
  }
  [[nodiscard]] Found prev() override {
    return store_.during([&] { return behind_->prev(); });
  }

 private:
  std::unique_ptr<kv::Cursor> behind_;
  StoreAllocations& store_;
};

class CountingWriter final : public kv::Writer {
 public:
  CountingWriter(kv::Writer& behind, StoreAllocations& store) : behind_(behind), store_(store) {}

  [[nodiscard]] base::Result<std::optional<base::ByteView>, kv::Error> get(
      base::ByteView key) override {
    return store_.during([&] { return behind_.get(key); });
  }
  // Counts as the table's: an operation that opens a cursor pays for it each time.
  [[nodiscard]] base::Result<std::unique_ptr<kv::Cursor>, kv::Error> cursor() override {
    return std::make_unique<CountingCursor>(CAD_TRY(behind_.cursor()), store_);
  }
  [[nodiscard]] std::uint64_t mutation_count() const override { return behind_.mutation_count(); }
  [[nodiscard]] const kv::Limits& limits() const override { return behind_.limits(); }
  [[nodiscard]] base::Result<void, kv::Error> put(base::ByteView key,
                                                  base::ByteView value) override {
    return store_.during([&] { return behind_.put(key, value); });
  }
  [[nodiscard]] base::Result<void, kv::Error> erase(base::ByteView key) override {
    return store_.during([&] { return behind_.erase(key); });
  }
  [[nodiscard]] base::Result<void, kv::Error> erase_range(base::ByteView first,
                                                          base::ByteView last) override {
    return store_.during([&] { return behind_.erase_range(first, last); });
  }

 private:
  kv::Writer& behind_;
  StoreAllocations& store_;
};

// A table on disk in one write transaction, and whose allocations are whose.
class CountedTable {
 public:
  explicit CountedTable(const Config& config)
      : store_(must(kv::open_lmdb_store(directory_.path()))),
        space_(must(store_->open_space("t"))),
        txn_(must(store_->begin_write())),
        writer_(txn_->writer(space_), in_store_),
        table_(must(TableWriter::create(writer_, config))) {}

  [[nodiscard]] TableWriter& table() { return table_; }
  // By us, while `work` runs.
  template <class Work>
  [[nodiscard]] std::uint64_t own_allocations(const Work& work) {
    const std::uint64_t all_before = allocation_count();
    const std::uint64_t store_before = in_store_.count();
    work();
    return allocation_count() - all_before - (in_store_.count() - store_before);
  }

 private:
  kv::TemporaryDirectory directory_;
  std::unique_ptr<kv::Store> store_;
  kv::SpaceId space_;
  std::unique_ptr<kv::WriteTransaction> txn_;
  StoreAllocations in_store_;
  CountingWriter writer_;
  TableWriter table_;
};

struct TableCase {
  const char* what;
  Config config;
};

const base::ByteView kKey = base::as_bytes("key");

// What a table does for one id: grows until it has been cut often, is asked, and shrinks until segments
// have merged and are gone.
class OneByOne {
 public:
  explicit OneByOne(TableWriter& table) : table_(table), ids_(as_ids(IdDice(23).ids(6'000))) {}

  void grow() {
    for (const Id id : ids_)
      members_ += must(table_.insert(kKey, id)) ? 1 : 0;
  }
  void ask() {
    for (const Id id : ids_)
      wrong_ += must(table_.contains(kKey, id)) ? 0 : 1;
    wrong_ += must(table_.cardinality(kKey)) == members_ ? 0 : 1;
  }
  void shrink() {
    for (const Id id : ids_)
      members_ -= must(table_.remove(kKey, id)) ? 1 : 0;
    wrong_ += members_ == 0 ? 0 : 1;
  }
  [[nodiscard]] std::uint64_t segments() const { return must(table_.stats(kKey)).segments; }
  [[nodiscard]] std::uint64_t wrong() const { return wrong_; }

 private:
  TableWriter& table_;
  std::vector<Id> ids_;
  std::uint64_t members_ = 0;
  std::uint64_t wrong_ = 0;
};

// 7.5 (2).
TEST(BitmapAllocation, TablesAllocateNothingOnceWarm) {
  const std::vector<TableCase> cases{
      {"as by default", {}},
      {"tiny segments", {.segment_bytes_max = 1024}},
      {"tiny segments, without statistics", {.segment_bytes_max = 1024, .stats = Stats::kNone}},
      {"sixteen shards", {.shard_count = 16, .segment_bytes_max = 1024}},
  };
  for (const TableCase& row : cases) {
    SCOPED_TRACE(row.what);
    CountedTable counted(row.config);
    OneByOne work(counted.table());
    EXPECT_GT(counted.own_allocations([&] { work.grow(); }), 0U) << "the counting hook is not live";
    EXPECT_GT(work.segments(), 1U);
    work.ask();
    work.shrink();
    EXPECT_EQ(counted.own_allocations([&] { work.grow(); }), 0U);
    EXPECT_EQ(counted.own_allocations([&] { work.ask(); }), 0U);
    EXPECT_EQ(counted.own_allocations([&] { work.shrink(); }), 0U);
    EXPECT_EQ(work.segments(), 0U);
    EXPECT_EQ(work.wrong(), 0U);
  }
}

}  // namespace
}  // namespace cadastre::bitmap
