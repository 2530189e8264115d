// LogThreads: the log's parts on threads: two that take turns at the loop and at the disk (log_shift.h), one for
// reading old entries, a few for the appliers. Appliers, and threads that bring frames, run a pass themselves where nobody
// else does. A disk that fails ends the process here. Whoever may still call help_log() has stopped before this goes.

#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <span>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/logger.h"
#include "base/signal.h"
#include "log/host.h"
#include "log/runner.h"
#include "node/applier_pool.h"
#include "node/log_shift.h"

namespace cadastre::node {

class LogThreads final : public log::Runner {
 public:
  LogThreads(const base::Clock& clock, const base::Logger& logger) noexcept
      : clock_(clock), logger_(logger), shift_(clock) {}
  ~LogThreads() override { join(); }

  // The host outlives the threads.
  void start(log::Host& host, int appliers);

  // Lets what is under way finish, for so long at most, and joins the threads. False: it did not.
  bool stop(std::chrono::milliseconds patience);

  void wake_log() override { shift_.raise(); }
  void help_log() override;
  void wake_writer() override { shift_.set_filled(); }  // Said in a pass.
  void wake_reader() override { reader_signal_.raise(); }
  void wake_applier(log::GroupId group) override { appliers_.wake({&group, 1}); }
  // Said in a pass, heeded behind it: what leaves for peers and for the disk comes first.
  void wake_appliers(std::span<const log::GroupId> groups) override {
    to_wake_.insert(to_wake_.end(), groups.begin(), groups.end());
  }
  // Logs the reason and aborts.
  [[noreturn]] void fail_stop(std::string_view reason) override;

 private:
  void run_crew(std::size_t seat);
  void run_pass(LogShift::By by);
  [[nodiscard]] bool run_applier(log::GroupId group);
  void run_reader();
  void join();

  const base::Clock& clock_;
  const base::Logger& logger_;
  log::Host* host_ = nullptr;
  std::atomic<bool> ending_{false};
  LogShift shift_;
  std::vector<log::GroupId> to_wake_;  // Of whoever is in the pass.
  base::Signal reader_signal_;
  base::Signal progress_;  // Raised while the log is stopping, whenever something was done.
  std::atomic<bool> stopping_{false};
  ApplierPool appliers_;
  std::array<std::jthread, LogShift::kSeats> crew_;
  std::jthread reader_thread_;
};

}  // namespace cadastre::node
