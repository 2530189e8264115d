#include "base/signal.h"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

namespace cadastre::base {
namespace {

TEST(Signal, IsKeptForTheNextWait) {
  Signal signal;
  signal.raise();
  signal.raise();
  signal.wait();  // Returns: that is the test.
}

TEST(Signal, LosesNoWorkBetweenTwoThreads) {
  constexpr int kTasks = 20'000;
  Signal signal;
  std::atomic<int> pushed{0};
  int seen = 0;
  std::jthread worker([&] {
    while (seen < kTasks) {
      signal.wait();
      seen = pushed.load();
    }
  });
  for (int task = 0; task < kTasks; ++task) {
    pushed.fetch_add(1);
    signal.raise();
  }
  worker.join();
  EXPECT_EQ(seen, kTasks);
}

}  // namespace
}  // namespace cadastre::base
