// ExitWatch: while it stands, a SIGTERM or SIGINT, or the end of a patience, calls a function once on a thread of
// its own: for times in which whoever would wait for signals is busy with something that may not end.
//
//   const ExitWatch watch(termination, clock, {.patience = 9'500ms, .act = [](ExitCause) { std::_Exit(1); }});
//   node.stop();
//
// A signal that was sent while it stood is never lost: it is acted on, or whoever waits next gets it.

#pragma once

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <functional>
#include <optional>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "node/termination.h"

namespace cadastre::node {

enum class ExitCause : std::uint8_t {
  kSignal,
  kPatience
};

struct ExitPlan {
  std::optional<std::chrono::milliseconds> patience = std::nullopt;  // absent: without end
  std::function<void(ExitCause)> act;
};

class ExitWatch {
 public:
  ExitWatch(const Termination& termination, const base::Clock& clock, ExitPlan plan)
      : signals_(with_wake(termination.ends())),
        clock_(clock),
        plan_(std::move(plan)),
        thread_([this] { watch(); }) {}
  ExitWatch(const ExitWatch&) = delete;
  ExitWatch& operator=(const ExitWatch&) = delete;
  ~ExitWatch() {
    over_.store(true);
    ::pthread_kill(thread_.native_handle(), Termination::kWake);
  }

 private:
  [[nodiscard]] static sigset_t with_wake(sigset_t signals) noexcept {
    ::sigaddset(&signals, Termination::kWake);
    return signals;
  }

  void watch() {
    const base::Elapsed began = clock_.elapsed();
    while (!over_.load()) {
      const int signal = wait_for_signal(began);
      if (signal == SIGTERM || signal == SIGINT) return plan_.act(ExitCause::kSignal);
      if (signal < 0 && errno == EAGAIN) return plan_.act(ExitCause::kPatience);
    }
  }

  [[nodiscard]] int wait_for_signal(base::Elapsed began) const {
    if (!plan_.patience) return ::sigwaitinfo(&signals_, nullptr);
    const auto left = std::max<std::chrono::nanoseconds>(
        std::chrono::nanoseconds(0), began + *plan_.patience - clock_.elapsed());
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
    const timespec time{.tv_sec = seconds.count(), .tv_nsec = (left - seconds).count()};
    return ::sigtimedwait(&signals_, nullptr, &time);
  }

  const sigset_t signals_;
  const base::Clock& clock_;
  const ExitPlan plan_;
  std::atomic<bool> over_{false};
  std::jthread thread_;  // Last: it uses what stands above.
};

}  // namespace cadastre::node
