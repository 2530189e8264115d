// RemoteCoordination: a server's coordination, as the interface that backends have.
//
//   auto remote = CAD_TRY(RemoteCoordination::open({.address = "host:7420"}, parts));
//   remote->checkpoint(…, [](auto answer) { … });           // on gRPC's threads
//   const auto facade = remote->blocking();                 // waits; one for each thread
//   auto stream = remote->claims(tenant, run, worker, 1);   // claim_stream.h
//
// Opening connects to nothing: the first call does. A call that may be repeated is repeated until its outcome
// is known or its budget is spent (retry.h); then it ends with kTransient, as a call that is sent once does at
// the first loss. An answer that says no is never asked for again. What a server does not let in (no token, a
// foreign tenant, a request that is none) is kRefused.
//
// Of several nodes of a cluster any one will do: each takes every call to the one that leads. A client stays with one
// until a call to it is unavailable or late, and goes on with the next.
//
// What differs from a backend in this process: a run's op-log is empty, a shard's has no hashes. A list of more than
// kListLimitMax entries is fetched in pages, each of which shows its own moment.
//
// At most `calls_max` calls are under way; one more ends at once with kTransient and is not sent. A list counts as
// two while it goes from page to page. Completions run
// on gRPC's threads, or before the call returns if nothing is sent. Safe from any thread. The destructor cancels
// what is under way and waits for its completions, so that it never runs inside one.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/attributes.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "client/claim_stream.h"
#include "client/limits.h"
#include "client/retry.h"
#include "client/timer.h"
#include "client/wire_request.h"
#include "coord/async_backend.h"
#include "coord/backend.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/run_record.h"
#include "coord/shard_summary.h"
#include "coord/snapshot.h"
#include "coord/states.h"
#include "shard/cursor.h"
#include "shard/manifest.h"
#include "shard/split_plan.h"

namespace cadastre::client {

using coord::Completion;

// PEM texts. With a certificate and its key the server learns who calls.
struct TlsOptions {
  std::string authority = {};  // empty: the machine's
  std::string certificate = {};
  std::string key = {};
};

// Whose clock counts.
enum class TimeOf : std::uint8_t {
  kCaller,  // `now` is sent. All callers of a tenant share a clock.
  kServer,  // `now` is left out, and the server stamps: for workers on many machines.
};

struct RemoteOptions {
  std::string address;  // HOST:PORT; of a cluster several of its nodes, by commas
  std::optional<TlsOptions> tls = std::nullopt;
  std::string token = {};  // "Bearer" is added; empty: none
  TimeOf time = TimeOf::kCaller;
  std::chrono::milliseconds call_timeout{5'000};  // of one attempt
  RetryPolicy retry = {};
  std::size_t calls_max = kCallsMaxDefault;
};

enum class RemoteError : std::uint8_t {
  kBadAddress,    // It is not HOST:PORT, nor several by commas.
  kTokenInClear,  // A token goes to another machine only under TLS: give an authority.
  kBadTls,        // A certificate without its key, or the reverse.
};

// Whether a client may be opened so.
[[nodiscard]] Result<void, RemoteError> check(const RemoteOptions& options);

// Borrowed; they outlive the client. The random numbers are used by it alone.
struct RemoteParts {
  const base::Clock& clock;
  base::Random& random;
  Timer& timer;
};

class RemoteCoordination final : public coord::AsyncCoordinationFacade {
 public:
  [[nodiscard]] static Result<std::unique_ptr<RemoteCoordination>, RemoteError> open(
      const RemoteOptions& options, const RemoteParts& parts);
  ~RemoteCoordination() override;

  // A facade that waits. It does not outlive this object; sessions of one thread need one of their own.
  [[nodiscard]] std::unique_ptr<coord::CoordinationFacade> blocking() CAD_LIFETIMEBOUND;

  // Shards as they become free, up to kStreamGrantsMax. Does not outlive this object.
  [[nodiscard]] std::unique_ptr<ClaimStream> claims(const ClaimStreamArguments& arguments)
      CAD_LIFETIMEBOUND;

  // ---- coord/async_backend.h ---------------------------------------------------------------------

