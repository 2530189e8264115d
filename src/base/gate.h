// Gate: counts the work in flight, so that shutdown can stop new work and wait for the old.
//
//   void Server::handle(Request request) {
//     const auto pass = gate_.enter();
//     if (!pass) return refuse(request);       // closed
//     ...                                      // close() waits until `pass` is gone
//   }
//   void Server::stop() { gate_.close(); }     // afterwards nothing of handle() runs
//
// Invariants
//   1. Once close() has begun, enter() gives no pass.
//   2. When close() returns, there is no pass, and the gate may be destroyed.
//
// Safe from any thread. close() from inside a pass would wait for itself for ever.

#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/mutex.h"

namespace cadastre::base {

class Gate {
 public:
  // The right to be inside; leaves when it is destroyed. Must not outlive its gate.
  class Pass {
   public:
    Pass(Pass&& other) noexcept : gate_(std::exchange(other.gate_, nullptr)) {}
    Pass& operator=(Pass&&) = delete;
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;
    ~Pass() {
      if (gate_ != nullptr) gate_->leave();
    }

   private:
    friend class Gate;
    explicit Pass(Gate& gate) noexcept : gate_(&gate) {}

    Gate* gate_;  // Null once moved from.
  };

  Gate() = default;
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  ~Gate() { CAD_CHECK(inside() == 0, "a gate outlives the work inside"); }

  // Nothing if the gate is closed.
  [[nodiscard]] std::optional<Pass> enter() CAD_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    if (closed_) return std::nullopt;
    ++inside_;
    return Pass(*this);
  }

  // Refuses new work and waits for the old. Every caller waits, not only the first.
  void close() CAD_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    closed_ = true;
    while (inside_ != 0)
      empty_.wait(mutex_);
  }

  [[nodiscard]] bool is_closed() const CAD_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    return closed_;
  }
  // For metrics: how much work is in flight.
  [[nodiscard]] std::uint64_t inside() const CAD_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    return inside_;
  }

 private:
  // Notifies under the lock: the closer may destroy the gate as soon as it can take it.
  void leave() CAD_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    --inside_;
    if (inside_ == 0) empty_.notify_all();
  }

  mutable Mutex mutex_;
  CondVar empty_;
  bool closed_ CAD_GUARDED_BY(mutex_) = false;
  std::uint64_t inside_ CAD_GUARDED_BY(mutex_) = 0;
};

}  // namespace cadastre::base
