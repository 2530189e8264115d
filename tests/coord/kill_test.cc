// Processes with embedded coordination, killed with SIGKILL at random moments under load and started again: what
// was answered is there, at most the one operation that was under way beyond it, and no half operation (F1, F7, F9).
//
// A kill leaves the page cache: it shows what a process tells too early and how it starts again, never a missing
// sync. That is the part of replicated_crash_test.cc. Repeated (--gtest_repeat) it takes other moments each time.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "base/check.h"
#include "base/random.h"
#include "tests/coord/coord_victim_protocol.h"
#include "tests/log/raw_log.h"
#include "tests/log/victim_process.h"

namespace cadastre::coord {
namespace {

using log::VictimProcess;
using std::chrono::milliseconds;

constexpr std::uint64_t kKills = base::kSlowChecks ? 8 : 25;
constexpr milliseconds kPatience{60'000};
constexpr const char* kProgram = "coord_victim";

struct Shard {
  std::uint64_t number = 0;  // Under its cursor.
  std::uint64_t logged = 0;  // The newest checkpoint of its op-log.
  std::uint64_t spawned = 0;
  std::uint64_t fence = 0;
};
using Shards = std::array<Shard, kVictimWorkers>;

class KilledCoordination : public testing::Test {
 protected:
  // What each worker was told in a life that ended by a kill.
  Shards live_and_die(std::uint64_t life) {
    VictimProcess victim({kProgram, "work", directory_, life});
    // Most die at work, some while they open the directory.
    const bool early = random_.below(4) == 0;
    const std::size_t answers = early ? 1'000'000 : 1 + random_.below(3000);
    const milliseconds limit = early ? milliseconds(random_.below(60)) : kPatience;
    victim.read_words(answers, limit);
    EXPECT_TRUE(victim.kill()) << "it ended by itself";
    EXPECT_TRUE(early || victim.words().size() >= answers);
    Shards told{};
    for (const std::uint64_t word : victim.words()) {
      const VictimAnswer answer = VictimAnswer::of(word);
      EXPECT_EQ(answer.life, life);
      Shard& shard = told.at(answer.worker);
      if (answer.count == kSplitCount) {
        ++shard.spawned;
      } else {
        EXPECT_EQ(answer.count, (shard.number & 0xffffffff) + 1);
        shard.number = answer.number();
      }
    }
    answered_ += victim.words().size();
    return told;
  }

  Shards ask() {
    VictimProcess victim({kProgram, "verify", directory_});
    EXPECT_EQ(victim.wait(kPatience), 0) << "it refused to open, or found half an operation";
    Shards there{};
    EXPECT_EQ(victim.words().size(), kVictimWorkers * kWordsPerWorker);
    if (victim.words().size() != kVictimWorkers * kWordsPerWorker) return there;
    for (std::size_t i = 0; i < kVictimWorkers; ++i) {
      const auto word = [&](std::size_t at) {
        return victim.words()[i * kWordsPerWorker + at];
      };
      there.at(i) = {word(0), word(1), word(2), word(3)};
    }
    return there;
  }

  void check(std::uint64_t life, const Shards& told, const Shards& now) {
    for (std::size_t i = 0; i < kVictimWorkers; ++i) {
      SCOPED_TRACE(testing::Message() << "worker " << i);
      const Shard& before = before_.at(i);
      const Shard& said = told.at(i);
      const Shard& there = now.at(i);
      const std::uint64_t answered = std::max(before.number, said.number);
      const std::uint64_t under_way =
          said.number == 0 ? VictimAnswer{i, life, 1}.number() : said.number + 1;
      EXPECT_TRUE(there.number == answered || there.number == under_way)
          << "answered " << answered << ", there is " << there.number;
      EXPECT_EQ(there.logged, there.number) << "a cursor without its entry, or the reverse";
      EXPECT_GE(there.spawned, before.spawned + said.spawned);
      EXPECT_LE(there.spawned, before.spawned + 1);
      EXPECT_GE(there.fence, before.fence);
      if (said.number != 0) {
        EXPECT_GT(there.fence, before.fence);
      }
    }
    before_ = now;
  }

  const log::TemporaryDirectory home_{log::Medium::kDisk};
  const std::string directory_ = home_ / "victim";
  static inline std::uint64_t repetition_ = 0;
  base::SeededRandom random_{++repetition_};
  Shards before_{};  // What the last start had found.
  std::size_t answered_ = 0;
};

TEST_F(KilledCoordination, LosesNothingThatWasAnswered) {
  for (std::uint64_t life = 1; life <= kKills && !HasFailure(); ++life) {
    SCOPED_TRACE(life);
    const Shards told = live_and_die(life);
    check(life, told, ask());
  }
  EXPECT_GT(answered_, kKills);
  RecordProperty("answered", std::to_string(answered_));
  std::uint64_t splits = 0;
  for (const Shard& shard : before_)
    splits += shard.spawned;
  EXPECT_GT(splits, 0U);
  RecordProperty("splits", std::to_string(splits));
}

}  // namespace
}  // namespace cadastre::coord