  void acquire_and_restore_into(
      coord::LogicalTime now,
      const coord::TenantId& tenant,
      const coord::ShardKey& key,
      coord::WorkerId worker,
      coord::AcquireScratch& out,
      Completion<coord::AcquireResultView, coord::AcquireError> done) override;
  void renew(coord::LogicalTime now,
             const coord::TenantId& tenant,
             const coord::Lease& lease,
             Completion<coord::RenewResult, coord::RenewError> done) override;
  void renew_many(
      coord::LogicalTime now,
      const coord::TenantId& tenant,
      std::span<const coord::Lease> leases,
      Completion<coord::CoordinationBackend::RenewedLeases, coord::RenewManyError> done) override;
  void checkpoint(
      coord::LogicalTime now,
      const coord::TenantId& tenant,
      const coord::Lease& lease,
      const shard::CursorUpdate& cursor,
      coord::OpId op,
      Completion<coord::IdempotentOutcome<coord::Unit>, coord::CheckpointError> done) override;
  void complete(
      coord::LogicalTime now,
      const coord::TenantId& tenant,
      const coord::Lease& lease,
      const shard::CursorUpdate& cursor,
      coord::OpId op,
      Completion<coord::IdempotentOutcome<coord::Unit>, coord::CompleteError> done) override;
  void park_shard(
      coord::LogicalTime now,
      const coord::TenantId& tenant,
      const coord::Lease& lease,
      coord::ParkReason reason,
      coord::OpId op,
      Completion<coord::IdempotentOutcome<coord::Unit>, coord::ParkError> done) override;
  void release_shard(
      coord::LogicalTime now,
      const coord::TenantId& tenant,
      const coord::Lease& lease,
      const shard::CursorUpdate& cursor,
      coord::OpId op,
      Completion<coord::IdempotentOutcome<coord::Unit>, coord::ReleaseError> done) override;
  void split_replace(coord::LogicalTime now,
                     const coord::TenantId& tenant,
                     const coord::Lease& lease,
                     const shard::SplitReplacePlan& plan,
                     coord::OpId op,
                     Completion<coord::IdempotentOutcome<coord::SplitReplaceResult>,
                                coord::SplitReplaceError> done) override;
  void split_residual(coord::LogicalTime now,
                      const coord::TenantId& tenant,
                      const coord::Lease& lease,
                      const shard::SplitResidualPlan& plan,
                      coord::OpId op,
                      Completion<coord::IdempotentOutcome<coord::SplitResidualResult>,
                                 coord::SplitResidualError> done) override;

  void create_run(coord::LogicalTime now,
                  const coord::TenantId& tenant,
                  coord::RunId run,
                  const coord::RunConfig& config,
                  Completion<coord::RunRecord, coord::CreateRunError> done) override;
  void register_shards(coord::LogicalTime now,
                       const coord::TenantId& tenant,
                       coord::RunId run,
                       std::span<const shard::InitialShardInput> shards,
                       coord::OpId op,
                       Completion<coord::IdempotentOutcome<std::vector<coord::ShardId>>,
                                  coord::RegisterShardsError> done) override;
  void get_run(const coord::TenantId& tenant,
               coord::RunId run,
               Completion<coord::RunRecord, coord::GetRunError> done) override;
  void get_run_progress(coord::LogicalTime now,
                        const coord::TenantId& tenant,
                        coord::RunId run,
                        Completion<coord::RunProgress, coord::GetRunError> done) override;
  void get_shard(const coord::TenantId& tenant,
                 const coord::ShardKey& key,
                 Completion<coord::ShardDump, coord::GetShardError> done) override;
  void list_shards(
      coord::LogicalTime now,
      const coord::TenantId& tenant,
      coord::RunId run,
      const coord::ShardFilter& filter,
      const coord::ShardPage& page,
      Completion<std::vector<coord::ShardSummary>, coord::ListShardsError> done) override;
  void list_runs(const coord::TenantId& tenant,
                 std::optional<coord::RunId> after,
                 std::size_t limit,
                 Completion<std::vector<coord::RunId>, coord::InfraError> done) override;
  void collect_claim_candidates(
      coord::LogicalTime now,
      const coord::TenantId& tenant,
      coord::RunId run,
      Completion<coord::ClaimCandidates, coord::GetRunError> done) override;
  void complete_run(
      coord::LogicalTime now,
      const coord::TenantId& tenant,
      coord::RunId run,
      coord::OpId op,
      Completion<coord::IdempotentOutcome<coord::Unit>, coord::RunTransitionError> done) override;
  void fail_run(
      coord::LogicalTime now,
      const coord::TenantId& tenant,
      coord::RunId run,
      coord::OpId op,
      Completion<coord::IdempotentOutcome<coord::Unit>, coord::RunTransitionError> done) override;
  void cancel_run(
      coord::LogicalTime now,
      const coord::TenantId& tenant,
      coord::RunId run,
      coord::OpId op,
      Completion<coord::IdempotentOutcome<coord::Unit>, coord::RunTransitionError> done) override;
  void unpark_shard(
      coord::LogicalTime now,
      const coord::TenantId& tenant,
      const coord::ShardKey& key,
      coord::OpId op,
      Completion<coord::IdempotentOutcome<coord::FenceEpoch>, coord::UnparkError> done) override;
  void gc_terminal_runs(const coord::TenantId& tenant,
                        coord::LogicalTime completed_before,
                        Completion<std::size_t, coord::InfraError> done) override;

  void claim_next_available(coord::LogicalTime now,
                            const coord::TenantId& tenant,
                            coord::RunId run,
                            coord::WorkerId worker,
                            coord::AcquireScratch& out,
                            Completion<coord::AcquireResultView, coord::ClaimError> done) override;

 private:
  class Channel;  // gRPC's side (grpc/channel.h)
  explicit RemoteCoordination(std::unique_ptr<Channel> channel);

  const std::unique_ptr<Channel> channel_;
};

}  // namespace cadastre::client
