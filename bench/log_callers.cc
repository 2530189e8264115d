#include "bench/log_callers.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <latch>
#include <memory>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/mutex.h"
#include "base/signal.h"
#include "bench/closed_loop.h"
#include "bench/harness.h"
#include "bench/samples.h"
#include "log/limits.h"
#include "log/propose.h"

namespace cadastre::bench {
namespace {

using Seconds = std::chrono::duration<double>;
using SteadyClock = std::chrono::steady_clock;

void wait(double seconds) {
  base::Signal().wait_for(std::chrono::duration_cast<std::chrono::nanoseconds>(Seconds(seconds)));
}

// What all callers share. They stop by themselves once told to.
struct Shared {
  std::atomic<bool> stop{false};
  std::atomic<bool> counting{false};
  std::atomic<std::uint64_t> answered{0};
  base::Mutex mutex;
  base::CondVar changed;
  std::size_t running CAD_GUARDED_BY(mutex) = 0;

  void one_stopped() {
    const base::MutexLock lock(mutex);
    --running;
    changed.notify_all();
  }
  void wait_for_all() {
    const base::MutexLock lock(mutex);
    while (running != 0)
      changed.wait(mutex);
  }
};

// One caller: submits again from its last answer.
class Caller {
 public:
  Caller(Shared& shared, log::Group& group, const LoadPlan& plan)
      : shared_(shared), group_(group), proposals_(plan.commands), command_(plan.command_bytes) {}

  void submit() {
    if (shared_.stop.load(std::memory_order_relaxed)) return shared_.one_stopped();
    left_ = proposals_.size();
    started_ = SteadyClock::now();
    for (log::Proposal& proposal : proposals_)
      proposal = {command_, [this](const log::Answer& answer) {
                    answered(answer);
                  }};
    group_.propose(proposals_, log::Class::kUser);
  }
  [[nodiscard]] const std::vector<double>& latencies_us() const noexcept { return latencies_us_; }

 private:
  void answered(const log::Answer& answer) {
    CAD_CHECK(answer.has_value(), "a closed loop stays below every bound");
    shared_.answered.fetch_add(1, std::memory_order_relaxed);
    if (--left_ != 0) return;
    if (shared_.counting.load(std::memory_order_relaxed)) {
      latencies_us_.push_back(
          std::chrono::duration<double, std::micro>(SteadyClock::now() - started_).count());
    }
    submit();
  }

  Shared& shared_;
  log::Group& group_;
  std::vector<log::Proposal> proposals_;
  std::vector<std::byte> command_;
  std::size_t left_ = 0;  // Of the group's applier only.
  SteadyClock::time_point started_;
  std::vector<double> latencies_us_;
};

}  // namespace

LoadResult run_callers(std::span<log::Group* const> groups,
                       const log::NodeMetrics& metrics,
                       const LoadPlan& plan) {
  CAD_CHECK(plan.groups <= groups.size(), "a load has the groups that it asks for");
  Shared shared;
  std::vector<std::unique_ptr<Caller>> callers;
  for (std::size_t i = 0; i < plan.outstanding; ++i)
    callers.push_back(std::make_unique<Caller>(shared, *groups[i % plan.groups], plan));
  {
    const base::MutexLock lock(shared.mutex);
    shared.running = callers.size();
  }
  for (const auto& caller : callers)
    caller->submit();
  wait(plan.seconds / 5);
  const std::uint64_t before = shared.answered.load();
  const std::uint64_t sets_before = metrics.sync_ns.read().count();
  const double cpu_before = processor_seconds();
  const auto started = SteadyClock::now();
  shared.counting.store(true);
  wait(plan.seconds);
  shared.counting.store(false);
  const double seconds = Seconds(SteadyClock::now() - started).count();
  LoadResult result;
  result.commands_per_second = static_cast<double>(shared.answered.load() - before) / seconds;
  result.sets_per_second =
      static_cast<double>(metrics.sync_ns.read().count() - sets_before) / seconds;
  result.cpu_us_per_command =
      1e6 * (processor_seconds() - cpu_before) / (result.commands_per_second * seconds);
  shared.stop.store(true);
  shared.wait_for_all();
  std::vector<double> latencies;
  for (const auto& caller : callers)
    latencies.insert(latencies.end(), caller->latencies_us().begin(), caller->latencies_us().end());
  std::ranges::sort(latencies);
  result.p50_us = percentile(latencies, 0.5);
  result.p99_us = percentile(latencies, 0.99);
  return result;
}

void fill_groups(std::span<log::Group* const> groups, const FillPlan& plan) {
  constexpr std::size_t kCommands = 1'000;
  CAD_CHECK(kCommands * plan.command_bytes <= log::kQueueBytesMax, "a submission fits a queue");
  const std::vector<std::byte> command(plan.command_bytes);
  const std::uint64_t at_once = kCommands * plan.command_bytes * groups.size();
  for (std::uint64_t sent = 0; sent < plan.bytes; sent += at_once) {
    std::latch answered(static_cast<std::ptrdiff_t>(kCommands * groups.size()));
    for (log::Group* const group : groups) {
      std::vector<log::Proposal> proposals(kCommands);
      for (log::Proposal& proposal : proposals)
        proposal = {command, [&answered](const log::Answer& answer) {
                      CAD_CHECK(answer.has_value(), "the log takes what fits its queues");
                      answered.count_down();
                    }};
      group->propose(proposals, log::Class::kUser);
    }
    answered.wait();
  }
}

double run_readers(log::Group& group, std::size_t outstanding, double seconds) {
  return run_loops(
      {.callers = outstanding, .seconds = seconds}, [&](std::size_t /*caller*/, LoopDone done) {
        group.read_barrier(log::ReadMode::kLinearizable,
                           [done = std::move(done)](const log::ReadAnswer& answer) mutable {
                             CAD_CHECK(answer.has_value(), "a leader answers readers");
                             done();
                           });
      });
}

}  // namespace cadastre::bench
