// Intake: how many commands wait in all queues of a node, and which groups have some. It wakes the log
// thread when there is enough to do, and not for every command.
//
// Invariant: if queued() reached the armed number, the log thread was woken after it armed, or arm() said
// so. Proposers add, then look; the log thread arms, then looks.
//
// Safe from any thread; arm, taken and take_groups belong to the log thread.

#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "log/runner.h"
#include "log/types.h"

namespace cadastre::log {

class Intake {
 public:
  static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

  explicit Intake(Runner& runner) noexcept : runner_(runner) {}

  // The group's queue was empty and is no longer.
  void announce(GroupId group) CAD_EXCLUDES(mutex_) {
    const base::MutexLock lock(mutex_);
    groups_.push_back(group);
  }
  // With the queue's lock held, so that nothing is taken before it is counted.
  void add(std::uint64_t commands) noexcept { queued_.fetch_add(commands); }
  // Without it.
  void wake_if_due() {
    if (queued_.load() < wake_at_.load()) return;
    if (wake_at_.exchange(kNever) != kNever) runner_.wake_log();
  }

  [[nodiscard]] std::uint64_t queued() const noexcept { return queued_.load(); }
  void taken(std::uint64_t commands) noexcept { queued_.fetch_sub(commands); }
  [[nodiscard]] std::vector<GroupId> take_groups() CAD_EXCLUDES(mutex_) {
    const base::MutexLock lock(mutex_);
    return std::exchange(groups_, {});
  }

  // Wakes the log thread once `wake_at` commands wait. True: they do already, so do not sleep.
  [[nodiscard]] bool arm(std::uint64_t wake_at) noexcept {
    wake_at_.store(wake_at);
    return queued_.load() >= wake_at;
  }

 private:
  Runner& runner_;
  std::atomic<std::uint64_t> queued_{0};
  std::atomic<std::uint64_t> wake_at_{1};
  base::Mutex mutex_;
  std::vector<GroupId> groups_ CAD_GUARDED_BY(mutex_);
};

}  // namespace cadastre::log
