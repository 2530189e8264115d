#include "bench/log_load.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <latch>
#include <utility>

#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/write_batch.h>

#include "base/check.h"
#include "base/mutex.h"
#include "base/signal.h"

namespace cadastre::bench {
namespace {

using Seconds = std::chrono::duration<double>;
using SteadyClock = std::chrono::steady_clock;

double percentile(std::vector<double>& sorted, double share) {
  if (sorted.empty()) return 0;
  return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
}

void set_latencies(LoadResult& result, std::vector<double> latencies) {
  std::ranges::sort(latencies);
  result.p50_us = percentile(latencies, 0.5);
  result.p99_us = percentile(latencies, 0.99);
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

LogUnderTest::LogUnderTest(const std::filesystem::path& directory, std::size_t groups)
    : sink_(base::stderr_log_sink()), logger_(*sink_, clock_, base::LogForm::kText) {
  auto opened = node::LocalLog::open({.directory = directory / "log"}, clock_, logger_);
  CAD_CHECK(opened.has_value(), "an empty directory takes a log");
  log_ = std::move(*opened);
  for (std::size_t i = 0; i < groups; ++i) {
    machines_.push_back(std::make_unique<CountingMachine>());
    auto group =
        log_->host().open_group({.group = log::GroupId{i + 1}, .machine = *machines_.back()});
    CAD_CHECK(group.has_value(), "a new group opens");
    groups_.push_back(*group);
  }
}

void fill_log(LogUnderTest& log, std::size_t groups, std::uint64_t bytes) {
  constexpr std::size_t kCommands = 1'000;
  const std::vector<std::byte> command(kCommandBytes);
  for (std::uint64_t sent = 0; sent < bytes; sent += kCommands * kCommandBytes * groups) {
    std::latch answered(static_cast<std::ptrdiff_t>(kCommands * groups));
    for (std::size_t group = 0; group < groups; ++group) {
      std::vector<log::Proposal> proposals(kCommands);
      for (log::Proposal& proposal : proposals)
        proposal = {command, [&answered](const log::Answer& answer) {
                      CAD_CHECK(answer.has_value(), "the log takes what fits its queues");
                      answered.count_down();
                    }};
      log.group(group).propose(proposals, log::Class::kUser);
    }
    answered.wait();
  }
}

void wait_for_groups(LogUnderTest& log, std::size_t groups) {
  std::latch answered(static_cast<std::ptrdiff_t>(groups));
  for (std::size_t group = 0; group < groups; ++group) {
    const std::vector<std::byte> command(kCommandBytes);
    std::array proposals{log::Proposal{command, [&answered](const log::Answer& answer) {
                                         CAD_CHECK(answer.has_value(),
                                                   "a group that leads takes a command");
                                         answered.count_down();
                                       }}};
    log.group(group).propose(proposals, log::Class::kUser);
  }
  answered.wait();
}

LoadResult run_load(const LoadPlan& plan) {
  const ScratchDirectory directory("log");
  Shared shared;
  std::vector<std::unique_ptr<Caller>> callers;
  LogUnderTest log(directory.path(), plan.groups);
  for (std::size_t i = 0; i < plan.outstanding; ++i)
    callers.push_back(std::make_unique<Caller>(shared, log.group(i), plan));
  {
    const base::MutexLock lock(shared.mutex);
    shared.running = callers.size();
  }
  for (const auto& caller : callers)
    caller->submit();
  base::Signal().wait_for(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Seconds(plan.seconds / 5)));
  const std::uint64_t before = shared.answered.load();
  const std::uint64_t sets_before = log.metrics().sync_ns.read().count();
  const auto started = SteadyClock::now();
  shared.counting.store(true);
  base::Signal().wait_for(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Seconds(plan.seconds)));
  shared.counting.store(false);
  const double seconds = Seconds(SteadyClock::now() - started).count();
  LoadResult result;
  result.commands_per_second = static_cast<double>(shared.answered.load() - before) / seconds;
  result.sets_per_second =
      static_cast<double>(log.metrics().sync_ns.read().count() - sets_before) / seconds;
  shared.stop.store(true);
  shared.wait_for_all();
  std::vector<double> latencies;
  for (const auto& caller : callers)
    latencies.insert(latencies.end(), caller->latencies_us().begin(), caller->latencies_us().end());
  set_latencies(result, std::move(latencies));
  return result;
}

LoadResult run_raw(std::size_t commands, double seconds) {
  const ScratchDirectory directory("raw");
  rocksdb::Options options;
  options.create_if_missing = true;
  options.write_buffer_size = std::size_t{64} << 20;
  options.max_write_buffer_number = 4;
  options.compression = rocksdb::kNoCompression;
  options.allow_concurrent_memtable_write = false;
  options.track_and_verify_wals_in_manifest = true;
  rocksdb::DB* opened = nullptr;
  CAD_CHECK(rocksdb::DB::Open(options, (directory.path() / "db").string(), &opened).ok(),
            "an empty directory takes a database");
  const std::unique_ptr<rocksdb::DB> database(opened);
  const std::string value(commands * kCommandBytes, 'x');
  rocksdb::WriteOptions synced;
  synced.sync = true;
  std::vector<double> latencies;
  std::uint64_t sets = 0;
  const auto write = [&] {
    rocksdb::WriteBatch batch;
    const auto key = sets++;
    CAD_CHECK(
        batch.Put(rocksdb::Slice(reinterpret_cast<const char*>(&key), sizeof key), value).ok() &&
            database->Write(synced, &batch).ok(),
        "the disk takes a batch");
  };
  const auto warm_until = SteadyClock::now() + Seconds(seconds / 5);
  while (SteadyClock::now() < warm_until)
    write();
  sets = 0;
  const auto started = SteadyClock::now();
  auto before = started;
  while (before - started < Seconds(seconds)) {
    write();
    const auto after = SteadyClock::now();
    latencies.push_back(std::chrono::duration<double, std::micro>(after - before).count());
    before = after;
  }
  LoadResult result;
  result.sets_per_second = static_cast<double>(sets) / Seconds(before - started).count();
  result.commands_per_second = result.sets_per_second * static_cast<double>(commands);
  set_latencies(result, std::move(latencies));
  return result;
}

}  // namespace cadastre::bench
