// CallsUnderWay: counts and bounds a client's calls, and ends them when it closes. For grpc/ only.
//
// Invariants
//   1. A call is known from enter() until leave(), and lives at least as long.
//   2. Once close() has begun nothing enters; when it returns, no call is left.
//
// Safe from any thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <set>

#include "base/mutex.h"

namespace cadastre::client {

class Call {
 public:
  Call() = default;
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  virtual ~Call() = default;

  // The call ends soon. Does not wait, and runs no completion.
  virtual void cancel() = 0;
};

class CallsUnderWay {
 public:
  explicit CallsUnderWay(std::size_t calls_max) noexcept : calls_max_(calls_max) {}

  enum class Entry : std::uint8_t {
    kEntered,
    kFull,
    kClosed,
  };
  [[nodiscard]] Entry enter(Call& call) CAD_EXCLUDES(mutex_) {
    const base::MutexLock lock(mutex_);
    if (closed_) return Entry::kClosed;
    if (calls_.size() >= calls_max_) return Entry::kFull;
    calls_.insert(&call);
    return Entry::kEntered;
  }
  // Notifies under the lock: the closer may destroy this as soon as it can take it.
  void leave(Call& call) CAD_EXCLUDES(mutex_) {
    const base::MutexLock lock(mutex_);
    calls_.erase(&call);
    if (calls_.empty()) empty_.notify_all();
  }
  [[nodiscard]] bool is_closed() const CAD_EXCLUDES(mutex_) {
    const base::MutexLock lock(mutex_);
    return closed_;
  }
  void close() CAD_EXCLUDES(mutex_) {
    const base::MutexLock lock(mutex_);
    closed_ = true;
    for (Call* const call : calls_)
      call->cancel();
    while (!calls_.empty())
      empty_.wait(mutex_);
  }

 private:
  const std::size_t calls_max_;
  mutable base::Mutex mutex_;
  base::CondVar empty_;
  std::set<Call*> calls_ CAD_GUARDED_BY(mutex_);
  bool closed_ CAD_GUARDED_BY(mutex_) = false;
};

}  // namespace cadastre::client
