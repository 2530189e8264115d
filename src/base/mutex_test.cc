// These tests say most under ThreadSanitizer: the shared fields are plain, so a lock that does not
// lock is a data race.

#include "base/mutex.h"

#include <deque>
#include <numeric>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/threads_testing.h"

namespace cadastre::base {
namespace {

struct Counter {
  Mutex mutex;
  int value CAD_GUARDED_BY(mutex) = 0;

  void add() CAD_EXCLUDES(mutex) {
    const MutexLock lock(mutex);
    ++value;
  }
  int read() CAD_EXCLUDES(mutex) {
    const MutexLock lock(mutex);
    return value;
  }
};

TEST(Mutex, LosesNoIncrementOfManyThreads) {
  Counter counter;
  run_in_threads(4, [&](int) {
    for (int turn = 0; turn < 5000; ++turn)
      counter.add();
  });
  EXPECT_EQ(counter.read(), 20'000);
}

// A queue of one, which makes both sides wait for each other all the time.
class Handover {
 public:
  void put(int value) CAD_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    while (!queue_.empty())
      changed_.wait(mutex_);
    queue_.push_back(value);
    changed_.notify_all();
  }
  int take() CAD_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    while (queue_.empty())
      changed_.wait(mutex_);
    const int value = queue_.front();
    queue_.pop_front();
    changed_.notify_all();
    return value;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  std::deque<int> queue_ CAD_GUARDED_BY(mutex_);
};

TEST(CondVar, HandsEveryValueOverInOrder) {
  Handover handover;
  std::vector<int> taken;
  {
    const std::jthread consumer([&] {
      for (int i = 0; i < 2000; ++i)
        taken.push_back(handover.take());
    });
    for (int i = 0; i < 2000; ++i)
      handover.put(i);
  }
  std::vector<int> expected(2000);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(taken, expected);
}

// A counter that can be waited on, woken by one notification for each unit.
class Semaphore {
 public:
  void give() CAD_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    ++units_;
    available_.notify_one();
  }
  void take() CAD_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    while (units_ == 0)
      available_.wait(mutex_);
    --units_;
  }
  int units() CAD_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    return units_;
  }

 private:
  Mutex mutex_;
  CondVar available_;
  int units_ CAD_GUARDED_BY(mutex_) = 0;
};

TEST(CondVar, NotifyOneWakesAWaiterForEachUnit) {
  Semaphore semaphore;
  run_in_threads(8, [&](int thread) {
    for (int i = 0; i < 500; ++i)
      thread % 2 == 0 ? semaphore.give() : semaphore.take();
  });
  EXPECT_EQ(semaphore.units(), 0);
}

TEST(CondVar, AWaitWithALimitEndsWithoutANotification) {
  Mutex mutex;
  CondVar never;
  const MutexLock lock(mutex);
  never.wait_for(mutex, std::chrono::milliseconds(1));  // Returns: that is the test.
}

}  // namespace
}  // namespace cadastre::base
