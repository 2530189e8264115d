// Attention: groups that the log thread should look at, because their applier got somewhere that matters
// to the engine. Each is named once until it is taken. Safe from any thread; take() is the log thread's.

#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "log/runner.h"
#include "log/types.h"

namespace cadastre::log {

class Attention {
 public:
  explicit Attention(Runner& runner) noexcept : runner_(runner) {}

  void raise(GroupId group) CAD_EXCLUDES(mutex_) {
    {
      const base::MutexLock lock(mutex_);
      if (std::ranges::find(groups_, group) != groups_.end()) return;
      groups_.push_back(group);
    }
    runner_.wake_log();
  }
  [[nodiscard]] std::vector<GroupId> take() CAD_EXCLUDES(mutex_) {
    const base::MutexLock lock(mutex_);
    return std::exchange(groups_, {});
  }

 private:
  Runner& runner_;
  base::Mutex mutex_;
  std::vector<GroupId> groups_ CAD_GUARDED_BY(mutex_);
};

}  // namespace cadastre::log
