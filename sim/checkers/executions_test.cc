#include "sim/checkers/executions.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/check.h"
#include "base/random.h"
#include "sim/chacha_random.h"
#include "sim/checkers/any_history_testing.h"
#include "sim/checkers/history.h"
#include "sim/checkers/history_text.h"
#include "sim/checkers/linearizability.h"
#include "sim/checkers/model.h"

namespace cadastre::sim::checkers {
namespace {

using Log = std::vector<std::uint64_t>;

std::vector<Misexecution> misdeeds(std::string_view text, const Log& log) {
  const auto history = history_of(text);
  EXPECT_TRUE(history.has_value()) << (history ? "" : history.error().detail);
  std::vector<Misexecution> found;
  for (const Misdeed& misdeed : check_executions(history->operations(), log))
    found.push_back(misdeed.what);
  return found;
}

TEST(Executions, FindsWhatIsWrongWithALog) {
  struct Case {
    std::string_view sentence;
    std::string_view history;
    Log log;
    std::vector<Misexecution> found;
  };
  const std::vector<Case> cases = {
      {"acknowledged commands are there once",
       "1..2 c1 k1 append 1 -> ok\n3..4 c1 k1 append-at 2 -> 2\n5..6 c1 k1 read-log -> [1 2]\n"
       "5..6 c1 k1 length -> 2\n",
       {1, 2},
       {}},
      {"an acknowledged command is missing",
       "1..2 c1 k1 append 1 -> ok\n",
       {},
       {Misexecution::kMissing}},
      {"an acknowledged command is there twice",
       "1..2 c1 k1 append 1 -> ok\n",
       {1, 1},
       {Misexecution::kTwice}},
      {"a refused command was executed",
       "1..2 c1 k1 append 1 -> failed\n",
       {1},
       {Misexecution::kThoughRefused}},
      {"an unknown one may be there", "1.. c1 k1 append 1 -> unknown\n", {1}, {}},
      {"or not", "1.. c1 k1 append 1 -> unknown\n", {}, {}},
      {"but not twice", "1.. c1 k1 append 1 -> unknown\n", {1, 1}, {Misexecution::kTwice}},
      {"nobody sent it", "", {9}, {Misexecution::kForeign}},
      {"it was told another place",
       "1..2 c1 k1 append-at 1 -> 2\n",
       {1},
       {Misexecution::kWrongAnswer}},
      {"the order contradicts time",
       "1..2 c1 k1 append 1 -> ok\n3..4 c1 k1 append 2 -> ok\n",
       {2, 1},
       {Misexecution::kOutOfTime}},
      {"an unknown one has no end, and may come late",
       "1.. c1 k1 append 1 -> unknown\n3..4 c1 k1 append 2 -> ok\n",
       {2, 1},
       {}},
      {"nor does it come before its call",
       "1..2 c1 k1 append 2 -> ok\n3.. c1 k1 append 1 -> unknown\n",
       {1, 2},
       {Misexecution::kOutOfTime}},
      {"a stale read",
       "1..2 c1 k1 append 1 -> ok\n3..4 c2 k1 length -> 0\n",
       {1},
       {Misexecution::kOutOfTime}},
      {"reads that go back",
       "1..9 c1 k1 append 1 -> ok\n2..3 c2 k1 length -> 1\n4..5 c3 k1 read-log -> []\n",
       {1},
       {Misexecution::kOutOfTime}},
      {"reads of one place have no order",
       "3..4 c2 k1 length -> 0\n1..2 c3 k1 read-log -> []\n5..6 c2 k1 length -> 0\n",
       {},
       {}},
      {"a length the log never had", "1..2 c1 k1 length -> 1\n", {}, {Misexecution::kWrongAnswer}},
      {"a content the log never had",
       "1..2 c1 k1 append 1 -> ok\n3..4 c2 k1 read-log -> [2]\n",
       {1},
       {Misexecution::kWrongAnswer}},
  };
  for (const Case& c : cases)
    EXPECT_EQ(misdeeds(c.history, c.log), c.found) << c.sentence;
}

TEST(Executions, NameTheOperation) {
  const auto history = history_of("1..2 c3 k1 append 7 -> failed\n");
  const auto found = check_executions(history->operations(), Log{7});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].detail.find("place 1: 1.."), std::string::npos) << found[0].detail;
  EXPECT_NE(found[0].detail.find("append 7"), std::string::npos) << found[0].detail;
}

// Gives the commands numbers of their own; what was read stays a guess. The numbers.
Log number_commands(base::Random& random, std::vector<Operation>& operations) {
  Log commands;
  for (Operation& operation : operations) {
    if (operation.call.argument) {
      commands.push_back(commands.size() + 1);
      operation.call.argument = commands.back();
    } else if (operation.call.kind == OpKind::kReadLog) {
      Log seen = commands;
      if (!seen.empty() && random.below(3) == 0) seen.pop_back();
      operation.result = log_digest(seen);
    }
  }
  return commands;
}

// Every arrangement of every choice of the commands.
bool some_log_fits(const std::vector<Operation>& operations, const Log& commands) {
  for (std::uint32_t chosen = 0; chosen < 1U << commands.size(); ++chosen) {
    Log log;
    for (std::size_t i = 0; i < commands.size(); ++i) {
      if ((chosen >> i & 1) != 0) log.push_back(commands[i]);
    }
    do {
      if (check_executions(operations, log).empty()) return true;
    } while (std::ranges::next_permutation(log).found);
  }
  return false;
}

// A history is linearizable if and only if some log has nothing against it, and the search for an order
// must say the same.
TEST(ExecutionsProperty, AgreeWithTheSearchForAnOrder) {
  const std::uint64_t histories = base::kSlowChecks ? 2'000 : 30'000;
  std::uint64_t good = 0;
  for (std::uint64_t seed = 0; seed < histories; ++seed) {
    ChaChaRandom random(seed);
    const History drawn = any_small_history(random, Object::kLog, LogModel());
    std::vector<Operation> operations(drawn.operations().begin(), drawn.operations().end());
    const Log commands = number_commands(random, operations);
    const bool fits = some_log_fits(operations, commands);
    const Judgement judgement = check_linearizable(operations, LogModel());
    ASSERT_EQ(judgement.verdict == Verdict::kLinearizable, fits) << "seed " << seed << "\n"
                                                                 << judgement.detail;
    good += fits ? 1U : 0U;
  }
  EXPECT_GT(good, histories / 10) << "both are common";
  EXPECT_LT(good, histories * 9 / 10);
}

}  // namespace
}  // namespace cadastre::sim::checkers
