// Rates and latencies of three voters. Ours, etcd and the disk alternate; each round has clusters of its own.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "bench/log_callers.h"
#include "bench/log_load.h"
#include "bench/log_raft_bench.h"
#include "bench/peers/etcd_cluster.h"
#include "bench/peers/etcd_server.h"
#include "bench/peers/grpc_loop.h"
#include "bench/peers/grpc_streams.h"
#include "bench/peers/log_echo.h"
#include "bench/raft_processes.h"
#include "bench/report.h"
#include "bench/samples.h"
#include "bench/scratch_directory.h"

namespace cadastre::bench {
namespace {

constexpr std::size_t kCallers = 64;
constexpr std::size_t kManyReaders = 256;
constexpr std::size_t kSubmission = 100;
constexpr double kLibraft = 40'000;  // Commands/s of Debian's libraft on three voters here, once.

// One value of each for every round.
struct Taken {
  std::vector<double> commands;  // 64 outstanding
  std::vector<double> submissions;
  std::vector<double> cpu_us;  // Of the leader's process, for one of their commands.
  std::vector<double> one_p50_us;
  std::vector<double> reads;
  std::vector<double> many_reads;
  std::vector<double> behind_grpc;
  std::vector<double> bare_grpc;
  std::vector<double> behind_streams;
  std::vector<double> bare_streams;
  std::vector<double> etcd_puts;
  std::vector<double> etcd_reads;
  std::vector<double> sync_p50_us;  // The disk alone.
  std::vector<double> disk_commands;
  std::vector<double> disk_submissions;
};

CallPlan calls_to(const std::string& door, std::string_view method, double seconds) {
  return {.address = door,
          .method = std::string(method),
          .outstanding = kCallers,
          .seconds = seconds,
          .request = [](std::uint64_t /*number*/) {
            return std::string(kCommandBytes, 'x');
          }};
}

void take_ours(Taken& taken, double seconds) {
  RaftProcesses cluster({});
  const LoadResult one = cluster.load({.outstanding = 1, .seconds = seconds});
  taken.one_p50_us.push_back(one.p50_us);
  taken.commands.push_back(
      cluster.load({.outstanding = kCallers, .seconds = seconds}).commands_per_second);
  taken.reads.push_back(cluster.read(kCallers, seconds));
  taken.many_reads.push_back(cluster.read(kManyReaders, seconds));
  const std::string log = cluster.node(1).ask("door log");
  const std::string bare = cluster.node(1).ask("door bare");
  taken.behind_grpc.push_back(run_calls(calls_to(log, LogEcho::kCallMethod, seconds)));
  taken.bare_grpc.push_back(run_calls(calls_to(bare, LogEcho::kCallMethod, seconds)));
  taken.behind_streams.push_back(run_streams(calls_to(log, LogEcho::kStreamMethod, seconds)));
  taken.bare_streams.push_back(run_streams(calls_to(bare, LogEcho::kStreamMethod, seconds)));
  const LoadResult submissions =
      cluster.load({.outstanding = kCallers, .commands = kSubmission, .seconds = seconds});
  taken.submissions.push_back(submissions.commands_per_second);
  taken.cpu_us.push_back(submissions.cpu_us_per_command);
}

void take_etcd(Taken& taken, double seconds) {
  const ScratchDirectory directory("etcd");
  const EtcdCluster cluster(directory.path());
  taken.etcd_puts.push_back(run_calls({.address = cluster.leader_address(),
                                       .method = std::string(EtcdServer::kPutMethod),
                                       .outstanding = kCallers,
                                       .seconds = seconds,
                                       .request = [](std::uint64_t number) {
                                         return EtcdServer::put_request(number, kCommandBytes);
                                       }}));
  taken.etcd_reads.push_back(run_calls({.address = cluster.leader_address(),
                                        .method = std::string(EtcdServer::kRangeMethod),
                                        .outstanding = kManyReaders,
                                        .seconds = seconds,
                                        .request = [](std::uint64_t number) {
                                          return EtcdServer::range_request(number);
                                        }}));
}

void take_disk(Taken& taken, double seconds) {
  taken.sync_p50_us.push_back(run_raw(1, seconds / 3).p50_us);
  taken.disk_commands.push_back(run_raw(kCallers, seconds / 3).commands_per_second);
  taken.disk_submissions.push_back(
      run_raw(kCallers * kSubmission, seconds / 3).commands_per_second);
}

void add_commands(Report& report, const Taken& taken) {
  report.add({.what = "3 voters, 64 outstanding commands",
              .unit = "commands/s",
              .better = Better::kHigher,
              .ours = median(taken.commands),
              .target = 1.5 * kLibraft,
              .limit = median(taken.disk_commands),
              .spread = spread(taken.commands)});
  report.add({.what = "3 voters, 64 submissions of 100 commands",
              .unit = "commands/s",
              .better = Better::kHigher,
              .ours = median(taken.submissions),
              .target = 500'000,
              .limit = median(taken.disk_submissions),
              .spread = spread(taken.submissions)});
  report.add({.what = "the same: the leader's processor time for a command, its caller's included",
              .unit = "us",
              .better = Better::kLower,
              .ours = median(taken.cpu_us),
              .target = 1.2,
              .spread = spread(taken.cpu_us)});
  const double sync = median(taken.sync_p50_us);
  report.add({.what = "3 voters, 1 outstanding: p50",
              .unit = "us",
              .better = Better::kLower,
              .ours = median(taken.one_p50_us),
              .target = 2 * sync + 300,
              .limit = sync,
              .note = fmt::format("a sync: {:.0f} us", sync),
              .spread = spread(taken.one_p50_us)});
  report.add({.what = "3 voters, ReadIndex, 64 outstanding",
              .unit = "reads/s",
              .better = Better::kHigher,
              .ours = median(taken.reads),
              .target = 100'000,
              .spread = spread(taken.reads)});
}

void add_against_etcd(Report& report, const Taken& taken) {
  report.add_version("etcd", EtcdServer::version());
  const Row puts{.what = {},
                 .unit = "commands/s",
                 .better = Better::kHigher,
                 .peer = "etcd, 3 members, socket",
                 .theirs = median(taken.etcd_puts),
                 .target = 4};
  Row in_process = puts;
  in_process.what = "in process (call against socket), 64 outstanding";
  in_process.ours = median(taken.commands);
  in_process.spread = spread(taken.commands);
  report.add(in_process);
  Row like_for_like = puts;
  like_for_like.what = "behind gRPC (socket against socket), 64 outstanding";
  like_for_like.ours = median(taken.behind_grpc);
  like_for_like.limit = median(taken.bare_grpc);
  like_for_like.note = fmt::format("gRPC without a log: {:.0f}", median(taken.bare_grpc));
  like_for_like.spread = spread(taken.behind_grpc);
  report.add(like_for_like);
  Row streams = puts;
  streams.what =
      "behind gRPC streams (socket against socket), 64 callers, one command each at a time";
  streams.ours = median(taken.behind_streams);
  streams.limit = median(taken.bare_streams);
  streams.note = fmt::format("streams without a log: {:.0f}", median(taken.bare_streams));
  streams.spread = spread(taken.behind_streams);
  report.add(streams);
  report.add({.what = "ReadIndex, 256 readers (call against socket)",
              .unit = "reads/s",
              .better = Better::kHigher,
              .ours = median(taken.many_reads),
              .peer = "etcd, linearizable reads",
              .theirs = median(taken.etcd_reads),
              .target = 8,
              .spread = spread(taken.many_reads)});
}

}  // namespace

void add_rates(Report& report, const RaftBenchPlan& plan) {
  Taken taken;
  const bool has_etcd = EtcdServer::is_installed();
  for (int round = 0; round < plan.rounds; ++round) {
    take_disk(taken, plan.seconds);
    take_ours(taken, plan.seconds);
    if (has_etcd) take_etcd(taken, plan.seconds);
  }
  add_commands(report, taken);
  if (has_etcd) {
    add_against_etcd(report, taken);
  } else {
    report.add_missing("puts and reads, three members", "etcd", "etcd-server is not installed");
  }
}

void add_leases(Report& report, const RaftBenchPlan& plan) {
  RaftProcesses cluster({.lease_reads = true});
  std::vector<double> guarded;
  std::vector<double> unguarded;
  std::vector<double> by_lease;
  for (int round = 0; round < plan.rounds; ++round) {
    const GuardedReads reads = cluster.read_guarded(plan.seconds);
    guarded.push_back(reads.guarded);
    unguarded.push_back(reads.unguarded);
    by_lease.push_back(100 * reads.by_lease);
  }
  report.add({.what = "point reads under the leader's lease, one thread",
              .unit = "reads/s",
              .better = Better::kHigher,
              .ours = median(guarded),
              .peer = "the same reads, unguarded",
              .theirs = median(unguarded),
              .target = 0.9,
              .note = fmt::format("{:.1f} % by lease, the others asked a quorum", median(by_lease)),
              .spread = spread(guarded)});
}

}  // namespace cadastre::bench
