#include "bench/closed_loop.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "base/mutex.h"
#include "base/signal.h"

namespace cadastre::bench {
namespace {

using Seconds = std::chrono::duration<double>;
using SteadyClock = std::chrono::steady_clock;

using Start = std::function<void(std::size_t, LoopDone)>;

class Loops {
 public:
  Loops(const Start& start, std::size_t callers) : start_(start), running_(callers) {}

  void next(std::size_t caller) {
    if (stop_.load(std::memory_order_relaxed)) return one_stopped();
    start_(caller, [this, caller] {
      ended_.fetch_add(1, std::memory_order_relaxed);
      next(caller);
    });
  }

  [[nodiscard]] std::uint64_t ended() const { return ended_.load(); }

  void stop() CAD_EXCLUDES(mutex_) {
    stop_.store(true);
    const base::MutexLock lock(mutex_);
    while (running_ != 0)
      changed_.wait(mutex_);
  }

 private:
  void one_stopped() CAD_EXCLUDES(mutex_) {
    const base::MutexLock lock(mutex_);
    --running_;
    changed_.notify_all();
  }

  const Start& start_;
  std::atomic<bool> stop_{false};
  std::atomic<std::uint64_t> ended_{0};
  base::Mutex mutex_;
  base::CondVar changed_;
  std::size_t running_ CAD_GUARDED_BY(mutex_);
};

void wait(double seconds) {
  base::Signal().wait_for(std::chrono::duration_cast<std::chrono::nanoseconds>(Seconds(seconds)));
}

}  // namespace

double run_loops(const LoopPlan& plan, const Start& start) {
  Loops loops(start, plan.callers);
  for (std::size_t caller = 0; caller < plan.callers; ++caller)
    loops.next(caller);
  wait(plan.seconds / 5);
  const std::uint64_t before = loops.ended();
  const auto started = SteadyClock::now();
  wait(plan.seconds);
  const double rate =
      static_cast<double>(loops.ended() - before) / Seconds(SteadyClock::now() - started).count();
  loops.stop();
  return rate;
}

}  // namespace cadastre::bench
