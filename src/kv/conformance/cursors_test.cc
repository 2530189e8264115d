// Order, seeks and steps.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "kv/conformance/suite_testing.h"
#include "kv/error.h"
#include "kv/kv.h"
#include "kv/limits.h"
#include "kv/shown_testing.h"
#include "kv/store.h"

namespace cadastre::kv::conformance {
namespace {

using namespace std::string_literals;

std::string ceiling(Cursor& cursor, std::string_view key) {
  return shown(cursor.seek_ceiling(base::as_bytes(key)));
}
std::string floor(Cursor& cursor, std::string_view key) {
  return shown(cursor.seek_floor(base::as_bytes(key)));
}

// In order: zeros and ff's at both ends, prefixes before what they begin, unsigned bytes.
std::vector<std::string> hard_keys() {
  return {"\x00"s,      "\x00\x00"s, "\x00\xff"s, "a"s,        "a\x00"s,
          "a\x00\x00"s, "ab"s,       "a\xff"s,    "b"s,        "\x7f"s,
          "\x80"s,      "\xff"s,     "\xff\x00"s, "\xff\xff"s, std::string(kKeyBytesMax, '\xff')};
}

TEST_P(Conformance, KeysAreOrderedAsUnsignedBytes) {
  const auto keys = hard_keys();
  const auto txn = write();
  Writer& writer = txn->writer(one());
  for (std::size_t i = keys.size(); i-- > 0;)
    put(writer, {keys[i], "v"});
  std::vector<std::string> expected;
  for (const std::string& key : keys)
    expected.push_back(key + "=v");
  EXPECT_EQ(contents(writer), expected);
  ASSERT_EQ(shown(txn->commit()), "done");
  EXPECT_EQ(committed(), expected);
}

// Every key, and a bound just below and just above each: the answer is the neighbour in the list.
TEST_P(Conformance, SeeksFindTheNeighbours) {
  const std::vector<std::string> keys = {"\x00"s, "b"s, "b\x00"s, "d"s, "\xff"s};
  const auto txn = write();
  Writer& writer = txn->writer(one());
  for (const std::string& key : keys)
    put(writer, {key, "v"});
  const auto cursor = writer.cursor().value();
  const std::vector<std::string> bounds = {""s,
                                           "\x00"s,
                                           "\x00\x00"s,
                                           "a"s,
                                           "b"s,
                                           "b\x00"s,
                                           "ba"s,
                                           "c"s,
                                           "d"s,
                                           "e"s,
                                           "\xff"s,
                                           "\xff\x00"s,
                                           std::string(kKeyBytesMax + 1, '\xff'),
                                           std::string(kKeyBytesMax + 1, 'b')};
  for (const std::string& bound : bounds) {
    std::string least = "nothing";
    std::string greatest = "nothing";
    for (const std::string& key : keys) {
      if (key <= bound) greatest = key + "=v";
      if (key >= bound && least == "nothing") least = key + "=v";
    }
    EXPECT_EQ(ceiling(*cursor, bound), least) << base::to_hex(base::as_bytes(bound));
    EXPECT_EQ(floor(*cursor, bound), greatest) << base::to_hex(base::as_bytes(bound));
  }
}

TEST_P(Conformance, StepsLeadFromEveryEntryToItsNeighbours) {
  const std::vector<std::string> keys = {"a", "b", "c", "d"};
  commit({{"a", "1"}, {"b", "1"}, {"c", "1"}, {"d", "1"}});
  const auto txn = read();
  const auto cursor = txn->reader(one()).cursor().value();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::string before = i == 0 ? "nothing" : keys[i - 1] + "=1";
    const std::string after = i + 1 == keys.size() ? "nothing" : keys[i + 1] + "=1";
    EXPECT_EQ(ceiling(*cursor, keys[i]), keys[i] + "=1");
    EXPECT_EQ(shown(cursor->next()), after);
    EXPECT_EQ(floor(*cursor, keys[i]), keys[i] + "=1");
    EXPECT_EQ(shown(cursor->prev()), before);
  }
}

TEST_P(Conformance, ACursorTurnsBackAtBothEnds) {
  commit({{"a", "1"}, {"b", "2"}});
  const auto txn = read();
  const auto cursor = txn->reader(one()).cursor().value();
  EXPECT_EQ(ceiling(*cursor, "c"), "nothing");
  EXPECT_EQ(shown(cursor->next()), "nothing");
  EXPECT_EQ(shown(cursor->prev()), "b=2");
  EXPECT_EQ(shown(cursor->next()), "nothing");
  EXPECT_EQ(shown(cursor->next()), "nothing");
  EXPECT_EQ(shown(cursor->prev()), "b=2");
  EXPECT_EQ(shown(cursor->prev()), "a=1");
  EXPECT_EQ(shown(cursor->prev()), "nothing");
  EXPECT_EQ(shown(cursor->prev()), "nothing");
  EXPECT_EQ(shown(cursor->next()), "a=1");
  EXPECT_EQ(floor(*cursor, "A"), "nothing");
  EXPECT_EQ(shown(cursor->prev()), "nothing");
  EXPECT_EQ(shown(cursor->next()), "a=1");
}

TEST_P(Conformance, ANewCursorBeginsAtEitherEnd) {
  commit({{"a", "1"}, {"b", "2"}});
  const auto txn = read();
  EXPECT_EQ(shown(txn->reader(one()).cursor().value()->next()), "a=1");
  EXPECT_EQ(shown(txn->reader(one()).cursor().value()->prev()), "b=2");
}

TEST_P(Conformance, AnEmptySpaceHasNoEntries) {
  const auto txn = read();
  const auto cursor = txn->reader(one()).cursor().value();
  EXPECT_EQ(shown(cursor->next()), "nothing");
  EXPECT_EQ(shown(cursor->prev()), "nothing");
  EXPECT_EQ(ceiling(*cursor, "a"), "nothing");
  EXPECT_EQ(floor(*cursor, "a"), "nothing");
  EXPECT_EQ(get(txn->reader(one()), "a"), "nothing");
}

// B-4: a mutation of any space unseats every cursor of the transaction.
TEST_P(Conformance, AMutationMakesCursorsStale) {
  commit({{"a", "1"}, {"b", "2"}});
  const SpaceId two = store().open_space("two").value();
  const auto txn = write();
  Writer& writer = txn->writer(one());
  const auto cursor = writer.cursor().value();
  EXPECT_EQ(shown(cursor->next()), "a=1");
  put(writer, {"a", "3"});
  EXPECT_EQ(shown(cursor->next()), shown(ErrorCode::kStaleCursor));
  EXPECT_EQ(shown(cursor->prev()), shown(ErrorCode::kStaleCursor));
  EXPECT_EQ(ceiling(*cursor, "a"), "a=3");
  put(txn->writer(two), {"x", "1"});
  EXPECT_EQ(shown(cursor->next()), shown(ErrorCode::kStaleCursor));
  EXPECT_EQ(floor(*cursor, "z"), "b=2");
  ASSERT_EQ(shown(writer.erase(base::as_bytes("b"))), "done");
  EXPECT_EQ(shown(cursor->prev()), shown(ErrorCode::kStaleCursor));
  EXPECT_EQ(floor(*cursor, "z"), "a=3");
  EXPECT_EQ(shown(cursor->next()), "nothing");
  put(writer, {"q", "5"});
  EXPECT_EQ(shown(cursor->prev()), shown(ErrorCode::kStaleCursor));  // Also beyond an end.
}

TEST_P(Conformance, WhatChangesNothingLeavesCursorsAlone) {
  commit({{"a", "1"}, {"b", "2"}});
  const auto txn = write();
  Writer& writer = txn->writer(one());
  const auto cursor = writer.cursor().value();
  EXPECT_EQ(shown(cursor->next()), "a=1");
  ASSERT_EQ(shown(writer.erase(base::as_bytes("absent"))), "done");
  ASSERT_EQ(shown(writer.erase_range(base::as_bytes("c"), base::as_bytes("d"))), "done");
  EXPECT_EQ(shown(cursor->next()), "b=2");
}

TEST_P(Conformance, CursorsOfOneTransactionAreIndependent) {
  commit({{"a", "1"}, {"b", "2"}, {"c", "3"}});
  const auto txn = read();
  Reader& reader = txn->reader(one());
  std::vector<std::unique_ptr<Cursor>> cursors;
  for (int i = 0; i < 8; ++i)
    cursors.push_back(reader.cursor().value());
  EXPECT_EQ(shown(cursors[0]->next()), "a=1");
  EXPECT_EQ(shown(cursors[1]->prev()), "c=3");
  EXPECT_EQ(shown(cursors[0]->next()), "b=2");
  EXPECT_EQ(shown(cursors[1]->prev()), "b=2");
  cursors.clear();
  EXPECT_EQ(shown(reader.cursor().value()->next()), "a=1");  // A used one begins anew.
}

}  // namespace
}  // namespace cadastre::kv::conformance
