// A log with eight groups, crashed at every operation of a history and started again: what was answered
// is there, sets are whole, and the work goes on (L-2, L-24, L-25, R17; crash_node.h has the list). And
// with every single operation failing once: the host ends, tells nobody anything, and the next process
// has what was answered (L-49).

#include <unistd.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/check.h"
#include "base/random.h"
#include "tests/log/crash_file_system.h"
#include "tests/log/crash_node.h"

namespace cadastre::log {
namespace {

constexpr std::uint64_t kOperationsMax = 2000;
constexpr std::size_t kSmall = 20;
constexpr std::size_t kLarge = 5000;  // Two rounds fill a memtable.

// Places are tried with this chance: all of them, unless slow checks and sanitizers make a trial long.
constexpr std::uint64_t kOneIn = base::kSlowChecks ? 6 : 1;

// From an empty directory: made, filled over all groups, tables written meanwhile, started again.
void small_history(CrashNode& node) {
  if (!node.start()) return;
  node.round(kSmall);
  node.round(kSmall, 3);
  node.flush_states(2);
  node.round(kLarge);
  node.round(kLarge);
  node.round(kSmall);
  if (!node.alive()) return;
  node.end_process();
  if (!node.start()) return;
  node.round(kSmall, 2);
  node.flush_states(1);
  node.round(kSmall);
}

// On a log that has enough entries to be truncated.
void truncating_history(CrashNode& node) {
  if (!node.start()) return;
  node.keep_house();  // Up to what the first state has flushed, which is not all that it has executed.
  node.round(kSmall);
  node.flush_states(3);
  node.round(kLarge);
  node.round(kLarge);
  node.round(kSmall);
}

std::unique_ptr<CrashNode> make_grown() {
  auto node = std::make_unique<CrashNode>();
  EXPECT_TRUE(node->start());
  node->grow(kTruncateEntriesMin);
  node->flush_states(1);
  node->grow(10);
  node->crash(kKeepAll);
  EXPECT_TRUE(node->start());  // Brings the log into a table.
  node->crash(kKeepAll);
  return node;
}

struct History {
  std::unique_ptr<CrashNode> original;  // Nothing: from an empty directory.
  void (*run)(CrashNode& node);

  [[nodiscard]] std::unique_ptr<CrashNode> node() const {
    return original ? std::make_unique<CrashNode>(original) : std::make_unique<CrashNode>();
  }
};

History small() {
  return {nullptr, small_history};
}
History truncating() {
  return {make_grown(), truncating_history};
}

// It starts, takes commands, and has them after the next crash.
void expect_goes_on(CrashNode& node) {
  ASSERT_TRUE(node.start());
  node.round(kSmall);
  EXPECT_TRUE(node.alive());
  EXPECT_TRUE(node.all_answered());
  node.crash(kDropUnsynced);
  EXPECT_TRUE(node.start());
}

// Calls trial(1), trial(2), ... until one says that its place was not reached.
void at_every_place(const std::function<bool(std::uint64_t)>& trial) {
  base::SeededRandom random(1);
  for (std::uint64_t n = 1;; n += 1 + random.below(2 * kOneIn - 1)) {
    SCOPED_TRACE(n);
    ASSERT_LT(n, kOperationsMax);
    if (!trial(n) || testing::Test::HasFailure()) return;
  }
}

void crash_everywhere(const History& history, const CrashPolicy& policy) {
  at_every_place([&](std::uint64_t n) {
    const auto node = history.node();
    node->files().crash_at(n);
    history.run(*node);
    const bool crashed = node->files().crashed();
    node->crash(policy);
    expect_goes_on(*node);
    return crashed;
  });
}

struct NamedPolicy {
  std::string name;
  CrashPolicy policy;

