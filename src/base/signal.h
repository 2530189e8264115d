// Signal: wakes one thread that waits for work. A signal raised while nobody waits is kept, so that the
// next wait returns at once; several raised before it count as one.
//
//   worker:  for (;;) { signal.wait(); …all the work there is… }
//   others:  queue.push(task); signal.raise();
//
// raise() is safe from any thread and cheap while the signal is up; one thread waits.

#pragma once

#include <atomic>
#include <chrono>

#include "base/mutex.h"

namespace cadastre::base {

class Signal {
 public:
  Signal() = default;
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;
  ~Signal() = default;

  void raise() CAD_EXCLUDES(mutex_) {
    if (raised_.exchange(true)) return;
    { const MutexLock lock(mutex_); }  // Whoever found it down is asleep by now.
    changed_.notify_one();
  }

  void wait() CAD_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    while (!raised_.exchange(false))
      changed_.wait(mutex_);
  }

  // Returns when the signal was raised or the time is over. May return a little early.
  void wait_for(std::chrono::nanoseconds limit) CAD_EXCLUDES(mutex_) {
    if (raised_.exchange(false)) return;
    const MutexLock lock(mutex_);
    if (raised_.exchange(false)) return;
    changed_.wait_for(mutex_, limit);
    raised_.store(false);
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  std::atomic<bool> raised_{false};
};

}  // namespace cadastre::base
