#include "node/timer_thread.h"

#include <chrono>
#include <vector>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/signal.h"

namespace cadastre::node {
namespace {

using std::chrono::milliseconds;

TEST(TimerThread, RunsWhatWaitsInTheOrderOfItsTimeAndNotBefore) {
  const base::SystemClock clock;
  base::Mutex mutex;
  std::vector<int> order;
  base::Signal ended;
  base::Elapsed last{};
  const base::Elapsed begin = clock.elapsed();
  {
    TimerThread timer(clock);
    const auto note = [&](int number) {
      const base::MutexLock lock(mutex);
      order.push_back(number);
    };
    timer.wait(milliseconds{40}, [&] {
      note(3);
      last = clock.elapsed();
      ended.raise();
    });
    timer.wait(milliseconds{20}, [&] { note(2); });
    timer.wait(milliseconds{0}, [&] { note(1); });
    ended.wait();
  }
  EXPECT_EQ(order, (std::vector{1, 2, 3}));
  EXPECT_GE(last - begin, milliseconds{40});
}

TEST(TimerThread, ItsEndRunsWhatWaits) {
  const base::SystemClock clock;
  bool ran = false;
  {
    TimerThread(clock).wait(std::chrono::hours{1}, [&] { ran = true; });
  }
  EXPECT_TRUE(ran);
}

}  // namespace
}  // namespace cadastre::node
