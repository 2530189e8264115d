#include "cli/bitmap_session.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/result.h"
#include "bitmap/bitmap_database.h"
#include "bitmap/error.h"
#include "bitmap/ids.h"
#include "bitmap/table_reader.h"
#include "bitmap/table_writer.h"
#include "cli/command_error.h"
#include "cli/options.h"
#include "kv/error.h"
#include "kv/memory_testing.h"

namespace cadastre::cli {
namespace {

using bitmap::Id;
using Done = Result<void, bitmap::Error>;

const base::ByteView kKey = base::as_bytes("red");

std::string code_of(const Result<void, CommandError>& result) {
  return result ? "fine" : result.error().code;
}

std::unique_ptr<bitmap::BitmapDatabase> open_database(const kv::MemoryOptions& options = {}) {
  auto database = bitmap::BitmapDatabase::open(kv::open_memory_store(options), {});
  EXPECT_TRUE(database.has_value());
  return *std::move(database);
}

class BitmapSessionTest : public testing::Test {
 protected:
  static BitmapTable table(std::optional<std::uint16_t> shards = {},
                           std::optional<std::uint32_t> segment_bytes = {}) {
    return {.name = "tags", .shards = shards, .segment_bytes = segment_bytes};
  }
  [[nodiscard]] static Result<void, CommandError> add(BitmapSession& session, std::uint64_t id) {
    return session.write(AbsentTable::kMade, [id](bitmap::TableWriter& writer) -> Done {
      (void)CAD_TRY(writer.insert(kKey, Id{id}));
      return {};
    });
  }
  // Work that adds an id and then fails.
  [[nodiscard]] static Result<void, CommandError> fail_with(BitmapSession& session,
                                                            const bitmap::Error& error) {
    return session.write(AbsentTable::kMade, [&](bitmap::TableWriter& writer) -> Done {
      (void)CAD_TRY(writer.insert(kKey, Id{999}));
      return base::fail(error);
    });
  }
  [[nodiscard]] static std::uint64_t count(BitmapSession& session) {
    std::uint64_t count = 0;
    const auto read = session.read([&](const bitmap::TableReader& reader) -> Done {
      count = CAD_TRY(reader.cardinality(kKey));
      return {};
    });
    EXPECT_EQ(code_of(read), "fine");
    return count;
  }

