// Admission: how many calls are under way, and whether one more may begin.
//
// Unlike a base::Gate it takes no lock and nobody waits for it: gRPC itself waits for the calls.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace cadastre::server {

class Admission {
 public:
  explicit Admission(std::size_t calls_max) noexcept : calls_max_(calls_max) {}

  enum class Entry : std::uint8_t {
    kEntered,     // leave() when the call is over
    kOverloaded,  // Try later.
    kStopping,
  };
  [[nodiscard]] Entry enter() noexcept {
    if (stopping_.load(std::memory_order_relaxed)) return Entry::kStopping;
    if (calls_.fetch_add(1, std::memory_order_relaxed) < calls_max_) return Entry::kEntered;
    leave();
    return Entry::kOverloaded;
  }
  void leave() noexcept { calls_.fetch_sub(1, std::memory_order_relaxed); }

  // From now on nobody enters.
  void stop() noexcept { stopping_.store(true, std::memory_order_relaxed); }

  [[nodiscard]] std::size_t calls() const noexcept {
    return calls_.load(std::memory_order_relaxed);
  }

 private:
  const std::size_t calls_max_;
  std::atomic<std::size_t> calls_{0};
  std::atomic<bool> stopping_{false};
};

}  // namespace cadastre::server
