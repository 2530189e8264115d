// Closed loops on the log: so many callers, each with one submission under way, in this process.

#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/logger.h"
#include "bench/log_callers.h"
#include "bench/log_machine.h"
#include "bench/scratch_directory.h"
#include "log/group.h"
#include "node/local_log.h"

namespace cadastre::bench {

// Our log with its threads and groups 1 to `groups`.
class LogUnderTest {
 public:
  LogUnderTest(const std::filesystem::path& directory, std::size_t groups);

  [[nodiscard]] std::span<log::Group* const> groups() const noexcept { return groups_; }
  [[nodiscard]] log::Group& group(std::size_t number) { return *groups_[number % groups_.size()]; }
  [[nodiscard]] const log::NodeMetrics& metrics() { return log_->host().metrics(); }

 private:
  base::SystemClock clock_;
  std::unique_ptr<base::LogSink> sink_;
  base::Logger logger_;
  std::vector<std::unique_ptr<CountingMachine>> machines_;
  std::unique_ptr<node::LocalLog> log_;  // Ends before what it borrows.
  std::vector<log::Group*> groups_;
};

// A command of every group is answered: each of them leads and has applied what was there.
void wait_for_groups(LogUnderTest& log, std::size_t groups);

// run_callers on a log of its own.
[[nodiscard]] LoadResult run_load(const LoadPlan& plan);

// The bound: batches of `commands` commands in one value, synced, one after the other, with the log's
// options.
[[nodiscard]] LoadResult run_raw(std::size_t commands, double seconds);

}  // namespace cadastre::bench
