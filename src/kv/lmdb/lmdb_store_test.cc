// What only LMDB has: backups, a table of readers shared by processes, a map that can fail to grow.

#include "kv/lmdb/lmdb_store.h"

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <lmdb.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/function_ref.h"
#include "kv/error.h"
#include "kv/kv.h"
#include "kv/lmdb/child_testing.h"
#include "kv/lmdb/device_testing.h"
#include "kv/lmdb/space_access.h"
#include "kv/lmdb_testing.h"
#include "kv/shown_testing.h"
#include "kv/store.h"

namespace cadastre::kv::lmdb {
namespace {

class LmdbStoreTest : public testing::Test {
 protected:
  static void put(Store& store, const std::string& key, const std::string& value) {
    const SpaceId space = store.open_space("space").value();
    const auto txn = store.begin_write().value();
    ASSERT_EQ(shown(txn->writer(space).put(base::as_bytes(key), base::as_bytes(value))), "done");
    ASSERT_EQ(shown(txn->commit()), "done");
  }
  static std::string get(Store& store, const std::string& key) {
    const auto txn = store.begin_read().value();
    return shown(txn->reader(store.find_space("space").value()).get(base::as_bytes(key)));
  }
  [[nodiscard]] const std::string& path() const { return directory_.path(); }
  [[nodiscard]] std::unique_ptr<LmdbStore> open() const {
    return LmdbStore::open(clock_, path()).value();
  }

