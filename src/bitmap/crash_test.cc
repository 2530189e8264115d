// Processes that die in the middle of a transaction, and what is left (6.3).
//
// SIGKILL loses nothing that was handed to the operating system: these tests show that a transaction
// is there wholly or not at all, not that it was flushed. What LMDB promises of flushes stands in
// kv/lmdb/lmdb_options.h.

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/check.h"
#include "bitmap/config.h"
#include "bitmap/id_stream.h"
#include "bitmap/ids.h"
#include "bitmap/table_model_testing.h"
#include "bitmap/table_reader.h"
#include "bitmap/table_writer.h"
#include "bitmap/verify.h"
#include "kv/kv.h"
#include "kv/lmdb_testing.h"
#include "kv/recording_testing.h"
#include "kv/store.h"

namespace cadastre::bitmap {
namespace {

using base::as_bytes;
using testing::as_ids;
using testing::IdDice;
using testing::ids_of;
using testing::ModelSet;
using testing::must;

constexpr Config kTiny{.segment_bytes_max = 1024};
constexpr int kRounds = 300;
constexpr std::size_t kBatchIds = 60;

const base::ByteView kSet = as_bytes("set");
const base::ByteView kDone = as_bytes("done");  // the numbers of the batches that were committed

// What batch `number` adds; and what it takes away: half of what came three batches before.
std::vector<std::uint64_t> added_by(std::uint64_t number) {
  IdDice dice(number);
  return dice.ids(kBatchIds);
}
std::vector<std::uint64_t> removed_by(std::uint64_t number) {
  if (number < 4) return {};
  auto ids = added_by(number - 3);
  ids.resize(ids.size() / 2);
  return ids;
}

void apply(std::uint64_t number, ModelSet& model) {
  for (const std::uint64_t id : removed_by(number))
    model.erase(id);
  for (const std::uint64_t id : added_by(number))
    model.insert(id);
}

void apply(std::uint64_t number, TableWriter& table) {
  (void)must(table.remove_many(kSet, as_ids(removed_by(number))));
  (void)must(table.insert_many(kSet, as_ids(added_by(number))));
  (void)must(table.insert(kDone, Id{number}));
}

// A child does not outlive this test.
pid_t fork_child() {
  const pid_t child = fork();
  CAD_CHECK(child >= 0, "a process can be made");
  if (child == 0) {
    CAD_CHECK(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0, "a child can ask to go with its parent");
  }
  return child;
}

std::unique_ptr<kv::Store> open_store(const std::string& directory) {
  return must(kv::open_lmdb_store(directory));
}

TableWriter open_table(kv::Writer& writer) {
  auto table = TableWriter::open(writer);
  return table ? std::move(*table) : must(TableWriter::create(writer, kTiny));
}

// Applies batches and reports each commit by one byte, until somebody ends this process.
[[noreturn]] void apply_until_killed(const std::string& directory,
                                     std::uint64_t first,
                                     int report) {
  const auto store = open_store(directory);
  const auto space = must(store->open_space("t"));
  for (std::uint64_t number = first;; ++number) {
    const auto txn = must(store->begin_write());
    auto table = open_table(txn->writer(space));
    apply(number, table);
    must(txn->commit());
    const char committed = 1;
    CAD_CHECK(write(report, &committed, 1) == 1, "the parent listens");
  }
}

// Kills the child after it has reported about so many commits; how many it had reported by then.
std::uint64_t run_and_kill(const std::string& directory, std::uint64_t first, std::uint64_t after) {
  std::array<int, 2> ends{};
  CAD_CHECK(pipe(ends.data()) == 0, "a pipe can be made");
  const pid_t child = fork_child();
  if (child == 0) {
    close(ends[0]);
    apply_until_killed(directory, first, ends[1]);
  }
  close(ends[1]);
  std::uint64_t reported = 0;
  char byte = 0;
  while (reported < after && read(ends[0], &byte, 1) == 1)
    ++reported;
  CAD_CHECK(kill(child, SIGKILL) == 0, "a child can be ended");
  while (read(ends[0], &byte, 1) == 1)
    ++reported;
  int status = 0;
  CAD_CHECK(waitpid(child, &status, 0) == child, "a child can be waited for");
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  close(ends[0]);
  return reported;
}

// T-C1: every batch that was reported is there, the next one wholly or not at all.
TEST(BitmapCrash, ATransactionIsWholeOrAbsent) {
  const kv::TemporaryDirectory directory;
  IdDice dice(1);
  ModelSet model;
  std::uint64_t committed = 0;
  std::uint64_t unreported = 0;
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t reported = run_and_kill(directory.path(), committed + 1, 1 + dice.below(6));
    const auto store = open_store(directory.path());
    const auto txn = must(store->begin_read());
    const auto space = store->find_space("t");
    ASSERT_TRUE(space.has_value());
    const auto table = must(TableReader::open(txn->reader(*space)));
    const std::uint64_t found = must(table.cardinality(kDone));
    ASSERT_GE(found, committed + reported) << "a reported batch is lost";
    ASSERT_LE(found, committed + reported + 1) << "a batch that nobody began";
    unreported += found - committed - reported;
    while (committed < found)
      apply(++committed, model);
    ASSERT_EQ(ids_of(*must(table.stream(kSet))),
              std::vector<std::uint64_t>(model.begin(), model.end()))
        << "round " << round;
    for (const Finding& finding : must(table.verify_all(3)))
      ADD_FAILURE() << to_string(finding);
    if (HasFailure()) return;
  }
  RecordProperty("unreported_commits", static_cast<int>(unreported));
}

// Inserts ids until one more cuts a segment, then dies before put number `nth` of that insertion;
// exits with 0 if there are fewer.
[[noreturn]] void die_in_a_cut(const std::string& directory, std::uint64_t nth) {
  const auto store = open_store(directory);
  const auto space = must(store->open_space("t"));
  const auto txn = must(store->begin_write());
  kv::CallScript script;
  kv::RecordingWriter writer(txn->writer(space), script);
  auto table = must(TableWriter::open(writer));
  std::uint64_t puts = 0;
  script.before_call([&](kv::Call call) {
    if (call != kv::Call::kPut || ++puts != nth) return;
    (void)kill(getpid(), SIGKILL);
  });
  std::uint64_t id = 0;
  while (puts < 2) {
    (void)must(table.insert(kSet, Id{id * 2654435761 + 1}));
    id += 70'000;
  }
  must(txn->commit());
  std::_Exit(0);
}

// T-C2: between the puts of one cut.
TEST(BitmapCrash, ACutIsWholeOrAbsent) {
  const kv::TemporaryDirectory directory;
  {
    const auto store = open_store(directory.path());
    const auto space = must(store->open_space("t"));
    const auto txn = must(store->begin_write());
    auto table = must(TableWriter::create(txn->writer(space), kTiny));
    for (std::uint64_t id = 0; must(table.stats(kSet)).segments < 2; id += 90'000)
      (void)must(table.insert(kSet, Id{id}));
    must(txn->commit());
  }
  bool survived = false;
  for (std::uint64_t nth = 1; !survived; ++nth) {
    ASSERT_LT(nth, 10U);
    const pid_t child = fork_child();
    if (child == 0) die_in_a_cut(directory.path(), nth);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    survived = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    const auto store = open_store(directory.path());
    const auto txn = must(store->begin_read());
    const auto table = must(TableReader::open(txn->reader(*store->find_space("t"))));
    EXPECT_TRUE(must(table.verify_all(3)).empty()) << "killed before put " << nth;
    if (nth > 1) continue;
    EXPECT_FALSE(survived);
  }
}

}  // namespace
}  // namespace cadastre::bitmap
