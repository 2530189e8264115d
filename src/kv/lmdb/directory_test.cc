// A directory: made, reopened, locked, read-only, full.

#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/function_ref.h"
#include "base/result.h"
#include "kv/error.h"
#include "kv/kv.h"
#include "kv/lmdb/child_testing.h"
#include "kv/lmdb/device_testing.h"
#include "kv/lmdb_testing.h"
#include "kv/shown_testing.h"
#include "kv/store.h"

namespace cadastre::kv::lmdb {
namespace {

constexpr LmdbOptions kReadOnlyOptions{.access = Access::kReadOnly};

Result<void, Error> put(Store& store, const std::string& key, const std::string& value) {
  const SpaceId space = CAD_TRY(store.open_space("space"));
  const auto txn = CAD_TRY(store.begin_write());
  CAD_TRY(txn->writer(space).put(base::as_bytes(key), base::as_bytes(value)));
  return txn->commit();
}

std::vector<std::string> everything(Store& store) {
  const auto txn = store.begin_read().value();
  return contents(txn->reader(store.find_space("space").value()));
}

Error open_error(const std::string& path, const LmdbOptions& options = {}) {
  const auto store = open_lmdb_store(path, options);
  return store ? Error{ErrorCode::kOutcomeUnknown} : store.error();
}

TEST(LmdbDirectory, IsMadeAndKeepsItsContents) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/made/below";
  {
    const auto store = open_lmdb_store(path).value();
    ASSERT_EQ(shown(put(*store, "k", "v")), "done");
    ASSERT_TRUE(store->open_space("another"));
  }
  const auto store = open_lmdb_store(path).value();
  EXPECT_EQ(everything(*store), (std::vector<std::string>{"k=v"}));
  EXPECT_EQ(store->space_names(), (std::vector<std::string>{"another", "space"}));
  EXPECT_NE(store->find_space("another"), store->find_space("space"));
}

TEST(LmdbDirectory, EveryDurabilityKeepsWhatAClosedStoreHad) {
  for (const auto durability : {Durability::kSync, Durability::kNoMetaSync, Durability::kNoSync}) {
    const TemporaryDirectory directory;
    {
      const auto store = open_lmdb_store(directory.path(), {.durability = durability}).value();
      ASSERT_EQ(shown(put(*store, "k", "v")), "done");
      ASSERT_TRUE(store->sync());
    }
    const auto store = open_lmdb_store(directory.path()).value();
    EXPECT_EQ(everything(*store), (std::vector<std::string>{"k=v"}));
  }
}

TEST(LmdbDirectory, SurvivesAKilledWriter) {
  const TemporaryDirectory directory;
  ChildProcess child([&](base::FunctionRef<void()> done) {
    const auto store = open_lmdb_store(directory.path()).value();
    if (!put(*store, "committed", "1")) return;
    const auto txn = store->begin_write().value();
    const SpaceId space = store->find_space("space").value();
    if (!txn->writer(space).put(base::as_bytes("open"), {})) return;
    done();
  });
  ASSERT_TRUE(child.was_ready());
  child.kill_and_wait();
  const auto store = open_lmdb_store(directory.path()).value();
  EXPECT_EQ(everything(*store), (std::vector<std::string>{"committed=1"}));
  EXPECT_EQ(shown(put(*store, "next", "2")), "done");
}

// ---- The lock (R-27) ---------------------------------------------------------------------------

TEST(LmdbDirectory, ASecondOpenerInThisProcessIsRefused) {
  const TemporaryDirectory directory;
  auto store = open_lmdb_store(directory.path()).value();
  const Error expected{.code = ErrorCode::kLocked, .holder_pid = getpid()};
  EXPECT_EQ(open_error(directory.path()), expected);
  EXPECT_EQ(open_error(directory.path(), kReadOnlyOptions), expected);
  std::ifstream lock(directory.path() + "/LOCK");
  std::int64_t written = 0;
  lock >> written;
  EXPECT_EQ(written, getpid());
  EXPECT_EQ(shown(put(*store, "k", "v")), "done");  // The refusals took nothing away.
  store.reset();
  EXPECT_TRUE(open_lmdb_store(directory.path()));
}

TEST(LmdbDirectory, AnotherProcessIsNamed) {
  const TemporaryDirectory directory;
  ChildProcess child([&](base::FunctionRef<void()> done) {
    const auto store = open_lmdb_store(directory.path()).value();
    done();
  });
  ASSERT_TRUE(child.was_ready());
  const Error expected{.code = ErrorCode::kLocked, .holder_pid = child.pid()};
  EXPECT_EQ(open_error(directory.path()), expected);
  EXPECT_EQ(open_error(directory.path(), kReadOnlyOptions), expected);
  child.kill_and_wait();
  EXPECT_TRUE(open_lmdb_store(directory.path()));  // A dead process holds nothing.
}

TEST(LmdbDirectory, ReadersShareAndKeepWritersOut) {
  const TemporaryDirectory directory;
  ASSERT_EQ(shown(put(*open_lmdb_store(directory.path()).value(), "k", "v")), "done");
  ChildProcess child([&](base::FunctionRef<void()> done) {
    const auto store = open_lmdb_store(directory.path(), kReadOnlyOptions).value();
    done();
  });
  ASSERT_TRUE(child.was_ready());
  {
    const auto store = open_lmdb_store(directory.path(), kReadOnlyOptions).value();
    EXPECT_EQ(everything(*store), (std::vector<std::string>{"k=v"}));
  }
  EXPECT_EQ(open_error(directory.path()),
            (Error{.code = ErrorCode::kLocked, .holder_pid = child.pid()}));
}

// ---- Reading only ------------------------------------------------------------------------------

TEST(LmdbDirectory, AReadOnlyStoreRefusesToChange) {
  const TemporaryDirectory directory;
  ASSERT_EQ(shown(put(*open_lmdb_store(directory.path()).value(), "k", "v")), "done");
  const auto store = open_lmdb_store(directory.path(), kReadOnlyOptions).value();
  EXPECT_EQ(store->begin_write().error(), Error{ErrorCode::kReadOnly});
  EXPECT_EQ(store->open_space("new").error(), Error{ErrorCode::kReadOnly});
  EXPECT_EQ(store->grow(OpenTransactions::kRefuse).error(), Error{ErrorCode::kReadOnly});
  EXPECT_EQ(store->open_space("space").value(), store->find_space("space"));
  EXPECT_TRUE(store->sync());
  EXPECT_EQ(everything(*store), (std::vector<std::string>{"k=v"}));
}

TEST(LmdbDirectory, WithoutAStoreThereIsNothingToRead) {
  const TemporaryDirectory directory;
  EXPECT_EQ(open_error(directory.path() + "/absent", kReadOnlyOptions).code, ErrorCode::kNotFound);
  EXPECT_EQ(open_error(directory.path(), kReadOnlyOptions).code, ErrorCode::kNotFound);
}

TEST(LmdbDirectory, MediaThatCannotBeWrittenCanBeRead) {
  const SmallDevice device("1m");
  ASSERT_EQ(shown(put(*open_lmdb_store(device.path()).value(), "k", "v")), "done");
  device.make_read_only();
  EXPECT_EQ(open_error(device.path()).code, ErrorCode::kReadOnly);
  const auto store = open_lmdb_store(device.path(), kReadOnlyOptions).value();
  EXPECT_EQ(everything(*store), (std::vector<std::string>{"k=v"}));
}

// ---- What is wrong on disk ---------------------------------------------------------------------

TEST(LmdbDirectory, ForeignFilesAreNotTakenForAStore) {
  const TemporaryDirectory directory;
  std::ofstream(directory.path() + "/data.mdb") << std::string(20'000, 'x');
  EXPECT_EQ(open_error(directory.path()).code, ErrorCode::kCorrupt);
  EXPECT_EQ(open_error(directory.path() + "/data.mdb").system_code, ENOTDIR);
}

TEST(LmdbDirectory, TooManySpacesAreNotHidden) {
  const TemporaryDirectory directory;
  {
    const auto store = open_lmdb_store(directory.path()).value();
    for (const char* const name : {"a", "b", "c"})
      ASSERT_TRUE(store->open_space(name));
  }
  EXPECT_EQ(open_error(directory.path(), {.spaces_max = 2}).code, ErrorCode::kTooManySpaces);
  EXPECT_TRUE(open_lmdb_store(directory.path(), {.spaces_max = 3}));
}

// ---- A full device -----------------------------------------------------------------------------

TEST(LmdbDirectory, AFullDeviceLosesNothing) {
  const SmallDevice device("1m");
  const auto store = open_lmdb_store(device.path()).value();
  ASSERT_EQ(shown(put(*store, "before", "1")), "done");
  device.fill();
  const std::string large(400'000, 'v');
  const auto refused = put(*store, "large", large);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), (Error{.code = ErrorCode::kDiskFull, .system_code = ENOSPC}));
  EXPECT_EQ(everything(*store), (std::vector<std::string>{"before=1"}));
  device.make_room();
  EXPECT_EQ(shown(put(*store, "large", large)), "done");
  EXPECT_EQ(everything(*store).size(), 2U);
}

TEST(LmdbDirectory, AFullDeviceStillHasRoomForReaders) {
  constexpr std::uint32_t kReaders = 500;  // Several pages of LMDB's table.
  const SmallDevice device("1m");
  const auto store = open_lmdb_store(device.path(), {.readers_max = kReaders}).value();
  ASSERT_EQ(shown(put(*store, "k", "v")), "done");
  device.fill();
  std::vector<std::unique_ptr<ReadTransaction>> readers;
  for (std::uint32_t i = 0; i < kReaders; ++i)
    readers.push_back(store->begin_read().value());
  EXPECT_EQ(store->stats().readers_open, kReaders);
}

TEST(LmdbDirectory, AFullDeviceTakesNoNewStore) {
  const SmallDevice device("1m");
  device.fill();
  EXPECT_EQ(open_error(device.path() + "/store").code, ErrorCode::kDiskFull);
}

TEST(LmdbDirectory, AFullDeviceCanBeOpenedAgain) {
  const SmallDevice device("1m");
  ASSERT_EQ(shown(put(*open_lmdb_store(device.path()).value(), "k", "v")), "done");
  device.fill();
  const auto store = open_lmdb_store(device.path()).value();
  EXPECT_EQ(everything(*store), (std::vector<std::string>{"k=v"}));
}

// ---- Writes through the map --------------------------------------------------------------------

LmdbOptions through_map(std::uint64_t bytes, std::uint64_t bytes_max) {
  return {.writes = Writes::kThroughMap, .map_bytes = bytes, .map_bytes_max = bytes_max};
}

// A page that finds no room when it is touched would end the process, so all get theirs before.
TEST(LmdbThroughMap, AFullDeviceIsMetWhenTheStoreIsOpened) {
  const SmallDevice device("2m");
  EXPECT_EQ(open_error(device.path() + "/large", through_map(1 << 22, 1 << 22)).code,
            ErrorCode::kDiskFull);
  const auto store = open_lmdb_store(device.path(), through_map(1 << 19, 1 << 22)).value();
  device.fill();
  ASSERT_EQ(shown(put(*store, "k", std::string(300'000, 'v'))), "done");
  const auto more = put(*store, "l", std::string(300'000, 'v'));
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, ErrorCode::kMapFull);
  EXPECT_EQ(store->grow(OpenTransactions::kRefuse).error().code, ErrorCode::kDiskFull);
  EXPECT_EQ(everything(*store).size(), 1U);
  device.make_room();
  EXPECT_EQ(store->grow(OpenTransactions::kRefuse).value(), std::uint64_t{1} << 20);
}

TEST(LmdbThroughMap, IsOneFileWithTheOtherWay) {
  const TemporaryDirectory directory;
  ASSERT_EQ(shown(put(*open_lmdb_store(directory.path()).value(), "a", "1")), "done");
  ASSERT_EQ(shown(put(*open_lmdb_store(directory.path(), through_map(1 << 20, 1 << 20)).value(),
                      "b", "2")),
            "done");
  EXPECT_EQ(everything(*open_lmdb_store(directory.path()).value()),
            (std::vector<std::string>{"a=1", "b=2"}));
}

}  // namespace
}  // namespace cadastre::kv::lmdb
