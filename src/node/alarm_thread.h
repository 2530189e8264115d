// AlarmThread: calls a function at about a time that may be moved, on a thread of its own.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/mutex.h"
#include "coord/identity.h"
#include "server/claim_streams.h"

namespace cadastre::node {

class AlarmThread final : public server::AlarmClock {
 public:
  // The clock outlives it.
  explicit AlarmThread(const base::Clock& clock) noexcept : clock_(clock) {}
  ~AlarmThread() override { stop(); }

  // Once. What is called may set the next alarm.
  void start(std::function<void()> ring) {
    ring_ = std::move(ring);
    thread_ = std::jthread([this] { run(); });
  }
  void stop() CAD_EXCLUDES(mutex_) {
    {
      const base::MutexLock lock(mutex_);
      stopping_ = true;
      changed_.notify_one();
    }
    if (thread_.joinable()) thread_.join();
  }

  void set(coord::LogicalTime at) override CAD_EXCLUDES(mutex_) {
    const base::MutexLock lock(mutex_);
    if (at_ == at) return;
    at_ = at;
    changed_.notify_one();
  }

 private:
  // A clock that was set is noticed after this at the latest.
  static constexpr std::chrono::milliseconds kLookAgain{1'000};

  [[nodiscard]] std::uint64_t now_ms() const noexcept {
    const auto since_epoch =
        std::chrono::duration_cast<std::chrono::milliseconds>(clock_.now().time_since_epoch());
    return static_cast<std::uint64_t>(since_epoch.count());
  }

  // Waits until the alarm is due. False: it is the end.
  [[nodiscard]] bool wait() CAD_EXCLUDES(mutex_) {
    const base::MutexLock lock(mutex_);
    for (;;) {
      if (stopping_) return false;
      if (!at_) {
        changed_.wait(mutex_);
        continue;
      }
      const std::uint64_t now = now_ms();
      if (at_->raw() <= now) {
        at_.reset();
        return true;
      }
      const std::uint64_t ahead = at_->raw() - now;
      changed_.wait_for(mutex_, ahead < static_cast<std::uint64_t>(kLookAgain.count())
                                    ? std::chrono::milliseconds(ahead)
                                    : kLookAgain);
    }
  }

  void run() CAD_EXCLUDES(mutex_) {
    while (wait())
      ring_();
  }

  const base::Clock& clock_;
  std::function<void()> ring_;  // Constant once started.
  base::Mutex mutex_;
  base::CondVar changed_;
  std::optional<coord::LogicalTime> at_ CAD_GUARDED_BY(mutex_);
  bool stopping_ CAD_GUARDED_BY(mutex_) = false;
  std::jthread thread_;
};

}  // namespace cadastre::node
