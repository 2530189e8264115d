#include "bench/log_load.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <latch>
#include <utility>

#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/write_batch.h>

#include "base/check.h"
#include "bench/samples.h"

namespace cadastre::bench {
namespace {

using Seconds = std::chrono::duration<double>;
using SteadyClock = std::chrono::steady_clock;

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
  LogUnderTest log(directory.path(), plan.groups);
  return run_callers(log.groups(), log.metrics(), plan);
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
  std::ranges::sort(latencies);
  result.p50_us = percentile(latencies, 0.5);
  result.p99_us = percentile(latencies, 0.99);
  return result;
}

}  // namespace cadastre::bench
