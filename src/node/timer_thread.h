// TimerThread: waits in real time, on one thread of its own: the etcd backend's pauses after lost races.
//
// At most kWaitingMax wait; one more does not wait at all, which costs a race and nothing else. The destructor
// runs what waits at once: whoever owns the waiters has ended them before.

#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <thread>

#include "base/clock.h"
#include "base/mutex.h"
#include "coord/etcd/delay.h"

namespace cadastre::node {

class TimerThread final : public coord::etcd::Delay {
 public:
  static constexpr std::size_t kWaitingMax = 65'536;

  // Borrows the clock.
  explicit TimerThread(const base::Clock& clock);
  ~TimerThread() override;

  // `done` runs on the thread and does not block it.
  void wait(std::chrono::nanoseconds time, std::move_only_function<void()> done) override
      CAD_EXCLUDES(mutex_);

 private:
  void work() CAD_EXCLUDES(mutex_);
  // The first whose time has come, when it has; nothing at the end.
  [[nodiscard]] std::move_only_function<void()> next() CAD_EXCLUDES(mutex_);

  const base::Clock& clock_;
  base::Mutex mutex_;
  base::CondVar changed_;
  std::multimap<base::Elapsed, std::move_only_function<void()>> waiting_ CAD_GUARDED_BY(mutex_);
  bool stopping_ CAD_GUARDED_BY(mutex_) = false;
  std::jthread thread_;  // Last: it uses what stands above.
};

}  // namespace cadastre::node