  std::unique_ptr<bitmap::BitmapDatabase> database_ = open_database();
  BitmapSession session_{*database_, table(), {}, Mode::kBatch};
};

TEST_F(BitmapSessionTest, WithoutATransactionEachCallIsOne) {
  EXPECT_EQ(count(session_), 0U);
  EXPECT_EQ(code_of(add(session_, 1)), "fine");
  EXPECT_EQ(code_of(fail_with(session_, bitmap::misuse(bitmap::Misuse::kBadRange))),
            "invalid_argument");
  EXPECT_EQ(code_of(add(session_, 2)), "fine");
  EXPECT_EQ(count(session_), 2U);
}

TEST_F(BitmapSessionTest, ATransactionSeesItsChangesAndOthersSeeThemWhenItCommits) {
  ASSERT_EQ(code_of(session_.begin()), "fine");
  EXPECT_EQ(count(session_), 0U) << "there is no table yet";
  ASSERT_EQ(code_of(add(session_, 1)), "fine");
  ASSERT_EQ(code_of(add(session_, 2)), "fine");
  EXPECT_EQ(count(session_), 2U);
  EXPECT_EQ(*database_->cardinality("tags", kKey), 0U);
  ASSERT_EQ(code_of(session_.commit()), "fine");
  EXPECT_EQ(*database_->cardinality("tags", kKey), 2U);
}

TEST_F(BitmapSessionTest, AnAbortLeavesNothing) {
  ASSERT_EQ(code_of(session_.begin()), "fine");
  ASSERT_EQ(code_of(add(session_, 1)), "fine");
  ASSERT_EQ(code_of(session_.abort()), "fine");
  EXPECT_EQ(count(session_), 0U);
  EXPECT_EQ(code_of(add(session_, 2)), "fine");
}

TEST_F(BitmapSessionTest, ASessionThatEndsInsideATransactionAbortsIt) {
  {
    BitmapSession other(*database_, table(), {}, Mode::kBatch);
    ASSERT_EQ(code_of(other.begin()), "fine");
    ASSERT_EQ(code_of(add(other, 1)), "fine");
  }
  EXPECT_EQ(count(session_), 0U);
}

TEST_F(BitmapSessionTest, AWrongArgumentDoesNotEndTheTransaction) {
  ASSERT_EQ(code_of(session_.begin()), "fine");
  ASSERT_EQ(code_of(add(session_, 1)), "fine");
  const auto refused = session_.write(AbsentTable::kMade, [](bitmap::TableWriter&) -> Done {
    return base::fail(bitmap::misuse(bitmap::Misuse::kKeyTooLong));
  });
  EXPECT_EQ(code_of(refused), "key_too_long");
  ASSERT_EQ(code_of(session_.commit()), "fine");
  EXPECT_EQ(count(session_), 1U);
}

TEST_F(BitmapSessionTest, AnyOtherErrorAbortsItAndLaterCallsSaySo) {
  ASSERT_EQ(code_of(session_.begin()), "fine");
  ASSERT_EQ(code_of(add(session_, 1)), "fine");
  EXPECT_EQ(code_of(fail_with(session_, bitmap::corrupt(bitmap::ValueFault::kBadChecksum, kKey))),
            "corrupt");
  EXPECT_EQ(code_of(add(session_, 2)), "transaction_aborted");
  EXPECT_EQ(code_of(session_.read([](const bitmap::TableReader&) -> Done { return {}; })),
            "transaction_aborted");
  EXPECT_EQ(code_of(session_.begin()), "transaction_aborted");
  EXPECT_EQ(code_of(session_.commit()), "transaction_aborted");
  EXPECT_EQ(code_of(session_.commit()), "no_transaction") << "the commit ended it";
  EXPECT_EQ(count(session_), 0U);
}

TEST_F(BitmapSessionTest, AnAbortEndsAnAbortedTransaction) {
  ASSERT_EQ(code_of(session_.begin()), "fine");
  EXPECT_EQ(code_of(fail_with(session_, bitmap::stale())), "stale");
  EXPECT_EQ(code_of(session_.abort()), "fine");
  EXPECT_EQ(code_of(add(session_, 1)), "fine");
  EXPECT_EQ(count(session_), 1U);
}

TEST_F(BitmapSessionTest, BeginAndItsEndsComeInTurn) {
  EXPECT_EQ(code_of(session_.commit()), "no_transaction");
  EXPECT_EQ(code_of(session_.abort()), "no_transaction");
  ASSERT_EQ(code_of(session_.begin()), "fine");
  ASSERT_EQ(code_of(add(session_, 1)), "fine");
  EXPECT_EQ(code_of(session_.begin()), "transaction_open");
  ASSERT_EQ(code_of(session_.commit()), "fine");
  EXPECT_EQ(count(session_), 1U) << "a second begin does no harm";
}

TEST_F(BitmapSessionTest, AFullStoreGrowsForTheNextTransaction) {
  const auto database = open_database({.capacity_bytes = 40, .capacity_bytes_max = 4096});
  BitmapSession session(*database, table(), {}, Mode::kBatch);
  std::string code = "full";
  for (int attempt = 0; attempt < 8 && code == "full"; ++attempt) {
    ASSERT_EQ(code_of(session.begin()), "fine");
    code = code_of(add(session, 1));
    if (code == "fine") {
      code = code_of(session.commit());
    } else {
      ASSERT_EQ(code_of(session.abort()), "fine");
    }
  }
  EXPECT_EQ(code, "fine");
  EXPECT_EQ(count(session), 1U);
  EXPECT_GT(database->store().stats().capacity_bytes, 40U);
}

TEST_F(BitmapSessionTest, OnlyAnAdditionMakesATable) {
  const auto skipped = session_.write(AbsentTable::kSkipped, [](bitmap::TableWriter&) -> Done {
    return base::fail(bitmap::stale());  // Never asked.
  });
  EXPECT_EQ(code_of(skipped), "fine");
  EXPECT_TRUE(database_->tables().empty());
  ASSERT_EQ(code_of(session_.begin()), "fine");
  EXPECT_EQ(code_of(session_.write(
                AbsentTable::kSkipped,
                [](bitmap::TableWriter&) -> Done { return base::fail(bitmap::stale()); })),
            "fine");
}

// B-17
TEST_F(BitmapSessionTest, AnotherNumberOfShardsIsRefused) {
  BitmapSession four(*database_, table(4), {}, Mode::kBatch);
  ASSERT_EQ(code_of(four.begin()), "fine");
  ASSERT_EQ(code_of(add(four, 1)), "fine");
  ASSERT_EQ(code_of(four.commit()), "fine");
  EXPECT_EQ(code_of(add(session_, 2)), "fine") << "who does not say takes what is there";

  BitmapSession three(*database_, table(3), {}, Mode::kBatch);
  EXPECT_EQ(code_of(add(three, 3)), "config_mismatch");
  EXPECT_EQ(code_of(three.read([](const bitmap::TableReader&) -> Done { return {}; })),
            "config_mismatch");
  ASSERT_EQ(code_of(three.begin()), "fine");
  EXPECT_EQ(code_of(add(three, 3)), "config_mismatch");
  EXPECT_EQ(code_of(three.commit()), "transaction_aborted");
  EXPECT_EQ(count(session_), 2U);
}

TEST_F(BitmapSessionTest, AnOldTableTakesAnotherSegmentSize) {
  ASSERT_EQ(code_of(add(session_, 1)), "fine");
  BitmapSession small(*database_, table({}, 1024), {}, Mode::kBatch);
  ASSERT_EQ(code_of(add(small, 2)), "fine");
  std::uint32_t bytes = 0;
  EXPECT_EQ(code_of(session_.read([&](const bitmap::TableReader& reader) -> Done {
              bytes = reader.config().segment_bytes_max;
              return {};
            })),
            "fine");
  EXPECT_EQ(bytes, 1024U);
}

}  // namespace
}  // namespace cadastre::cli
