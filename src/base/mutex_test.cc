// These tests say most under ThreadSanitizer: the shared fields are plain, so a lock that does not
// lock is a data race.

#include "base/mutex.h"

#include <deque>
#include <numeric>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

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
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int turn = 0; turn < 5000; ++turn)
          counter.add();
      });
    }
  }
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

TEST(CondVar, NotifyOneWakesAWaiterForEachUnit) {
  Mutex mutex;
  CondVar available;
  int units = 0;
  int taken = 0;
  {
    std::vector<std::jthread> waiters;
    for (int i = 0; i < 4; ++i) {
      waiters.emplace_back([&] {
        const MutexLock lock(mutex);
        while (units == 0)
          available.wait(mutex);
        --units;
        ++taken;
      });
    }
    for (int i = 0; i < 4; ++i) {
      const MutexLock lock(mutex);
      ++units;
      available.notify_one();
    }
  }
  EXPECT_EQ(taken, 4);
  EXPECT_EQ(units, 0);
}

}  // namespace
}  // namespace cadastre::base
