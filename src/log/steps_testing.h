// StepRunner: a host driven by hand on one thread, for tests. settle() runs everything that has work
// until nothing has; the parts can also be run one step at a time.

#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "log/host.h"
#include "log/runner.h"

namespace cadastre::log {

class StepRunner final : public Runner {
 public:
  void wake_log() override { log_woken_ = true; }
  void wake_writer() override { writer_woken_ = true; }
  void wake_reader() override { reader_woken_ = true; }
  void wake_applier(GroupId group) override { appliers_woken_.insert(group); }
  void fail_stop(std::string_view reason) override { failed = reason; }

  bool step_log(Host& host) {
    if (!std::exchange(log_woken_, false)) return false;
    (void)host.run_log();
    return true;
  }
  bool step_writer(Host& host) {
    if (!std::exchange(writer_woken_, false)) return false;
    return host.run_writer();
  }
  bool step_reader(Host& host) {
    if (!std::exchange(reader_woken_, false)) return false;
    while (host.run_reader()) {}
    return true;
  }
  bool step_applier(Host& host) {
    if (appliers_woken_.empty()) return false;
    const GroupId group = *appliers_woken_.begin();
    if (!host.run_applier(group)) appliers_woken_.erase(group);
    return true;
  }
  void settle(Host& host) {
    constexpr int kStepsMax = 1'000'000;
    int steps = 0;
    while (step_log(host) || step_writer(host) || step_reader(host) || step_applier(host))
      CAD_CHECK(++steps < kStepsMax, "the host comes to rest");
  }

  std::string failed;  // Why the host wanted the process to end.

 private:
  bool log_woken_ = false;
  bool writer_woken_ = false;
  bool reader_woken_ = false;
  std::set<GroupId> appliers_woken_;
};

}  // namespace cadastre::log
