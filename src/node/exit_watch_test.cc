#include "node/exit_watch.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <optional>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "node/termination.h"

namespace cadastre::node {
namespace {

using std::chrono::milliseconds;

[[noreturn]] void leave(ExitCause cause) {
  std::_Exit(cause == ExitCause::kSignal ? 7 : 8);
}

// a stop that does not end is ended.
TEST(ExitWatch, ActsWhenThePatienceEnds) {
  const Termination signals;
  const base::SystemClock clock;
  std::atomic<int> acted = 0;
  std::optional<ExitCause> cause;
  {
    const ExitWatch watch(signals, clock, {.patience = milliseconds(5), .act = [&](ExitCause why) {
                                             cause = why;
                                             ++acted;
                                             acted.notify_one();
                                           }});
    acted.wait(0);
  }
  EXPECT_EQ(cause, ExitCause::kPatience);
  EXPECT_EQ(acted.load(), 1);
}

TEST(ExitWatch, DoesNothingIfItGoesFirst) {
  const Termination signals;
  const base::SystemClock clock;
  for (const auto patience : {std::optional<milliseconds>(), std::optional(milliseconds(60'000))}) {
    const ExitWatch watch(signals, clock, {.patience = patience, .act = [](ExitCause) {
                                             ADD_FAILURE();
                                           }});
  }
}

// The processes of these have one thread when they begin, as a server has.
class ExitWatchSignals : public testing::TestWithParam<int> {
 protected:
  ExitWatchSignals() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_P(ExitWatchSignals, ActAtOnce) {
  const auto watched = [] {
    const Termination signals;
    const base::SystemClock clock;
    const ExitWatch watch(signals, clock, {.patience = milliseconds(60'000), .act = leave});
    ::kill(::getpid(), GetParam());
    std::atomic<bool>(false).wait(false);
  };
  EXPECT_EXIT(watched(), testing::ExitedWithCode(7), "");
}

// Whoever waits next gets it.
TEST_P(ExitWatchSignals, AreNotLostBeforeAndAfterIt) {
  const auto waited = [] {
    const Termination signals;
    const base::SystemClock clock;
    { const ExitWatch watch(signals, clock, {.patience = {}, .act = leave}); }
    ::kill(::getpid(), SIGHUP);
    const bool reloads = signals.wait() == Asked::kReload;
    ::kill(::getpid(), GetParam());
    std::_Exit(reloads && signals.wait() == Asked::kEnd ? 3 : 4);
  };
  EXPECT_EXIT(waited(), testing::ExitedWithCode(3), "");
}

INSTANTIATE_TEST_SUITE_P(Ends, ExitWatchSignals, testing::Values(SIGTERM, SIGINT));

}  // namespace
}  // namespace cadastre::node
