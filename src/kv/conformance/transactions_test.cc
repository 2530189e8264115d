// Transactions: what they see, what is left of them, who waits for whom.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "kv/conformance/suite_testing.h"
#include "kv/error.h"
#include "kv/kv.h"
#include "kv/shown_testing.h"
#include "kv/store.h"

namespace cadastre::kv::conformance {
namespace {

TEST_P(Conformance, AWriterReadsItsOwnWrites) {  // B-2
  commit({{"a", "1"}, {"b", "2"}});
  const auto txn = write();
  Writer& writer = txn->writer(one());
  put(writer, {"a", "new"});
  put(writer, {"c", ""});
  ASSERT_EQ(shown(writer.erase(base::as_bytes("b"))), "done");
  EXPECT_EQ(get(writer, "a"), "new");
  EXPECT_EQ(get(writer, "b"), "nothing");
  EXPECT_EQ(get(writer, "c"), "");
  EXPECT_EQ(contents(txn->reader(one())), (Texts{"a=new", "c="}));
  EXPECT_EQ(committed(), (Texts{"a=1", "b=2"}));
}

TEST_P(Conformance, AbortRestores) {
  commit({{"a", "1"}, {"b", "2"}});
  {
    const auto txn = write();
    put(txn->writer(one()), {"a", "other"});
    ASSERT_EQ(shown(txn->writer(one()).erase(base::as_bytes("b"))), "done");
    txn->abort();
    EXPECT_EQ(committed(), (Texts{"a=1", "b=2"}));
  }
  {
    const auto txn = write();  // The destructor aborts too.
    put(txn->writer(one()), {"c", "3"});
  }
  EXPECT_EQ(committed(), (Texts{"a=1", "b=2"}));
}

TEST_P(Conformance, AnEndedTransactionAnswersNothingElse) {
  for (const bool is_committed : {true, false}) {
    const auto txn = write();
    Writer& writer = txn->writer(one());
    put(writer, {"a", "1"});
    const auto cursor = writer.cursor().value();
    if (is_committed)
      EXPECT_EQ(shown(txn->commit()), "done");
    else
      txn->abort();
    const std::string ended = shown(ErrorCode::kEnded);
    EXPECT_EQ(get(writer, "a"), ended);
    EXPECT_EQ(shown(writer.put(base::as_bytes("a"), {})), ended);
    EXPECT_EQ(shown(writer.erase(base::as_bytes("a"))), ended);
    EXPECT_EQ(shown(writer.erase_range(base::as_bytes("a"), base::as_bytes("b"))), ended);
    EXPECT_EQ(writer.cursor().error(), Error{ErrorCode::kEnded});
    EXPECT_EQ(shown(cursor->next()), ended);
    EXPECT_EQ(shown(cursor->seek_floor(base::as_bytes("a"))), ended);
    EXPECT_EQ(shown(cursor->seek_ceiling(base::as_bytes("a"))), ended);
    EXPECT_EQ(shown(txn->commit()), ended);
    txn->abort();  // Once more changes nothing.
  }
}

TEST_P(Conformance, MutationsAreCounted) {
  const SpaceId two = store().open_space("two").value();
  const auto txn = write();
  Writer& writer = txn->writer(one());
  Writer& other = txn->writer(two);
  EXPECT_EQ(writer.mutation_count(), 0U);
  put(writer, {"a", "1"});
  put(writer, {"a", "1"});  // The same bytes again.
  EXPECT_EQ(writer.mutation_count(), 2U);
  put(other, {"a", "1"});
  put(other, {"b", "1"});
  EXPECT_EQ(writer.mutation_count(), 4U);  // Of the whole transaction.
  ASSERT_EQ(shown(writer.erase(base::as_bytes("absent"))), "done");
  ASSERT_EQ(shown(writer.erase_range(base::as_bytes("b"), base::as_bytes("c"))), "done");
  EXPECT_EQ(writer.mutation_count(), 4U);
  ASSERT_EQ(shown(writer.erase(base::as_bytes("a"))), "done");
  ASSERT_EQ(shown(other.erase_range(base::as_bytes("a"), base::as_bytes("c"))), "done");
  EXPECT_EQ(other.mutation_count(), 6U);
  EXPECT_EQ(txn->mutation_count(), 6U);
  const auto reader = read();
  EXPECT_EQ(reader->reader(one()).mutation_count(), 0U);
}

TEST_P(Conformance, ARangeIsErasedHalfOpen) {
  commit({{"a", "1"}, {"b", "1"}, {"b\x01", "1"}, {"c", "1"}, {"d", "1"}});
  const auto erased = [&](std::string_view first, std::string_view last) {
    const auto txn = write();
    Writer& writer = txn->writer(one());
    EXPECT_EQ(shown(writer.erase_range(base::as_bytes(first), base::as_bytes(last))), "done");
    return contents(writer);
  };
  EXPECT_EQ(erased("b", "d"), (Texts{"a=1", "d=1"}));
  EXPECT_EQ(erased("b", "b"), (Texts{"a=1", "b=1", "b\x01=1", "c=1", "d=1"}));
  EXPECT_EQ(erased("d", "b"), (Texts{"a=1", "b=1", "b\x01=1", "c=1", "d=1"}));
  EXPECT_EQ(erased("", "b"), (Texts{"b=1", "b\x01=1", "c=1", "d=1"}));
  EXPECT_EQ(erased("aa", "cc"), (Texts{"a=1", "d=1"}));
  EXPECT_EQ(erased("b\x01", std::string(1000, '\xff')), (Texts{"a=1", "b=1"}));
  EXPECT_EQ(erased("", "\xff"), Texts{});
}

TEST_P(Conformance, ALargeRangeIsErased) {  // Over many pages of a tree, values of every kind.
  const auto key = [](int i) {
    return std::to_string(100'000 + i);
  };
  const auto txn = write();
  Writer& writer = txn->writer(one());
  for (int i = 0; i < 5'000; ++i)
    put(writer,
        {key(i), std::string(static_cast<std::size_t>(i % 50 == 0 ? 9'000 : i % 700), 'v')});
  ASSERT_EQ(shown(writer.erase_range(base::as_bytes(key(3)), base::as_bytes(key(4'998)))), "done");
  const auto cursor = writer.cursor().value();
  std::vector<std::string> keys;
  for (auto entry = cursor->next(); entry && *entry; entry = cursor->next())
    keys.push_back(text_of((*entry)->key));
  EXPECT_EQ(keys, (Texts{key(0), key(1), key(2), key(4'998), key(4'999)}));
}

// B-5, 6.6: a reader keeps its answers.
TEST_P(Conformance, AReaderKeepsItsSnapshotAcrossAThousandCommits) {
  commit({{"a", "old"}, {"b", "old"}});
  const auto reader = read();
  Reader& before = reader->reader(one());
  const auto cursor = before.cursor().value();
  EXPECT_EQ(shown(cursor->next()), "a=old");
  for (int i = 0; i < 1'000; ++i) {
    const auto txn = write();
    put(txn->writer(one()), {"a", std::to_string(i)});
    put(txn->writer(one()), {"n" + std::to_string(i), "x"});
    ASSERT_EQ(shown(txn->writer(one()).erase(base::as_bytes("b"))), "done");
    ASSERT_EQ(shown(txn->commit()), "done");
  }
  EXPECT_EQ(shown(cursor->next()), "b=old");
  EXPECT_EQ(shown(cursor->next()), "nothing");
  EXPECT_EQ(contents(before), (Texts{"a=old", "b=old"}));
  EXPECT_EQ(get(before, "a"), "old");
  EXPECT_EQ(committed().size(), 1'001U);
}

TEST_P(Conformance, TheOldestReaderIsVisible) {  // B-5
  EXPECT_FALSE(store().stats().oldest_reader);
  auto first = read();
  clock().advance(std::chrono::seconds(3));
  commit({{"a", "1"}});
  auto second = read();
  clock().advance(std::chrono::seconds(4));
  commit({{"a", "2"}});
  const StoreStats both = store().stats();
  EXPECT_EQ(both.readers_open, 2U);
  EXPECT_EQ(both.oldest_reader.value().commits_behind, 2U);
  EXPECT_EQ(both.oldest_reader.value().age, std::chrono::seconds(7));
  first.reset();
  EXPECT_EQ(store().stats().oldest_reader.value().commits_behind, 1U);
  EXPECT_EQ(store().stats().oldest_reader.value().age, std::chrono::seconds(4));
  second.reset();
  EXPECT_FALSE(store().stats().oldest_reader);
  EXPECT_EQ(store().stats().readers_open, 0U);
}

TEST_P(Conformance, OnlyChangesCountAsCommits) {
  const std::uint64_t before = store().stats().commits;
  commit({});
  EXPECT_EQ(store().stats().commits, before);
  commit({{"a", "1"}, {"b", "1"}});
  EXPECT_EQ(store().stats().commits, before + 1);
}

TEST_P(Conformance, OneThreadCannotWriteTwiceAtOnce) {
  auto txn = write();
  EXPECT_EQ(store().begin_write().error(), Error{ErrorCode::kBusy});
  EXPECT_EQ(store().open_space("new").error(), Error{ErrorCode::kBusy});
  EXPECT_EQ(store().open_space("one"), one());  // Which is there already.
  txn->abort();
  EXPECT_TRUE(store().begin_write());
}

TEST_P(Conformance, ReadersAreBounded) {
  open({.readers_max = 3});
  std::vector<std::unique_ptr<ReadTransaction>> readers;
  for (int i = 0; i < 3; ++i)
    readers.push_back(read());
  EXPECT_EQ(store().stats().readers_max, 3U);
  EXPECT_EQ(store().begin_read().error(), Error{ErrorCode::kReadersFull});
  readers.erase(readers.begin() + 1);
  EXPECT_TRUE(store().begin_read());
}

TEST_P(Conformance, ReadTransactionsAreReused) {  // A slot's second user sees nothing of the first.
  commit({{"a", "1"}});
  {
    const auto txn = read();
    const auto cursor = txn->reader(one()).cursor().value();
    EXPECT_EQ(shown(cursor->next()), "a=1");
  }
  commit({{"0", "0"}, {"a", "2"}});
  const auto txn = read();
  const auto cursor = txn->reader(one()).cursor().value();
  EXPECT_EQ(shown(cursor->next()), "0=0");
  EXPECT_EQ(shown(cursor->next()), "a=2");
}

}  // namespace
}  // namespace cadastre::kv::conformance
