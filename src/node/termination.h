// Termination: SIGTERM and SIGINT as something to wait for.
//
// Made before any other thread, which inherit that the two are blocked: whoever waits here gets them,
// nobody is interrupted.

#pragma once

#include <pthread.h>

#include <csignal>

namespace cadastre::node {

class Termination {
 public:
  Termination() noexcept {
    ::sigemptyset(&signals_);
    ::sigaddset(&signals_, SIGTERM);
    ::sigaddset(&signals_, SIGINT);
    ::pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  }
  Termination(const Termination&) = delete;
  Termination& operator=(const Termination&) = delete;
  ~Termination() = default;

  // Returns when the process is asked to end.
  void wait() const noexcept {
    int signal = 0;
    while (::sigwait(&signals_, &signal) != 0) {}
  }

 private:
  sigset_t signals_{};
};

}  // namespace cadastre::node