 private:
  const base::ManualClock clock_;
  const TemporaryDirectory directory_;
};

TEST_F(LmdbStoreTest, ABackupIsAStoreOfThatMoment) {
  const auto store = open();
  const std::string copy = path() + "/backups/1";
  for (int i = 0; i < 100; ++i)
    put(*store, std::to_string(i), std::string(10'000, 'v'));
  {
    const SpaceId space = store->find_space("space").value();
    const auto txn = store->begin_write().value();
    ASSERT_TRUE(txn->writer(space).erase_range(base::as_bytes("1"), base::as_bytes("99")));
    ASSERT_TRUE(txn->commit());
  }
  const auto long_reader = store->begin_read().value();
  put(*store, "k", "before");
  ASSERT_EQ(shown(store->backup(copy)), "done");
  put(*store, "k", "after");
  EXPECT_EQ(store->stats().readers_open, 1U);
  const auto copied = open_lmdb_store(copy).value();
  EXPECT_EQ(get(*copied, "k"), "before");
  EXPECT_EQ(get(*copied, "0"), std::string(10'000, 'v'));
  EXPECT_EQ(get(*copied, "5"), "nothing");
  EXPECT_LT(copied->stats().used_bytes, store->stats().used_bytes / 10);  // Without free pages.
}

TEST_F(LmdbStoreTest, ABackupReplacesNothing) {
  const auto store = open();
  put(*store, "k", "1");
  const std::string copy = path() + "/copy";
  ASSERT_EQ(shown(store->backup(copy)), "done");
  put(*store, "k", "2");
  EXPECT_EQ(store->backup(copy).error(), (Error{.code = ErrorCode::kIo, .system_code = EEXIST}));
  EXPECT_EQ(get(*open_lmdb_store(copy).value(), "k"), "1");
}

TEST_F(LmdbStoreTest, ABackupThatDoesNotFitLeavesNothing) {
  const auto store = open();
  put(*store, "k", std::string(2'000'000, 'v'));
  const SmallDevice device("1m");
  EXPECT_EQ(store->backup(device.path()).error().code, ErrorCode::kDiskFull);
  EXPECT_FALSE(std::filesystem::exists(device.path() + "/data.mdb"));
}

std::vector<std::unique_ptr<ReadTransaction>> as_many_as_there_are_places(Store& store) {
  std::vector<std::unique_ptr<ReadTransaction>> readers;
  for (auto txn = store.begin_read(); txn; txn = store.begin_read())
    readers.push_back(std::move(*txn));
  return readers;
}

// Readers of a process that died are cleared when their places are wanted.
TEST_F(LmdbStoreTest, DeadReadersGiveTheirPlacesBack) {
  constexpr std::uint32_t kReaders = 500;
  const LmdbOptions options{.access = Access::kReadOnly, .readers_max = kReaders};
  put(*open_lmdb_store(path()).value(), "k", "v");
  ChildProcess child([&](base::FunctionRef<void()> done) {
    const auto store = open_lmdb_store(path(), options).value();
    const auto readers = as_many_as_there_are_places(*store);
    if (readers.size() == kReaders) done();
  });
  ASSERT_TRUE(child.was_ready());
  const auto store = open_lmdb_store(path(), options).value();
  const auto left_over = as_many_as_there_are_places(*store);
  EXPECT_LT(left_over.size(), 3U);
  EXPECT_EQ(store->begin_read().error().code, ErrorCode::kReadersFull);
  child.kill_and_wait();
  EXPECT_EQ(get(*store, "k"), "v");
}

TEST_F(LmdbStoreTest, AMapThatCannotBeMappedIsGivenUp) {
  constexpr std::uint64_t kBeyondAllAddresses = std::uint64_t{1} << 56;
  const auto store = open_lmdb_store(path(), {.map_bytes_max = kBeyondAllAddresses}).value();
  put(*store, "k", "v");
  auto grown = store->grow(OpenTransactions::kRefuse);
  while (grown)
    grown = store->grow(OpenTransactions::kRefuse);
  EXPECT_EQ(grown.error().code, ErrorCode::kIo);
  EXPECT_EQ(store->begin_read().error(), Error{ErrorCode::kUnavailable});
  EXPECT_EQ(store->begin_write().error(), Error{ErrorCode::kUnavailable});
  EXPECT_EQ(store->grow(OpenTransactions::kRefuse).error(), Error{ErrorCode::kUnavailable});
  EXPECT_EQ(store->stats().capacity_bytes, 0U);
}

TEST_F(LmdbStoreTest, AGrownMapStaysWhenReopened) {
  constexpr std::uint64_t kSmall = 1U << 20;
  const std::string large(3U << 20, 'v');
  const LmdbOptions options{.map_bytes = kSmall, .map_bytes_max = 8 * kSmall};
  {
    const auto store = open_lmdb_store(path(), options).value();
    ASSERT_EQ(store->grow(OpenTransactions::kRefuse), 2 * kSmall);
    ASSERT_EQ(store->grow(OpenTransactions::kRefuse), 4 * kSmall);
    put(*store, "k", large);
  }
  const auto store = open_lmdb_store(path(), options).value();  // With room for what is there.
  EXPECT_GE(store->stats().capacity_bytes, large.size());
  EXPECT_TRUE(get(*store, "k") == large);
}

// Writes one record into an LMDB database of another program.
void write_foreign(const std::string& path, const char* name, unsigned flags) {
  MDB_env* env = nullptr;
  ASSERT_EQ(mdb_env_create(&env), 0);
  ASSERT_EQ(mdb_env_set_maxdbs(env, 1), 0);
  ASSERT_EQ(mdb_env_open(env, path.c_str(), 0, 0600), 0);
  MDB_txn* txn = nullptr;
  MDB_dbi database = 0;
  ASSERT_EQ(mdb_txn_begin(env, nullptr, 0, &txn), 0);
  ASSERT_EQ(mdb_dbi_open(txn, name, flags, &database), 0);
  MDB_val key = to_val(base::as_bytes("k"));
  MDB_val value = to_val(base::as_bytes("v"));
  ASSERT_EQ(mdb_put(txn, database, &key, &value, 0), 0);
  ASSERT_EQ(mdb_txn_commit(txn), 0);
  mdb_env_close(env);
}

TEST_F(LmdbStoreTest, ARecordAmongTheNamesIsNotOurs) {
  write_foreign(path(), nullptr, 0);
  EXPECT_EQ(open_lmdb_store(path()).error().code, ErrorCode::kCorrupt);
}

TEST_F(LmdbStoreTest, ADatabaseOfAnotherOrderIsNotOurs) {
  write_foreign(path(), "reversed", MDB_CREATE | MDB_REVERSEKEY);
  EXPECT_EQ(open_lmdb_store(path()).error().code, ErrorCode::kCorrupt);
}

TEST_F(LmdbStoreTest, ADatabaseOfAnotherProgramCanBeRead) {
  write_foreign(path(), "space", MDB_CREATE);
  EXPECT_EQ(get(*open_lmdb_store(path()).value(), "k"), "v");
}

}  // namespace
}  // namespace cadastre::kv::lmdb
