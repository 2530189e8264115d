#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/contenders.h"
#include "bench/coord_durable_bench.h"
#include "bench/coord_load.h"
#include "bench/etcd_work.h"
#include "bench/log_load.h"
#include "bench/peers/etcd_server.h"
#include "bench/peers/etcd_talk.h"
#include "bench/peers/grpc_loop.h"
#include "bench/peers/log_echo.h"
#include "bench/peers/postgres_queue_load.h"
#include "bench/peers/postgres_server.h"
#include "bench/report.h"
#include "bench/scratch_directory.h"
#include "bench/served_work.h"
#include "bench/work_keys.h"

namespace cadastre::bench {
namespace {

constexpr std::size_t kCallers = 64;
constexpr std::size_t kEtcdCallers = 32;
constexpr std::int64_t kLockSeconds = 600;
// As our backend asks: whoever means to survive a member that hangs, or is cut off, asks so.
constexpr CallForm kEtcdForm{.deadline = std::chrono::milliseconds(5000), .requires_leader = true};

// Rows' names. Everything here is over a socket.
const std::string kServed = "over a socket, 64 callers: checkpoints";
const std::string kServedClaims = "over a socket, 64 callers: claims and releases";
const std::string kOnEtcd = "on etcd (a socket), 64 callers: checkpoints";
const std::string kOnEtcd32 = "on etcd (a socket), 32 callers: checkpoints";
const std::string kOnEtcdClaims = "on etcd (a socket), 64 callers: claims and releases";
const std::string kEmptyCall = "an empty gRPC call";
const std::string kLogCall = "a command of the bare log behind gRPC";
const std::string kQueue = "PostgreSQL, SKIP LOCKED, 64 connections";
const std::string kQueueClaims = "PostgreSQL, SKIP LOCKED, 64 connections, claims";
const std::string kBareEtcd = "bare etcd transactions, same compares and bytes";
const std::string kLocks = "etcd locks, a lease for each worker";
const std::string kLeasedLocks = "etcd locks, a lease for each lock";

double talk(const std::string& address, std::vector<std::unique_ptr<Conversation>> callers) {
  return run_conversations(
      {.address = address, .callers = std::move(callers), .seconds = kDurableRoundSeconds});
}

double run_empty_calls() {
  const LogEcho server(nullptr);
  return run_calls({.address = server.address(),
                    .method = "/cadastre.bench.Log/Nothing",
                    .outstanding = kCallers,
                    .seconds = kDurableRoundSeconds,
                    .request = [](std::uint64_t /*number*/) {
                      return std::string();
                    }});
}

// What a call costs that is answered when the disk has it: nothing of coordination.
double run_log_calls() {
  const ScratchDirectory directory("echo");
  LogUnderTest log(directory.path(), 1);
  const LogEcho server(&log.group(0));
  return run_calls({.address = server.address(),
                    .method = std::string(LogEcho::kCallMethod),
                    .outstanding = kCallers,
                    .seconds = kDurableRoundSeconds,
                    .request = [](std::uint64_t /*number*/) {
                      return std::string(kCommandBytes, 'c');
                    }});
}

double run_served_checkpoints() {
  ServedWork work("served", {});
  auto callers = work.checkpoint_callers(kCallers);
  return talk(work.address(), std::move(callers));
}

double run_served_claims() {
  const ServedWork work("served", {});
  return talk(work.address(), ServedWork::claim_callers(kCallers));
}

// The bytes that a record of ours takes, for the peer to write as many.
std::size_t record_bytes() {
  EtcdWork work;
  (void)CoordWork(work.backend(), {}).run_checkpoints({.callers = 1, .seconds = 0.5});
  return work.largest_record_bytes();
}

double run_checkpoints_on_etcd(std::size_t callers) {
  EtcdWork work;
  return CoordWork(work.backend(), {})
      .run_checkpoints({.callers = callers, .seconds = kDurableRoundSeconds});
}

double run_claims_on_etcd() {
  EtcdWork work;
  return CoordWork(work.backend(), {})
      .run_claims({.callers = kCallers, .seconds = kDurableRoundSeconds});
}

double run_bare_transactions(std::size_t value_bytes) {
  const ScratchDirectory directory("bare");
  const EtcdServer server(directory.path());
  EtcdCalls calls(server.address());
  std::vector<std::unique_ptr<Conversation>> callers;
  callers.reserve(kEtcdCallers);
  for (std::size_t i = 0; i < kEtcdCallers; ++i) {
    callers.push_back(std::make_unique<GuardedPuts>(
        calls.make_record(EtcdWork::record_key(i + 1), value_bytes), value_bytes));
  }
  return run_conversations({.address = server.address(),
                            .callers = std::move(callers),
                            .connections = 1,  // As our backend has.
                            .seconds = kDurableRoundSeconds,
                            .form = kEtcdForm});
}

// Each caller has names of its own: nobody waits for anybody.
template <class Make>
double run_locks(const Make& make) {
  const ScratchDirectory directory("locks");
  const EtcdServer server(directory.path());
  EtcdCalls calls(server.address());
  std::vector<std::unique_ptr<Conversation>> callers;
  callers.reserve(kCallers);
  for (std::size_t i = 0; i < kCallers; ++i)
    callers.push_back(make(calls, fmt::format("locks/{:02}", i)));
  return talk(server.address(), std::move(callers));
}

double run_session_locks() {
  return run_locks([](EtcdCalls& calls, const std::string& head) {
    return std::make_unique<LockPairs>(head, kWorkShards / kCallers,
                                       calls.grant_lease(kLockSeconds));
  });
}
double run_leased_locks() {
  return run_locks([](EtcdCalls& /*calls*/, const std::string& head) {
    return std::make_unique<LeasedLockPairs>(head, kWorkShards / kCallers);
  });
}

void add_etcd(Contenders& checkpoints, Contenders& claims) {
  if (!EtcdServer::is_installed()) {
    const std::string why = "etcd-server is not installed";
    for (const std::string* name : {&kOnEtcd, &kOnEtcd32, &kBareEtcd})
      checkpoints.add_missing(*name, why);
    for (const std::string* name : {&kOnEtcdClaims, &kLocks, &kLeasedLocks})
      claims.add_missing(*name, why);
    return;
  }
  checkpoints.add(kOnEtcd, [] { return run_checkpoints_on_etcd(kCallers); });
  checkpoints.add(kOnEtcd32, [] { return run_checkpoints_on_etcd(kEtcdCallers); });
  checkpoints.add(kBareEtcd, [bytes = record_bytes()] { return run_bare_transactions(bytes); });
  claims.add(kOnEtcdClaims, run_claims_on_etcd);
  claims.add(kLocks, run_session_locks);
  claims.add(kLeasedLocks, run_leased_locks);
}

void measure_all(Report& report, Contenders& checkpoints, Contenders& claims) {
  checkpoints.measure(kDurableRounds);
  checkpoints.report(report, kServed, kEmptyCall, 0.8);
  checkpoints.report(report, kServed, kLogCall, {});
  checkpoints.report(report, kServed, kOnEtcd, 3);
  checkpoints.report(report, kServed, kQueue, {});
  checkpoints.report(report, kOnEtcd32, kBareEtcd, 0.85);
  claims.measure(kDurableRounds);
  claims.report(report, kServedClaims, kQueueClaims, {});
  claims.report(report, kServedClaims, kLocks, {});
  claims.report(report, kServedClaims, kLeasedLocks, {});
  claims.report(report, kOnEtcdClaims, kLocks, {});
  claims.report(report, kOnEtcdClaims, kLeasedLocks, {});
}

}  // namespace

void add_rates(Report& report) {
  Contenders checkpoints;
  Contenders claims;
  checkpoints.add(kEmptyCall, run_empty_calls);
  checkpoints.add(kLogCall, run_log_calls);
  checkpoints.add(kServed, run_served_checkpoints);
  claims.add(kServedClaims, run_served_claims);
  add_etcd(checkpoints, claims);
  const ScratchDirectory directory("postgres");
  std::unique_ptr<PostgresServer> postgres;
  if (const auto obstacle = PostgresServer::obstacle(directory.path())) {
    checkpoints.add_missing(kQueue, *obstacle);
    claims.add_missing(kQueueClaims, *obstacle);
  } else {
    postgres = std::make_unique<PostgresServer>(directory.path(), 2 * kCallers);
    const QueueLoad load{.connection_text = postgres->connection_text(),
                         .connections = kCallers,
                         .seconds = kDurableRoundSeconds};
    checkpoints.add(kQueue, [load] { return run_queue_checkpoints(load); });
    claims.add(kQueueClaims, [load] { return run_queue_claims(load); });
  }
  report.add_version("etcd", EtcdServer::version());
  report.add_version("PostgreSQL", PostgresServer::version());
  measure_all(report, checkpoints, claims);
}

}  // namespace cadastre::bench