  friend void PrintTo(const NamedPolicy& policy, std::ostream* out) { *out << policy.name; }
};
const std::vector<NamedPolicy> kPolicies{
    {"AllUnsyncedIsLost", kDropUnsynced},
    {"NothingIsLost", kKeepAll},
    {"BytesAreLostNamesStay",
     {.bytes = LostBytes::kTear, .kept = 0, .entries = LostEntries::kKept}},
    {"NamesAreLostBytesStay", {.bytes = LostBytes::kKeepAll, .entries = LostEntries::kDropped}},
    {"TornInTheHeader", {.bytes = LostBytes::kTear, .kept = 5, .entries = LostEntries::kKept}},
    {"TornInTheMiddle", {.bytes = LostBytes::kTear, .kept = 700}},
    {"TornBehindABlock",
     {.bytes = LostBytes::kTear, .kept = 33'000, .entries = LostEntries::kKept}},
    {"Zeros", {.bytes = LostBytes::kZeros, .kept = 0, .entries = LostEntries::kKept}},
    {"ZerosBehindTheHeader",
     {.bytes = LostBytes::kZeros, .kept = 12, .entries = LostEntries::kKept}},
    {"ZerosFromTheMiddle", {.bytes = LostBytes::kZeros, .kept = 700}},
    {"Garbage",
     {.bytes = LostBytes::kGarbage, .kept = 0, .seed = 7, .entries = LostEntries::kKept}},
    {"GarbageFromTheMiddle", {.bytes = LostBytes::kGarbage, .kept = 700, .seed = 8}},
};

class CrashAnywhere : public testing::TestWithParam<NamedPolicy> {};

TEST_P(CrashAnywhere, KeepsWhatWasAnswered) {
  crash_everywhere(small(), GetParam().policy);
}

TEST_P(CrashAnywhere, KeepsWhatWasAnsweredOfATruncatedLog) {
  crash_everywhere(truncating(), GetParam().policy);
}

INSTANTIATE_TEST_SUITE_P(HostCrash,
                         CrashAnywhere,
                         testing::ValuesIn(kPolicies),
                         [](const auto& info) { return info.param.name; });

// A second crash while the node comes up again, at every operation of the start.
void crash_twice_everywhere(const History& history,
                            std::uint64_t first,
                            const CrashPolicy& policy) {
  at_every_place([&](std::uint64_t n) {
    const auto node = history.node();
    node->files().crash_at(first);
    history.run(*node);
    EXPECT_TRUE(node->files().crashed());
    node->crash(policy);
    node->files().crash_at(node->files().operations() + n);
    const bool started = node->start();
    const bool crashed = node->files().crashed();
    EXPECT_TRUE(started || crashed);
    node->crash(policy);
    expect_goes_on(*node);
    return crashed;
  });
}

class CrashTwice : public testing::TestWithParam<NamedPolicy> {};

TEST_P(CrashTwice, KeepsWhatWasAnsweredIfTheStartCrashesToo) {
  for (const std::uint64_t first : {40U, 70U})  // While the memtable fills; after the second start.
    crash_twice_everywhere(small(), first, GetParam().policy);
  crash_twice_everywhere(truncating(), 40, GetParam().policy);
}

INSTANTIATE_TEST_SUITE_P(HostCrash,
                         CrashTwice,
                         testing::Values(kPolicies[0], kPolicies[1], kPolicies[7]),
                         [](const auto& info) { return info.param.name; });

class FailAnywhere : public testing::TestWithParam<FileFault> {};

// L-49. Of the write-ahead file nothing may fail unseen; a table or a manifest is written behind the
// writer's back, and its failure is seen by the next write. How often the write-ahead file was hit.
std::size_t fail_everywhere(const History& history, FileFault fault) {
  std::size_t failed_writes = 0;
  at_every_place([&](std::uint64_t n) {
    const auto node = history.node();
    node->files().fail_at(n, fault);
    history.run(*node);
    if (node->files().fault_path().ends_with(".log")) {
      ++failed_writes;
      EXPECT_FALSE(node->alive()) << node->files().fault_path();
    }
    node->end_process();  // The machine goes on: the next process reads from the same cache.
    if (!node->files().fault_met()) return false;
    expect_goes_on(*node);
    return true;
  });
  return failed_writes;
}

TEST_P(FailAnywhere, EndsTheHostAndKeepsWhatWasAnswered) {
  EXPECT_GT(fail_everywhere(small(), GetParam()) + fail_everywhere(truncating(), GetParam()), 0U);
}

const auto kFaults = testing::Values(
    FileFault::kIoError, FileFault::kNoSpace, FileFault::kTransient, FileFault::kForgetDirty);
std::string fault_name(const testing::TestParamInfo<FileFault>& info) {
  switch (info.param) {
    case FileFault::kIoError: return "IoError";
    case FileFault::kNoSpace: return "NoSpace";
    case FileFault::kTransient: return "Transient";
    case FileFault::kForgetDirty: break;
  }
  return "ForgetDirty";
}

INSTANTIATE_TEST_SUITE_P(HostCrash, FailAnywhere, kFaults, fault_name);

class FailedTable : public testing::TestWithParam<FileFault> {};

// The writer's own syncs go well, but what they made durable cannot be brought into a table, or two tables
// not into one. RocksDB goes on after the second kind, and resumes by itself after a full disk.
TEST_P(FailedTable, InTheBackgroundEndsTheHost) {
  constexpr unsigned kSecondsMax = 20;
  alarm(kSecondsMax);  // Nothing else ends a write that waits for ever.
  for (const TableKind kind : {TableKind::kFlushed, TableKind::kMerged}) {
    CrashNode node;
    ASSERT_TRUE(node.start());
    node.files().fail_table(kind, GetParam());
    while (node.alive())
      node.round(kLarge);
    const std::string path = node.files().fault_path();
    EXPECT_TRUE(path.ends_with(".sst"));
    EXPECT_NE(node.failed().find(path), std::string::npos) << node.failed();
    node.crash(kDropUnsynced);
    expect_goes_on(node);
  }
  alarm(0);
}

INSTANTIATE_TEST_SUITE_P(HostCrash, FailedTable, kFaults, fault_name);

// What no crash leaves: a bit flipped before the last set (L-48).
TEST(HostCrash, RefusesALogThatIsDamagedBeforeItsEnd) {
  CrashNode node;
  ASSERT_TRUE(node.start());
  for (int i = 0; i < 4; ++i)
    node.round(kSmall);
  node.crash(kKeepAll);
  const std::string path = wal_paths(node.directory()).back();
  const std::string whole = read_bytes(path);
  for (std::size_t at = 0; at < whole.size() / 2; at += 61) {
    SCOPED_TRACE(at);
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 4);
    write_bytes(path, bytes);
    const auto opened = node.open_storage();
    ASSERT_FALSE(opened.has_value());
    EXPECT_EQ(opened.error().code, OpenError::kDamaged);
    EXPECT_NE(opened.error().detail.find(path), std::string::npos) << opened.error().detail;
  }
  write_bytes(path, whole);
  expect_goes_on(node);
}

// The histories do what they are for; else the places above are the wrong ones.
TEST(HostCrash, HistoriesFlushTruncateAndStartAgain) {
  CrashNode node;
  small_history(node);
  EXPECT_TRUE(node.all_answered());
  EXPECT_EQ(node.sets(), 3U);  // The start and two rounds of the second life: one set each.

  const History history = truncating();
  const auto grown = history.node();
  history.run(*grown);
  EXPECT_TRUE(grown->all_answered());
  EXPECT_EQ(grown->truncations(), 1U);
}

}  // namespace
}  // namespace cadastre::log
