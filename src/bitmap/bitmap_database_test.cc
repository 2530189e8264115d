#include "bitmap/bitmap_database.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/result.h"
#include "base/threads_testing.h"
#include "bitmap/config.h"
#include "bitmap/error.h"
#include "bitmap/id_stream.h"
#include "bitmap/ids.h"
#include "bitmap/set_ops.h"
#include "bitmap/table_model_testing.h"
#include "bitmap/table_reader.h"
#include "bitmap/table_writer.h"
#include "kv/error.h"
#include "kv/lmdb_testing.h"
#include "kv/memory_testing.h"
#include "kv/store.h"

namespace cadastre::bitmap {
namespace {

using base::as_bytes;
using testing::as_ids;
using testing::IdDice;
using testing::ids_of;
using testing::must;

constexpr DatabaseConfig kTiny{.new_tables = {.segment_bytes_max = 1024}};

std::unique_ptr<BitmapDatabase> over(std::unique_ptr<kv::Store> store) {
  return must(BitmapDatabase::open(std::move(store), kTiny));
}

TEST(BitmapDatabase, DoesEachOperationInOneCall) {
  const auto database = over(kv::open_memory_store());
  const auto key = as_bytes("red");
  EXPECT_FALSE(must(database->contains("tags", key, Id{1})));
  EXPECT_TRUE(must(database->insert("tags", key, Id{1})));
  EXPECT_FALSE(must(database->insert("tags", key, Id{1})));
  EXPECT_EQ(must(database->insert_many("tags", key, as_ids({1, 2, 3, 100'000}))), 3U);
  EXPECT_TRUE(must(database->contains("tags", key, Id{100'000})));
  EXPECT_EQ(must(database->cardinality("tags", key)), 4U);
  EXPECT_TRUE(must(database->remove("tags", key, Id{2})));
  EXPECT_EQ(must(database->remove_many("tags", key, as_ids({2, 3}))), 1U);
  EXPECT_EQ(must(database->get("tags", key, 1 << 20)).cardinality(), 2U);
  EXPECT_EQ(must(database->keys("tags", {}, 10)), (std::vector<base::Bytes>{base::to_owned(key)}));
  EXPECT_TRUE(must(database->erase_key("tags", key)));
  EXPECT_FALSE(must(database->erase_key("tags", key)));
  EXPECT_EQ(database->tables(), std::vector<std::string>{"tags"});
}

TEST(BitmapDatabase, KeepsTablesApart) {
  const auto database = over(kv::open_memory_store());
  (void)must(database->insert("a", as_bytes("key"), Id{1}));
  (void)must(database->insert("b", as_bytes("key"), Id{2}));
  EXPECT_FALSE(must(database->contains("a", as_bytes("key"), Id{2})));
  EXPECT_FALSE(must(database->contains("c", as_bytes("key"), Id{1})));
}

TEST(BitmapDatabase, AFailedWorkLeavesNothing) {
  const auto database = over(kv::open_memory_store());
  const auto result = database->write("t", [](TableWriter& table) -> Result<void, Error> {
    (void)CAD_TRY(table.insert(as_bytes("key"), Id{1}));
    return base::fail(misuse(Misuse::kBadRange));
  });
  EXPECT_EQ(result.error(), misuse(Misuse::kBadRange));
  EXPECT_EQ(must(database->cardinality("t", as_bytes("key"))), 0U);
}

// Eight threads, every change of which counts, in fewer commits than changes; one in ten fails and
// takes nobody with it.
TEST(BitmapDatabase, ThreadsShareCommits) {
  constexpr int kThreads = 8;
  constexpr std::uint64_t kChanges = 200;
  const kv::TemporaryDirectory directory;
  const auto database = over(must(kv::open_lmdb_store(directory.path())));
  std::atomic<std::uint64_t> failed = 0;
  base::run_in_threads(kThreads, [&](int thread) {
    for (std::uint64_t i = 0; i < kChanges; ++i) {
      const Id id{static_cast<std::uint64_t>(thread) * kChanges + i};
      if (i % 10 == 9) {
        const base::Bytes too_long(1000);
        failed += database->insert("t", too_long, id) ? 0 : 1;
      } else {
        EXPECT_TRUE(must(database->insert("t", as_bytes("key"), id)));
      }
    }
  });
  EXPECT_EQ(failed, kThreads * kChanges / 10);
  EXPECT_EQ(must(database->cardinality("t", as_bytes("key"))), kThreads * kChanges * 9 / 10);
  const GroupCommitStats stats = database->stats();
  EXPECT_EQ(stats.changes, kThreads * kChanges);
  EXPECT_LT(stats.commits, stats.changes);
}

// T-C5, with the database doing what a caller would have to.
TEST(BitmapDatabase, AFullStoreGrows) {
  constexpr std::uint64_t kMegabyte = std::uint64_t{1} << 20;
  const kv::TemporaryDirectory directory;
  kv::LmdbOptions options;
  options.map_bytes = kMegabyte;
  options.map_bytes_max = 64 * kMegabyte;
  const auto database = over(must(kv::open_lmdb_store(directory.path(), options)));
  IdDice dice(3);
  for (int i = 0; i < 30; ++i)
    (void)must(database->insert_many("t", as_bytes("key"), as_ids(dice.ids(20'000))));
  EXPECT_GT(database->stats().retries, 0U);
  EXPECT_GT(database->store().stats().capacity_bytes, kMegabyte);
  must(database->read("t", [](const TableReader& table) -> Result<void, Error> {
    EXPECT_TRUE(CAD_TRY(table.verify_all(3)).empty());
    return {};
  }));
}

TEST(BitmapDatabase, AStoreThatCannotGrowSaysSo) {
  constexpr std::uint64_t kMegabyte = std::uint64_t{1} << 20;
  const kv::TemporaryDirectory directory;
  kv::LmdbOptions options;
  options.map_bytes = kMegabyte;
  options.map_bytes_max = kMegabyte;
  const auto database = over(must(kv::open_lmdb_store(directory.path(), options)));
  IdDice dice(3);
  std::optional<Error> full;
  for (int i = 0; i < 60 && !full; ++i) {
    const auto added = database->insert_many("t", as_bytes("key"), as_ids(dice.ids(20'000)));
    if (!added) full = added.error();
  }
  ASSERT_TRUE(full.has_value());
  EXPECT_EQ(full->code, ErrorCode::kFull);
  EXPECT_TRUE(must(database->contains("t", as_bytes("key"), Id{1})) ||
              must(database->cardinality("t", as_bytes("key"))) > 0);
}

// 6.6: every id is in A or in B, never in both. What a reader sees of that, by each way of looking.
Result<void, Error> expect_each_id_once(const TableReader& table, std::uint64_t ids, IdDice& dice) {
  const std::uint64_t a = CAD_TRY(table.cardinality(as_bytes("A")));
  const std::uint64_t b = CAD_TRY(table.cardinality(as_bytes("B")));
  EXPECT_EQ(a + b, ids);
  std::vector<Stream> both;
  both.push_back(CAD_TRY(table.stream(as_bytes("A"))));
  both.push_back(CAD_TRY(table.stream(as_bytes("B"))));
  EXPECT_EQ(CAD_TRY(count(*all_of(std::move(both)))), 0U);
  std::vector<Stream> either;
  either.push_back(CAD_TRY(table.stream(as_bytes("A"))));
  either.push_back(CAD_TRY(table.stream(as_bytes("B"))));
  EXPECT_EQ(CAD_TRY(count(*any_of(std::move(either)))), ids);
  for (int i = 0; i < 20; ++i) {
    const Id id{dice.below(ids)};
    const bool in_a = CAD_TRY(table.contains(as_bytes("A"), id));
    const bool in_b = CAD_TRY(table.contains(as_bytes("B"), id));
    EXPECT_NE(in_a, in_b) << id.value();
  }
  return {};
}

// Moves an id to the other set.
Result<void, Error> move_one(TableWriter& table, Id id) {
  if (CAD_TRY(table.remove(as_bytes("A"), id))) {
    (void)CAD_TRY(table.insert(as_bytes("B"), id));
    return {};
  }
  (void)CAD_TRY(table.remove(as_bytes("B"), id));
  (void)CAD_TRY(table.insert(as_bytes("A"), id));
  return {};
}

TEST(BitmapDatabase, ReadersSeeWholeTransactions) {
  constexpr std::uint64_t kIds = 3000;
  constexpr std::uint64_t kMoves = 300;
  constexpr std::uint64_t kReaders = 16;
  const kv::TemporaryDirectory directory;
  const auto database = over(must(kv::open_lmdb_store(directory.path())));
  must(database->write("t", [](TableWriter& table) -> Result<void, Error> {
    (void)CAD_TRY(table.insert_range(as_bytes("A"), {Id{0}, Id{kIds - 1}}));
    return {};
  }));
  std::array<std::atomic<std::uint64_t>, kReaders> looks{};
  std::atomic<bool> done = false;
  const auto everybody_has_looked = [&looks] {
    return std::ranges::all_of(looks, [](const auto& own) { return own > 0; });
  };
  base::run_in_threads(kReaders + 1, [&](int thread) {
    IdDice dice(static_cast<std::uint64_t>(thread));
    if (thread == static_cast<int>(kReaders)) {
      // Goes on until every reader has looked meanwhile; the test's timeout is the deadline.
      for (std::uint64_t i = 0; i < kMoves || !everybody_has_looked(); ++i) {
        must(database->write(
            "t", [&](TableWriter& table) { return move_one(table, Id{dice.below(kIds)}); }));
      }
      done = true;
      return;
    }
    while (!done) {
      must(database->read(
          "t", [&](const TableReader& table) { return expect_each_id_once(table, kIds, dice); }));
      ++looks[static_cast<std::size_t>(thread)];
    }
  });
  EXPECT_TRUE(everybody_has_looked());
}

// 6.6: a reader that stays keeps its answers, whatever is committed meanwhile.
TEST(BitmapDatabase, AReaderKeepsItsAnswersOverManyCommits) {
  constexpr std::uint64_t kIds = 2000;
  constexpr std::uint64_t kCommits = 10'000;
  const kv::TemporaryDirectory directory;
  const auto store =
      must(kv::open_lmdb_store(directory.path(), {.durability = kv::Durability::kNoSync}));
  const auto space = must(store->open_space("t"));
  IdDice dice(7);
  {
    const auto txn = must(store->begin_write());
    auto table = must(TableWriter::create(txn->writer(space), kTiny.new_tables));
    (void)must(table.insert_range(as_bytes("A"), {Id{0}, Id{kIds - 1}}));
    for (std::uint64_t i = 0; i < kIds; ++i)
      must(move_one(table, Id{dice.below(kIds)}));
    must(txn->commit());
  }
  const auto reading = must(store->begin_read());
  const auto reader = must(TableReader::open(reading->reader(space)));
  const auto a = ids_of(*must(reader.stream(as_bytes("A"))));
  const auto b = ids_of(*must(reader.stream(as_bytes("B"))));
  ASSERT_EQ(a.size() + b.size(), kIds);
  for (std::uint64_t i = 1; i <= kCommits; ++i) {
    const auto txn = must(store->begin_write());
    auto table = must(TableWriter::open(txn->writer(space)));
    must(move_one(table, Id{dice.below(kIds)}));
    must(txn->commit());
    if (i % 1000 != 0) continue;
    must(expect_each_id_once(reader, kIds, dice));
    ASSERT_EQ(ids_of(*must(reader.stream(as_bytes("A")))), a);
    ASSERT_EQ(ids_of(*must(reader.stream(as_bytes("B")))), b);
    for (int asked = 0; asked < 100; ++asked) {
      const std::uint64_t id = dice.below(kIds);
      ASSERT_EQ(must(reader.contains(as_bytes("A"), Id{id})), std::ranges::binary_search(a, id));
    }
  }
  const auto now = must(store->begin_read());
  const auto fresh = must(TableReader::open(now->reader(space)));
  EXPECT_NE(ids_of(*must(fresh.stream(as_bytes("A")))), a);
  EXPECT_EQ(store->stats().oldest_reader->commits_behind, kCommits);
}

}  // namespace
}  // namespace cadastre::bitmap
