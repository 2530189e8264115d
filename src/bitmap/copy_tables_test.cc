#include "bitmap/copy_tables.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "bitmap/config.h"
#include "bitmap/error.h"
#include "bitmap/ids.h"
#include "bitmap/sorted_ids.h"
#include "bitmap/table_model_testing.h"
#include "bitmap/table_reader.h"
#include "bitmap/table_writer.h"
#include "kv/lmdb_testing.h"
#include "kv/memory_testing.h"
#include "kv/store.h"

namespace cadastre::bitmap {
namespace {

using base::as_bytes;
using testing::must;

void make_table(kv::Store& store, const std::string& name, std::uint64_t ids) {
  const auto space = must(store.open_space(name));
  const auto txn = must(store.begin_write());
  auto table = must(TableWriter::create(txn->writer(space), {}));
  std::vector<Id> members;
  for (std::uint64_t i = 0; i < ids; ++i)
    members.emplace_back(i * 77'777);
  (void)must(table.insert_many(as_bytes("k"), SortedIds{members}));
  must(txn->commit());
}

std::uint64_t count_in(kv::Store& store, const std::string& name) {
  const auto space = store.find_space(name);
  if (!space) return 0;
  const auto txn = must(store.begin_read());
  return must(must(TableReader::open(txn->reader(*space))).cardinality(as_bytes("k")));
}

TEST(CopyTables, CopiesAPlanWhileTheTargetGrows) {
  const kv::TemporaryDirectory directory;
  const auto source = kv::open_memory_store();
  make_table(*source, "tags", 200'000);
  make_table(*source, "hours", 3);
  make_table(*source, "left", 5);
  const auto target =
      must(kv::open_lmdb_store(directory.path(), {.map_bytes = std::uint64_t{1} << 19}));
  const std::vector<std::string> plan{"tags", "hours"};
  const auto copy = must(copy_tables(*source, *target, plan, {.budget_bytes = 100'000}));
  EXPECT_TRUE(copy.conflicts.empty());
  EXPECT_EQ(copy.tables, 2U);
  EXPECT_EQ(copy.keys, 2U);
  EXPECT_EQ(count_in(*target, "tags"), 200'000U);
  EXPECT_EQ(count_in(*target, "hours"), 3U);
  EXPECT_FALSE(target->find_space("left"));
  EXPECT_GT(target->stats().capacity_bytes, std::uint64_t{1} << 19);
}

TEST(CopyTables, NamesEveryConflictAndCopiesNothing) {
  const auto source = kv::open_memory_store();
  const auto target = kv::open_memory_store();
  const std::vector<std::string> plan{"a", "b", "c"};
  for (const std::string& name : plan)
    make_table(*source, name, 10);
  make_table(*target, "c", 1);
  make_table(*target, "b", 1);
  const auto copy = must(copy_tables(*source, *target, plan));
  EXPECT_EQ(copy.conflicts, (std::vector<std::string>{"b", "c"}));
  EXPECT_EQ(copy.tables, 0U);
  EXPECT_EQ(count_in(*target, "a"), 0U);
  EXPECT_EQ(count_in(*target, "b"), 1U);
}

TEST(CopyTables, RefusesATableThatIsNotThere) {
  const auto source = kv::open_memory_store();
  const auto target = kv::open_memory_store();
  make_table(*source, "a", 10);
  const std::vector<std::string> plan{"a", "b"};
  EXPECT_EQ(copy_tables(*source, *target, plan).error(), misuse(Misuse::kNoSuchTable));
  EXPECT_EQ(count_in(*target, "a"), 0U);
}

}  // namespace
}  // namespace cadastre::bitmap
