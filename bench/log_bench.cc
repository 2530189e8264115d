// `./dev bench log`: the log on one disk against the disk itself and against etcd.
//
// P is what one thread gets from RocksDB with synced batches of the same payload. Ours and P alternate.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "base/signal.h"
#include "bench/log_load.h"
#include "bench/peers/etcd_server.h"
#include "bench/peers/grpc_loop.h"
#include "bench/peers/log_echo.h"
#include "bench/report.h"
#include "bench/samples.h"
#include "bench/scratch_directory.h"

namespace cadastre::bench {
namespace {

constexpr int kRounds = 5;
constexpr double kRoundSeconds = 4;
constexpr std::string_view kRawName = "raw synced RocksDB";

void add_outstanding(Report& report, std::size_t outstanding, double target) {
  std::vector<double> ours;
  std::vector<double> raw;
  for (int round = 0; round < kRounds; ++round) {
    raw.push_back(run_raw(outstanding, kRoundSeconds).commands_per_second);
    ours.push_back(
        run_load({.outstanding = outstanding, .seconds = kRoundSeconds}).commands_per_second);
  }
  report.add({.what = fmt::format("local, {} outstanding commands", outstanding),
              .unit = "commands/s",
              .better = Better::kHigher,
              .ours = median(ours),
              .peer = std::string(kRawName),
              .theirs = median(raw),
              .target = target,
              .spread = spread(ours)});
}

void add_one_outstanding(Report& report) {
  std::vector<double> ours;
  std::vector<double> raw;
  for (int round = 0; round < kRounds; ++round) {
    raw.push_back(run_raw(1, kRoundSeconds).p50_us);
    ours.push_back(run_load({.outstanding = 1, .seconds = kRoundSeconds}).p50_us);
  }
  report.add({.what = "local, 1 outstanding: p50",
              .unit = "us",
              .better = Better::kLower,
              .ours = median(ours),
              .peer = std::string(kRawName),
              .theirs = median(raw),
              .target = 1 / 1.5,
              .spread = spread(ours)});
}

void add_submissions(Report& report) {
  std::vector<double> ours;
  for (int round = 0; round < kRounds; ++round) {
    ours.push_back(run_load({.outstanding = 64, .commands = 100, .seconds = kRoundSeconds})
                       .commands_per_second);
  }
  report.add({.what = "local, 64 submissions of 100 commands",
              .unit = "commands/s",
              .better = Better::kHigher,
              .ours = median(ours),
              .target = 1e6,
              .spread = spread(ours)});
}

// The same load on one group and on many.
void add_groups(Report& report, std::size_t outstanding, std::size_t commands) {
  constexpr std::array<std::size_t, 3> kGroups{3, 16, 64};
  std::vector<double> one;
  std::array<std::vector<double>, kGroups.size()> many;
  for (int round = 0; round < 3; ++round) {
    const auto run = [&](std::size_t groups) {
      return run_load({.groups = groups,
                       .outstanding = outstanding,
                       .commands = commands,
                       .seconds = kRoundSeconds})
          .commands_per_second;
    };
    one.push_back(run(1));
    for (std::size_t i = 0; i < kGroups.size(); ++i)
      many[i].push_back(run(kGroups[i]));
  }
  for (std::size_t i = 0; i < kGroups.size(); ++i) {
    report.add({.what = fmt::format("{} groups, {} outstanding submissions of {}", kGroups[i],
                                    outstanding, commands),
                .unit = "commands/s",
                .better = Better::kHigher,
                .ours = median(many[i]),
                .peer = "one group",
                .theirs = median(one),
                .target = 0.85,
                .spread = spread(many[i])});
  }
}

void add_idle(Report& report) {
  constexpr std::size_t kGroups = 1000;
  constexpr double kSeconds = 10;
  const auto idle = [&](std::size_t groups) {
    const ScratchDirectory directory("idle");
    LogUnderTest log(directory.path(), groups);
    base::Signal().wait_for(std::chrono::seconds(2));
    const double before = processor_seconds();
    base::Signal().wait_for(std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double>(kSeconds)));
    return (processor_seconds() - before) / kSeconds;
  };
  const double one = idle(1);
  const double many = idle(kGroups);
  report.add(
      {.what = "idle: processor time of one group, by 1,000 of them",
       .unit = "us/s",
       .better = Better::kLower,
       .ours = std::max(0.0, many - one) / (kGroups - 1) * 1e6,
       .note = fmt::format("1,000 groups {:.2f} ms/s, one {:.2f} ms/s", many * 1e3, one * 1e3)});
}

double run_echo(const LogEcho& server) {
  return run_calls({.address = server.address(),
                    .method = std::string(LogEcho::kCallMethod),
                    .seconds = kRoundSeconds,
                    .request = [](std::uint64_t /*number*/) {
                      return std::string(kCommandBytes, 'x');
                    }});
}

void add_etcd(Report& report) {
  if (!EtcdServer::is_installed()) {
    report.add_missing("puts of 100 bytes, 64 outstanding", "etcd", "etcd-server is not installed");
    return;
  }
  report.add_version("etcd", EtcdServer::version());
  std::vector<double> etcd;
  std::vector<double> echo;
  std::vector<double> bare;  // gRPC without a log.
  std::vector<double> inside;
  for (int round = 0; round < 3; ++round) {
    {
      const ScratchDirectory directory("etcd");
      const EtcdServer server(directory.path());
      etcd.push_back(run_calls({.address = server.address(),
                                .method = std::string(EtcdServer::kPutMethod),
                                .seconds = kRoundSeconds,
                                .request = [](std::uint64_t number) {
                                  return EtcdServer::put_request(number, kCommandBytes);
                                }}));
    }
    {
      const ScratchDirectory directory("echo");
      LogUnderTest log(directory.path(), 1);
      const LogEcho server(&log.group(0));
      echo.push_back(run_echo(server));
    }
    bare.push_back(run_echo(LogEcho(nullptr)));
    inside.push_back(run_load({.seconds = kRoundSeconds}).commands_per_second);
  }
  const Row row{.what = {},
                .unit = "commands/s",
                .better = Better::kHigher,
                .peer = "etcd, socket",
                .theirs = median(etcd)};
  Row like_for_like = row;
  like_for_like.what = "behind gRPC (socket against socket), 64 outstanding";
  like_for_like.ours = median(echo);
  like_for_like.target = 4;
  like_for_like.limit = median(bare);
  like_for_like.note = fmt::format("gRPC without a log: {:.0f}", median(bare));
  like_for_like.spread = spread(echo);
  report.add(like_for_like);
  Row in_process = row;
  in_process.what = "in process (call against socket), 64 outstanding";
  in_process.ours = median(inside);
  in_process.spread = spread(inside);
  report.add(in_process);
}

void add_restart(Report& report) {
  constexpr std::size_t kGroups = 64;
  constexpr std::uint64_t kBytes = std::uint64_t{256} << 20;
  const ScratchDirectory directory("restart");
  {
    LogUnderTest log(directory.path(), kGroups);
    fill_groups(log.groups(), {.bytes = kBytes});
  }
  const auto started = std::chrono::steady_clock::now();
  {
    LogUnderTest log(directory.path(), kGroups);
    wait_for_groups(log, kGroups);
    report.add(
        {.what = "restart: 256 MiB to replay, 64 groups, until all lead",
         .unit = "s",
         .better = Better::kLower,
         .ours = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count(),
         .target = 5});
  }
}

void fill_report(Report& report) {
  add_outstanding(report, 64, 0.6);
  add_outstanding(report, 256, 0.75);
  add_submissions(report);
  add_one_outstanding(report);
  add_groups(report, 64, 100);
  add_groups(report, 4096, 1);
  add_groups(report, 64, 1);
  add_idle(report);
  add_restart(report);
  add_etcd(report);
}

}  // namespace
}  // namespace cadastre::bench

int main(int argc, char** argv) {
  return cadastre::bench::run_benchmark("log", argc, argv, cadastre::bench::fill_report);
}
