// Processes with a log, killed at random moments under load and started again (spec 14.4): what was
// answered is there exactly once, in the order of its submitter, in a new term (L-2, L-4, L-5, L-22), and
// the states are what a replay of the whole log by another hand makes (L-25).
//
// A kill leaves the page cache: it shows what a process tells too early and how it starts again, never
// a missing sync. That is the part of host_crash_test.cc.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/check.h"
#include "base/random.h"
#include "log/body.h"
#include "log/limits.h"
#include "log/storage/rocks_storage.h"
#include "tests/log/file_machine.h"
#include "tests/log/raw_log.h"
#include "tests/log/victim_process.h"
#include "tests/log/victim_protocol.h"

namespace cadastre::log {
namespace {

using std::chrono::milliseconds;

constexpr int kRuns = 8;
constexpr int kKillsInAll = base::kSlowChecks ? 24 : 200;
constexpr int kKills = kKillsInAll / kRuns;
constexpr int kReplayEvery = 5;  // Kills.
constexpr milliseconds kPatience{60'000};

// What a group has executed.
struct Executed {
  std::uint64_t term = 0;
  std::uint64_t digest = 0;
  std::vector<std::uint64_t> numbers;
};
using AllExecuted = std::map<std::uint64_t, Executed>;  // By group.

AllExecuted parse(const std::vector<std::uint64_t>& words) {
  AllExecuted all;
  for (std::size_t at = 0; at + 4 <= words.size();) {
    Executed& group = all[words[at]];
    group.term = words[at + 1];
    group.digest = words[at + 2];
    const auto count = std::min<std::size_t>(words[at + 3], words.size() - at - 4);
    const auto first = words.begin() + static_cast<std::ptrdiff_t>(at + 4);
    group.numbers.assign(first, first + static_cast<std::ptrdiff_t>(count));
    at += 4 + count;
  }
  return all;
}

class KilledLog : public testing::TestWithParam<int> {
 protected:
  // A life: works until so many were answered or so long, is killed. How many were answered.
  std::size_t live_and_die(std::uint64_t life) {
    VictimProcess victim({"log_victim", "work", directory_, life});
    // Most die at work, some while they open the log.
    const bool early = random_.below(4) == 0;
    const std::size_t answers = early ? 1'000'000 : 1 + random_.below(600);
    const milliseconds limit = early ? milliseconds(random_.below(60)) : kPatience;
    victim.read_words(answers, limit);
    EXPECT_TRUE(victim.kill()) << "it ended by itself";
    EXPECT_TRUE(early || victim.words().size() >= answers);
    answered_.insert(victim.words().begin(), victim.words().end());
    return victim.words().size();
  }

  AllExecuted ask() {
    VictimProcess victim({"log_victim", "verify", directory_});
    EXPECT_EQ(victim.wait(kPatience), 0);
    AllExecuted all = parse(victim.words());
    EXPECT_EQ(all.size(), kVictimGroups);
    return all;
  }

  void check(const AllExecuted& now, std::size_t answered_in_life) {
    std::set<std::uint64_t> there;
    for (const auto& [id, group] : now) {
      const Executed& before = before_[id];
      // The start that was killed may not have come so far; this one did.
      EXPECT_LE(group.term, before.term + 2);
      EXPECT_GE(group.term, before.term + (answered_in_life > 0 ? 2 : 1));
      ASSERT_GE(group.numbers.size(), before.numbers.size());
      EXPECT_TRUE(std::equal(before.numbers.begin(), before.numbers.end(), group.numbers.begin()))
          << "what an earlier start had found has changed";
      check_order(id, group.numbers);
      there.insert(group.numbers.begin(), group.numbers.end());
    }
    EXPECT_TRUE(std::ranges::includes(there, answered_)) << "a command that was answered is gone";
    before_ = now;
  }

  // Numbers of one submitter rise, also from life to life: none is there twice.
  static void check_order(std::uint64_t group, const std::vector<std::uint64_t>& numbers) {
    std::array<std::uint64_t, kVictimSubmitters> next{};
    for (const std::uint64_t word : numbers) {
      const VictimNumber number = VictimNumber::of(word);
      ASSERT_LT(number.submitter, kVictimSubmitters);
      EXPECT_EQ(number.group(), group);
      ASSERT_GE(word, next[number.submitter]);
      next[number.submitter] = word + 1;
    }
  }

  // The log by itself, from its first entry on.
  void check_replay(const AllExecuted& executed) const {
    auto storage = RocksStorage::open(
        {.directory = directory_ + "/log", .identity = {ClusterId{1}, NodeId{1}}});
    ASSERT_TRUE(storage.has_value()) << storage.error().detail;
    const auto recovered = (*storage)->recover();
    ASSERT_TRUE(recovered.has_value()) << recovered.error().detail;
    ASSERT_EQ(recovered->groups.size(), kVictimGroups);
    for (const GroupImage& image : recovered->groups) {
      const LedgerState state = replay(**storage, image);
      const Executed& group = executed.at(image.group.value());
      EXPECT_EQ(state.applied, image.last);
      EXPECT_EQ(state.digest, group.digest);
      EXPECT_TRUE(numbers_of(state) == group.numbers);
    }
  }

  static LedgerState replay(LogStorage& storage, const GroupImage& image) {
    LedgerState state;
    while (state.applied.index < image.last.index) {
      const auto entries = storage.read(image.group, image.incarnation, state.applied.index + 1,
                                        image.last.index, kReadBytesMax);
      EXPECT_TRUE(entries.has_value()) << entries.error().detail;
      if (!entries) return state;
      for (const Entry& entry : *entries) {
        const auto commands = read_body(entry.body.bytes());
        EXPECT_TRUE(commands.has_value());
        if (!commands) return state;
        for (const ByteView command : *commands)
          state.execute(entry.at, command);
        state.applied = entry.at;
      }
    }
    return state;
  }

  const TemporaryDirectory home_{Medium::kDisk};
  const std::string directory_ = home_ / "victim";
  base::SeededRandom random_{static_cast<std::uint64_t>(GetParam())};
  std::set<std::uint64_t> answered_;  // In all lives.
  AllExecuted before_;                // What the last start had found.
};

TEST_P(KilledLog, LosesNothingThatWasAnswered) {
  std::filesystem::create_directory(directory_);
  for (int kill = 1; kill <= kKills && !HasFailure(); ++kill) {
    SCOPED_TRACE(kill);
    const std::size_t answered = live_and_die(static_cast<std::uint64_t>(kill));
    const AllExecuted now = ask();
    check(now, answered);
    if (kill % kReplayEvery == 0 || kill == kKills) check_replay(now);
  }
  EXPECT_GT(answered_.size(), static_cast<std::size_t>(kKills));
}

INSTANTIATE_TEST_SUITE_P(Seed, KilledLog, testing::Range(1, kRuns + 1));

}  // namespace
}  // namespace cadastre::log
