#include "bitmap/bitmap_database.h"

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
    CAD_TRY(table.insert(as_bytes("key"), Id{1}));
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

// 6.6: every id is in A or in B, never in both, in whatever moment a reader looks.
TEST(BitmapDatabase, ReadersSeeWholeTransactions) {
  constexpr std::uint64_t kIds = 3000;
  constexpr int kReaders = 6;
  const kv::TemporaryDirectory directory;
  const auto database = over(must(kv::open_lmdb_store(directory.path())));
  must(database->write("t", [](TableWriter& table) -> Result<void, Error> {
    CAD_TRY(table.insert_range(as_bytes("A"), {Id{0}, Id{kIds - 1}}));
    return {};
  }));
  std::atomic<bool> done = false;
  std::atomic<std::uint64_t> looks = 0;
  base::run_in_threads(kReaders + 1, [&](int thread) {
    if (thread == 0) {
      IdDice dice(5);
      for (int i = 0; i < 300; ++i) {
        must(database->write("t", [&](TableWriter& table) -> Result<void, Error> {
          const Id id{dice.below(kIds)};
          const bool was_in_a = CAD_TRY(table.remove(as_bytes("A"), id));
          if (was_in_a) {
            CAD_TRY(table.insert(as_bytes("B"), id));
          } else {
            CAD_TRY(table.remove(as_bytes("B"), id));
            CAD_TRY(table.insert(as_bytes("A"), id));
          }
          return {};
        }));
      }
      done = true;
      return;
    }
    while (!done || looks == 0) {
      must(database->read("t", [&](const TableReader& table) -> Result<void, Error> {
        const std::uint64_t a = CAD_TRY(table.cardinality(as_bytes("A")));
        const std::uint64_t b = CAD_TRY(table.cardinality(as_bytes("B")));
        EXPECT_EQ(a + b, kIds);
        std::vector<Stream> both;
        both.push_back(CAD_TRY(table.stream(as_bytes("A"))));
        both.push_back(CAD_TRY(table.stream(as_bytes("B"))));
        EXPECT_EQ(CAD_TRY(count(*all_of(std::move(both)))), 0U);
        return {};
      }));
      ++looks;
    }
  });
  EXPECT_GT(looks, 0U);
}

}  // namespace
}  // namespace cadastre::bitmap
