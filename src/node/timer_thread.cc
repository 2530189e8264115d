#include "node/timer_thread.h"

#include <chrono>
#include <functional>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/mutex.h"

namespace cadastre::node {

TimerThread::TimerThread(const base::Clock& clock) : clock_(clock), thread_([this] { work(); }) {}

TimerThread::~TimerThread() {
  const base::MutexLock lock(mutex_);
  stopping_ = true;
  changed_.notify_one();
}

void TimerThread::wait(std::chrono::nanoseconds time, std::move_only_function<void()> done) {
  {
    const base::MutexLock lock(mutex_);
    if (waiting_.size() < kWaitingMax) {
      const auto at = waiting_.emplace(clock_.elapsed() + time, std::move(done));
      if (at == waiting_.begin()) changed_.notify_one();
      return;
    }
  }
  done();
}

std::move_only_function<void()> TimerThread::next() {
  const base::MutexLock lock(mutex_);
  for (;;) {
    if (waiting_.empty()) {
      if (stopping_) return {};
      changed_.wait(mutex_);
      continue;
    }
    const base::Elapsed left = waiting_.begin()->first - clock_.elapsed();
    if (stopping_ || left <= left.zero()) {
      auto done = std::move(waiting_.begin()->second);
      waiting_.erase(waiting_.begin());
      return done;
    }
    changed_.wait_for(mutex_, left);
  }
}

void TimerThread::work() {
  for (auto done = next(); done; done = next())
    done();
}

}  // namespace cadastre::node
