// Termination: SIGTERM, SIGINT and SIGHUP as something to wait for.
//
// Made before any other thread, which inherit that they are blocked: whoever waits here, or in an ExitWatch,
// gets them, and nobody is interrupted.

#pragma once

#include <pthread.h>

#include <csignal>
#include <cstdint>

namespace cadastre::node {

// What the process is asked for.
enum class Asked : std::uint8_t {
  kReload,  // SIGHUP: read again what may change while it runs
  kEnd,     // SIGTERM, SIGINT
};

class Termination {
 public:
  // Blocked as well: what our own threads tell each other while they wait for signals.
  static constexpr int kWake = SIGUSR1;

  Termination() noexcept {
    ::sigemptyset(&ends_);
    ::sigaddset(&ends_, SIGTERM);
    ::sigaddset(&ends_, SIGINT);
    asks_ = ends_;
    ::sigaddset(&asks_, SIGHUP);
    sigset_t blocked = asks_;
    ::sigaddset(&blocked, kWake);
    ::pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
  }
  Termination(const Termination&) = delete;
  Termination& operator=(const Termination&) = delete;
  ~Termination() = default;

  [[nodiscard]] Asked wait() const noexcept {
    int signal = 0;
    while (::sigwait(&asks_, &signal) != 0) {}
    return signal == SIGHUP ? Asked::kReload : Asked::kEnd;
  }

  // SIGTERM and SIGINT.
  [[nodiscard]] const sigset_t& ends() const noexcept { return ends_; }

 private:
  sigset_t ends_{};
  sigset_t asks_{};
};

}  // namespace cadastre::node
