// ApplierPool: a few threads for the appliers of many groups. A group runs on at most one thread at a
// time, and a wake is never lost: one that comes while the group runs makes it run again.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <span>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "log/types.h"

namespace cadastre::node {

class ApplierPool {
 public:
  // Runs one group once; true: there may be more to do.
  using Run = std::function<bool(log::GroupId)>;

  ApplierPool() = default;
  ApplierPool(const ApplierPool&) = delete;
  ApplierPool& operator=(const ApplierPool&) = delete;
  ~ApplierPool() { stop(); }

  void start(int threads, Run run);
  void wake(std::span<const log::GroupId> groups) CAD_EXCLUDES(mutex_);
  // Returns when no thread runs any more.
  void stop() CAD_EXCLUDES(mutex_);

 private:
  enum class State : std::uint8_t {
    kIdle,
    kQueued,
    kRunning,
    kRunningAgain
  };

  void work() CAD_EXCLUDES(mutex_);
  // How many threads should be notified: 0 or 1. One that is awake looks for more before it sleeps.
  [[nodiscard]] int enqueue(log::GroupId group) CAD_REQUIRES(mutex_);
  // Some of those that are ready: a fair share, so that the lock is taken once for many groups.
  [[nodiscard]] std::vector<log::GroupId> take_share() CAD_REQUIRES(mutex_);

  Run run_;                      // Constant once started.
  std::size_t threads_max_ = 1;  // The same.
  base::Mutex mutex_;
  base::CondVar changed_;
  std::map<log::GroupId, State> states_ CAD_GUARDED_BY(mutex_);
  std::deque<log::GroupId> ready_ CAD_GUARDED_BY(mutex_);
  std::size_t asleep_ CAD_GUARDED_BY(mutex_) = 0;  // Threads that a notification would wake.
  bool stopping_ CAD_GUARDED_BY(mutex_) = false;
  std::vector<std::jthread> threads_;
};

}  // namespace cadastre::node
