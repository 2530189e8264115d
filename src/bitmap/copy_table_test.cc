#include "bitmap/copy_table.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "bitmap/config.h"
#include "bitmap/descriptor.h"
#include "bitmap/error.h"
#include "bitmap/faults.h"
#include "bitmap/ids.h"
#include "bitmap/key_codec.h"
#include "bitmap/table_model_testing.h"
#include "bitmap/table_reader.h"
#include "bitmap/table_writer.h"
#include "kv/kv.h"
#include "kv/lmdb_testing.h"
#include "kv/memory_testing.h"
#include "kv/store.h"

namespace cadastre::bitmap {
namespace {

using base::as_bytes;
using testing::as_ids;
using testing::IdDice;
using testing::ids_of;
using testing::Model;
using testing::ModelSet;
using testing::must;

using Records = std::vector<std::pair<base::Bytes, base::Bytes>>;

constexpr Config kTiny{.segment_bytes_max = 1024};
constexpr std::size_t kFindings = 10;

// A store with one key space.
class Space {
 public:
  explicit Space(std::unique_ptr<kv::Store> store)
      : store_(std::move(store)), id_(must(store_->open_space("t"))) {}

  [[nodiscard]] kv::Store& store() { return *store_; }
  [[nodiscard]] kv::SpaceId id() const { return id_; }

  [[nodiscard]] Records records() {
    const auto txn = must(store_->begin_read());
    const auto cursor = must(txn->reader(id_).cursor());
    Records records;
    for (auto entry = must(cursor->next()); entry; entry = must(cursor->next()))
      records.emplace_back(base::to_owned(entry->key), base::to_owned(entry->value));
    return records;
  }
  void put(ByteView key, ByteView value) {
    const auto txn = must(store_->begin_write());
    must(txn->writer(id_).put(key, value));
    must(txn->commit());
  }

