// LogThreads: the log's parts on threads of their own: one for the loop, one for the writer, one for
// reading old entries, a few for the appliers. A disk that fails ends the process here.

#pragma once

#include <atomic>
#include <chrono>
#include <span>
#include <string_view>
#include <thread>

#include "base/clock.h"
#include "base/logger.h"
#include "base/signal.h"
#include "log/host.h"
#include "log/runner.h"
#include "node/applier_pool.h"

namespace cadastre::node {

class LogThreads final : public log::Runner {
 public:
  LogThreads(const base::Clock& clock, const base::Logger& logger) noexcept
      : clock_(clock), logger_(logger) {}
  ~LogThreads() override { join(); }

  // The host outlives the threads.
  void start(log::Host& host, int appliers);

  // Lets what is under way finish, for so long at most, and joins the threads. False: it did not.
  bool stop(std::chrono::milliseconds patience);

  void wake_log() override { log_signal_.raise(); }
  void wake_writer() override { writer_signal_.raise(); }
  void wake_reader() override { reader_signal_.raise(); }
  void wake_applier(log::GroupId group) override { appliers_.wake({&group, 1}); }
  void wake_appliers(std::span<const log::GroupId> groups) override { appliers_.wake(groups); }
  // Logs the reason and aborts.
  [[noreturn]] void fail_stop(std::string_view reason) override;

 private:
  void run_log();
  void run_writer();
  void run_reader();
  void join();

  const base::Clock& clock_;
  const base::Logger& logger_;
  log::Host* host_ = nullptr;
  std::atomic<bool> ending_{false};
  base::Signal log_signal_;
  base::Signal writer_signal_;
  base::Signal reader_signal_;
  base::Signal progress_;  // Raised while the log is stopping, whenever something was done.
  std::atomic<bool> stopping_{false};
  ApplierPool appliers_;
  std::jthread log_thread_;
  std::jthread writer_thread_;
  std::jthread reader_thread_;
};

}  // namespace cadastre::node
