// Many threads: readers on snapshots beside a writer, writers one after another, growth between them.

#include <atomic>
#include <cstdint>
#include <latch>
#include <string>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/threads_testing.h"
#include "kv/conformance/suite_testing.h"
#include "kv/kv.h"
#include "kv/shown_testing.h"
#include "kv/store.h"

namespace cadastre::kv::conformance {
namespace {

constexpr int kReaders = 16;
constexpr int kIds = 20;
constexpr int kMoves = 400;

std::string id_of(int i) {
  return "id" + std::to_string(i);
}

// 6.6: every id is in one of two spaces, and moves between them in one transaction.
TEST_P(Conformance, SixteenReadersSeeWholeTransactionsBesideAWriter) {
  const SpaceId two = store().open_space("two").value();
  {
    const auto txn = write();
    for (int i = 0; i < kIds; ++i)
      put(txn->writer(one()), {id_of(i), "v"});
    ASSERT_EQ(shown(txn->commit()), "done");
  }
  std::atomic<bool> is_done = false;
  std::atomic<int> snapshots = 0;
  std::latch readers_ready(kReaders);
  const auto move = [&](const std::string& id) {
    const auto txn = write();
    Writer& first = txn->writer(one());
    Writer& second = txn->writer(two);
    const bool is_in_first = get(first, id) == "v";
    ASSERT_EQ(shown((is_in_first ? first : second).erase(base::as_bytes(id))), "done");
    put(is_in_first ? second : first, {id, "v"});
    ASSERT_EQ(shown(txn->commit()), "done");
  };
  const auto look = [&] {
    const auto txn = read();
    Reader& first = txn->reader(one());
    Reader& second = txn->reader(two);
    for (int i = 0; i < kIds; ++i)
      ASSERT_NE(get(first, id_of(i)) == "v", get(second, id_of(i)) == "v");
    ASSERT_EQ(contents(first).size() + contents(second).size(), kIds);
    ++snapshots;
  };
  base::run_in_threads(kReaders + 1, [&](int thread) {
    if (thread == 0) {
      readers_ready.wait();
      for (int i = 0; i < kMoves; ++i)
        move(id_of(i * 7 % kIds));
      is_done = true;
      return;
    }
    look();
    readers_ready.count_down();
    while (!is_done)
      look();
  });
  EXPECT_GE(snapshots, kReaders);
  EXPECT_EQ(store().stats().readers_open, 0U);
}

TEST_P(Conformance, WritersTakeTurns) {
  constexpr int kWriters = 4;
  constexpr int kIncrements = 100;
  commit({{"n", "0"}});
  base::run_in_threads(kWriters, [&](int /*thread*/) {
    for (int i = 0; i < kIncrements; ++i) {
      const auto txn = write();
      Writer& writer = txn->writer(one());
      put(writer, {"n", std::to_string(std::stoi(get(writer, "n")) + 1)});
      ASSERT_EQ(shown(txn->commit()), "done");
    }
  });
  EXPECT_EQ(committed(), (Texts{"n=" + std::to_string(kWriters * kIncrements)}));
}

TEST_P(Conformance, GrowthWaitsForReadersAndHoldsNewOnesBack) {
  constexpr std::uint64_t kSmall = 1U << 20;
  constexpr int kDoublings = 8;
  open({.capacity_bytes = kSmall, .capacity_bytes_max = kSmall << kDoublings});
  commit({{"a", "1"}});
  std::atomic<bool> is_done = false;
  base::run_in_threads(kReaders + 1, [&](int thread) {
    if (thread == 0) {
      for (int i = 1; i <= kDoublings; ++i)
        EXPECT_EQ(store().grow(OpenTransactions::kWait), kSmall << i);
      is_done = true;
      return;
    }
    do {
      const auto txn = read();
      ASSERT_EQ(get(txn->reader(one()), "a"), "1");
      ASSERT_GE(store().stats().capacity_bytes, kSmall);
    } while (!is_done);
  });
}

TEST_P(Conformance, SpacesAreMadeBesideReaders) {
  constexpr int kSpaces = 40;
  std::atomic<bool> is_done = false;
  base::run_in_threads(3, [&](int thread) {
    if (thread == 0) {
      for (int i = 0; i < kSpaces; ++i) {
        const SpaceId space = store().open_space(std::to_string(i)).value();
        const auto txn = write();
        put(txn->writer(space), {"k", "v"});
        put(txn->writer(one()), {std::to_string(i), "made"});
        ASSERT_EQ(shown(txn->commit()), "done");
      }
      is_done = true;
      return;
    }
    do {
      const auto txn = read();
      for (int i = 0; i < kSpaces; ++i) {
        const auto space = store().find_space(std::to_string(i));
        const std::string made = get(txn->reader(one()), std::to_string(i));
        if (!space)
          ASSERT_EQ(made, "nothing");
        else
          ASSERT_EQ(get(txn->reader(*space), "k"), made == "made" ? "v" : "nothing");
      }
    } while (!is_done);
  });
}

}  // namespace
}  // namespace cadastre::kv::conformance