 private:
  std::unique_ptr<kv::Store> store_;
  kv::SpaceId id_;
};

Space memory_space() {
  return Space(kv::open_memory_store());
}

Model fill(Space& space, const Config& config) {
  Model model;
  IdDice dice(7);
  const auto txn = must(space.store().begin_write());
  auto table = must(TableWriter::create(txn->writer(space.id()), config));
  for (const std::string key : {"", "a", "ab", "b", "\xff\xff"}) {
    for (int i = 0; i < 4; ++i) {
      const auto ids = dice.ids(500);
      (void)must(table.insert_many(as_bytes(key), as_ids(ids)));
      model[key].insert(ids.begin(), ids.end());
    }
  }
  must(txn->commit());
  return model;
}

void expect_model(Space& space, const Model& model, const Config& config) {
  const auto txn = must(space.store().begin_read());
  const auto table = must(TableReader::open(txn->reader(space.id())));
  EXPECT_EQ(table.config(), config);
  for (const auto& finding : must(table.verify_all(kFindings)))
    ADD_FAILURE() << to_string(finding);
  auto keys = must(table.keys());
  std::size_t count = 0;
  while (const auto key = must(keys.next())) {
    ++count;
    const ModelSet& expected = model.at(std::string(base::as_text(*key)));
    EXPECT_EQ(ids_of(*must(table.stream(*key))),
              (std::vector<std::uint64_t>{expected.begin(), expected.end()}));
  }
  EXPECT_EQ(count, model.size());
}

struct Copied {
  int calls = 0;
  std::uint64_t keys = 0;
};

// All of it, each call in a transaction of its own.
Copied copy_all(Space& source, Space& target, const CopyOptions& options) {
  const auto snapshot = must(source.store().begin_read());
  Copied copied;
  std::optional<CopyCursor> from;
  do {
    const auto txn = must(target.store().begin_write());
    const auto report =
        must(copy_table(snapshot->reader(source.id()), txn->writer(target.id()), options, from));
    must(txn->commit());
    from = report.next;
    copied.calls += 1;
    copied.keys += report.keys;
  } while (from);
  return copied;
}

TEST(CopyTable, CopiesEveryByte) {
  Space source = memory_space();
  const Model model = fill(source, kTiny);
  Space target = memory_space();
  const Copied copied = copy_all(source, target, {});
  EXPECT_EQ(copied.calls, 1);
  EXPECT_EQ(copied.keys, model.size());
  EXPECT_EQ(target.records(), source.records());
}

TEST(CopyTable, GoesOnWhereTheBudgetStoppedIt) {
  Space source = memory_space();
  const Model model = fill(source, kTiny);
  for (const std::size_t budget : {std::size_t{1}, std::size_t{3000}, std::size_t{20'000}}) {
    SCOPED_TRACE(budget);
    Space target = memory_space();
    const Copied copied = copy_all(source, target, {.budget_bytes = budget});
    EXPECT_GT(copied.calls, 1);
    EXPECT_EQ(copied.keys, model.size());
    EXPECT_EQ(target.records(), source.records());
  }
}

TEST(CopyTable, CopiesBetweenBackends) {
  const kv::TemporaryDirectory directory;
  Space source = memory_space();
  const Model model = fill(source, kTiny);
  Space target(must(kv::open_lmdb_store(directory.path())));
  (void)copy_all(source, target, {.budget_bytes = 10'000});
  EXPECT_EQ(target.records(), source.records());
  expect_model(target, model, kTiny);
}

TEST(CopyTable, AnEmptyTableIsATable) {
  Space source = memory_space();
  {
    const auto txn = must(source.store().begin_write());
    (void)must(TableWriter::create(txn->writer(source.id()), kTiny));
    must(txn->commit());
  }
  Space target = memory_space();
  EXPECT_EQ(copy_all(source, target, {}).keys, 0U);
  expect_model(target, {}, kTiny);
}

struct Setting {
  const char* name;
  Config config;
};
std::ostream& operator<<(std::ostream& out, const Setting& setting) {
  return out << setting.name;
}
class Rebuild : public ::testing::TestWithParam<Setting> {};

TEST_P(Rebuild, KeepsEverySet) {
  Space source = memory_space();
  const Model model = fill(source, {.shard_count = 3, .segment_bytes_max = 1024});
  for (const std::size_t budget : {std::size_t{1}, std::size_t{5000}, std::size_t{1} << 30}) {
    SCOPED_TRACE(budget);
    Space target = memory_space();
    const Copied copied =
        copy_all(source, target, {.settings = GetParam().config, .budget_bytes = budget});
    EXPECT_EQ(copied.keys, model.size());
    expect_model(target, model, GetParam().config);
  }
}
INSTANTIATE_TEST_SUITE_P(
    CopyTable,
    Rebuild,
    ::testing::Values(Setting{"default", {}},
                      Setting{"tiny", kTiny},
                      Setting{"without_stats", {.segment_bytes_max = 1024, .stats = Stats::kNone}},
                      Setting{"by_id", {.shard_count = 16, .shard_grain_bits = 0}}),
    [](const auto& setting) { return std::string(setting.param.name); });

// What is copied half is no table.
TEST(CopyTable, HasNoDescriptorBeforeItIsWhole) {
  for (const auto& settings : {std::optional<Config>{}, std::optional<Config>{Config{}}}) {
    Space source = memory_space();
    (void)fill(source, kTiny);
    Space target = memory_space();
    const auto snapshot = must(source.store().begin_read());
    const auto txn = must(target.store().begin_write());
    kv::Writer& writer = txn->writer(target.id());
    const auto report = must(copy_table(snapshot->reader(source.id()), writer,
                                        {.settings = settings, .budget_bytes = 5000}));
    ASSERT_TRUE(report.next);
    EXPECT_EQ(TableReader::open(writer).error(), config_mismatch());
  }
}

TEST(CopyTable, RefusesATargetThatHasRecords) {
  Space source = memory_space();
  (void)fill(source, kTiny);
  Space target = memory_space();
  target.put(as_bytes("x"), as_bytes("y"));
  const Records before = target.records();
  const auto snapshot = must(source.store().begin_read());
  const auto txn = must(target.store().begin_write());
  kv::Writer& writer = txn->writer(target.id());
  EXPECT_EQ(copy_table(snapshot->reader(source.id()), writer).error(),
            misuse(Misuse::kTableExists));
  EXPECT_EQ(rebuild_into(snapshot->reader(source.id()), writer, {}, 1).error(),
            misuse(Misuse::kTableExists));
  must(txn->commit());
  EXPECT_EQ(target.records(), before);
}

TEST(CopyTable, RefusesToGoOnBehindSomethingElse) {
  Space source = memory_space();
  (void)fill(source, kTiny);
  Space target = memory_space();
  const auto snapshot = must(source.store().begin_read());
  const auto txn = must(target.store().begin_write());
  kv::Writer& writer = txn->writer(target.id());
  const auto first = must(copy_table(snapshot->reader(source.id()), writer, {.budget_bytes = 1}));
  ASSERT_TRUE(first.next);
  must(writer.put(segment_key(as_bytes("zzz"), Shard{}, Id{}), as_bytes("y")));
  EXPECT_EQ(copy_table(snapshot->reader(source.id()), writer, {}, first.next).error(),
            misuse(Misuse::kBadCopyCursor));
}

// B-30: damage is refused, not handed on.
TEST(CopyTable, RefusesDamage) {
  Space source = memory_space();
  (void)fill(source, kTiny);
  auto [key, value] = source.records().at(1);  // behind the statistics of the first key
  value.back() ^= std::byte{1};
  source.put(key, value);
  const auto snapshot = must(source.store().begin_read());
  for (const auto& settings : {std::optional<Config>{}, std::optional<Config>{Config{}}}) {
    Space target = memory_space();
    const auto txn = must(target.store().begin_write());
    const auto copied =
        copy_table(snapshot->reader(source.id()), txn->writer(target.id()), {.settings = settings});
    ASSERT_FALSE(copied);
    EXPECT_EQ(copied.error().code, ErrorCode::kCorrupt);
  }
}

// A value without a checksum whose slots are in disorder passes every check of a reader.
TEST(CopyTable, RefusesSlotsInDisorder) {
  Space source = memory_space();
  {
    const auto txn = must(source.store().begin_write());
    (void)must(TableWriter::create(txn->writer(source.id()), kTiny));
    must(txn->commit());
  }
  const auto disorder = base::from_hex(
      "01"
      "0100000000000000"
      "000000003a30000001000000"
      "0000010010000000"
      "02000100");
  source.put(segment_key(as_bytes("k"), Shard{}, Id{}), disorder.value());
  const auto snapshot = must(source.store().begin_read());
  Space target = memory_space();
  const auto txn = must(target.store().begin_write());
  const auto copied =
      rebuild_into(snapshot->reader(source.id()), txn->writer(target.id()), {}, 1 << 20);
  ASSERT_FALSE(copied);
  EXPECT_EQ(copied.error().code, ErrorCode::kCorrupt);
}

TEST(CopyTable, NeedsATable) {
  Space source = memory_space();
  Space target = memory_space();
  const auto snapshot = must(source.store().begin_read());
  const auto txn = must(target.store().begin_write());
  EXPECT_EQ(copy_table(snapshot->reader(source.id()), txn->writer(target.id())).error(),
            misuse(Misuse::kNoSuchTable));
}

}  // namespace
}  // namespace cadastre::bitmap
