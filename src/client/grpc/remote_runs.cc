#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "client/grpc/channel.h"
#include "client/limits.h"
#include "client/remote_coordination.h"
#include "client/retry.h"
#include "client/wire_answer.h"
#include "client/wire_request.h"
#include "coord/async_backend.h"
#include "coord/backend.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/outcome.h"
#include "coord/progress.h"
#include "coord/run_record.h"
#include "coord/shard_summary.h"
#include "shard/manifest.h"

namespace cadastre::client {
namespace {

using coord::LogicalTime;
using coord::OpId;
using coord::RunId;
using coord::TenantId;
using coord::Unit;

// On the wire 0 is a limit left out: whoever wants nothing asks for one, and gets none of it.
std::size_t limit_on_the_wire(std::size_t limit) noexcept {
  return std::clamp<std::size_t>(limit, 1, kListLimitMax);
}

template <class T>
std::vector<T> at_most(std::vector<T> list, std::size_t limit) {
  if (list.size() > limit)
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(limit), list.end());
  return list;
}

}  // namespace

void RemoteCoordination::create_run(LogicalTime now,
                                    const TenantId& tenant,
                                    RunId run,
                                    const coord::RunConfig& config,
                                    Completion<coord::RunRecord, coord::CreateRunError> done) {
  channel_->call<v1::CreateRunRequest, v1::Run>(
      &AsyncStub::CreateRun,
      message<v1::CreateRunRequest>(CreateRunArguments{tenant, channel_->sent(now), run, config}),
      {tenant, Repeat::kOnce}, std::move(done),
      [tenant](const v1::Run& answer) { return decode(answer, tenant); });
}

void RemoteCoordination::register_shards(
    LogicalTime now,
    const TenantId& tenant,
    RunId run,
    std::span<const shard::InitialShardInput> shards,
    OpId op,
    Completion<IdempotentOutcome<std::vector<coord::ShardId>>, coord::RegisterShardsError> done) {
  channel_->call<v1::RegisterShardsRequest, v1::RegisterShardsResponse>(
      &AsyncStub::RegisterShards,
      message<v1::RegisterShardsRequest>(RegisterArguments{
          tenant, channel_->sent(now), run, std::vector(shards.begin(), shards.end()), op}),
      {tenant}, std::move(done));
}

void RemoteCoordination::get_run(const TenantId& tenant,
                                 RunId run,
                                 Completion<coord::RunRecord, coord::GetRunError> done) {
  channel_->call<v1::GetRunRequest, v1::Run>(
      &AsyncStub::GetRun, message<v1::GetRunRequest>(RunArguments{tenant, Now(), run}), {tenant},
      std::move(done), [tenant](const v1::Run& answer) { return decode(answer, tenant); });
}

void RemoteCoordination::get_run_progress(LogicalTime now,
                                          const TenantId& tenant,
                                          RunId run,
                                          Completion<coord::RunProgress, coord::GetRunError> done) {
  channel_->call<v1::GetRunProgressRequest, v1::RunProgress>(
      &AsyncStub::GetRunProgress,
      message<v1::GetRunProgressRequest>(RunArguments{tenant, channel_->sent(now), run}), {tenant},
      std::move(done));
}

void RemoteCoordination::get_shard(const TenantId& tenant,
                                   const coord::ShardKey& key,
                                   Completion<coord::ShardDump, coord::GetShardError> done) {
  channel_->call<v1::GetShardRequest, v1::Shard>(
      &AsyncStub::GetShard, message<v1::GetShardRequest>(GetShardArguments{tenant, key}), {tenant},
      std::move(done), [tenant](const v1::Shard& answer) { return decode(answer, tenant); });
}

void RemoteCoordination::list_shards(
    LogicalTime now,
    const TenantId& tenant,
    RunId run,
    const coord::ShardFilter& filter,
    const coord::ShardPage& page,
    Completion<std::vector<coord::ShardSummary>, coord::ListShardsError> done) {
  using Summaries = std::vector<coord::ShardSummary>;
  const std::size_t limit = page.limit;
  const coord::ShardPage asked{.limit = limit_on_the_wire(limit), .after = page.after};
  channel_->call<v1::ListShardsRequest, v1::ListShardsResponse>(
      &AsyncStub::ListShards,
      message<v1::ListShardsRequest>(
          ListShardsArguments{tenant, channel_->sent(now), run, filter, asked}),
      {tenant}, std::move(done),
      [limit](const v1::ListShardsResponse& answer) -> Answered<Summaries> {
        return at_most(CAD_TRY(decode(answer)), limit);
      });
}

void RemoteCoordination::list_runs(const TenantId& tenant,
                                   std::optional<RunId> after,
                                   std::size_t limit,
                                   Completion<std::vector<RunId>, coord::InfraError> done) {
  channel_->call<v1::ListRunsRequest, v1::ListRunsResponse>(
      &AsyncStub::ListRuns,
      message<v1::ListRunsRequest>(ListRunsArguments{tenant, after, limit_on_the_wire(limit)}),
      {tenant}, std::move(done),
      [limit](const v1::ListRunsResponse& answer) -> Answered<std::vector<RunId>> {
        return at_most(decode(answer), limit);
      });
}

void RemoteCoordination::collect_claim_candidates(
    LogicalTime now,
    const TenantId& tenant,
    RunId run,
    Completion<coord::ClaimCandidates, coord::GetRunError> done) {
  channel_->call<v1::ListClaimCandidatesRequest, v1::ListClaimCandidatesResponse>(
      &AsyncStub::ListClaimCandidates,
      message<v1::ListClaimCandidatesRequest>(RunArguments{tenant, channel_->sent(now), run}),
      {tenant}, std::move(done));
}

void RemoteCoordination::complete_run(
    LogicalTime now,
    const TenantId& tenant,
    RunId run,
    OpId op,
    Completion<IdempotentOutcome<Unit>, coord::RunTransitionError> done) {
  channel_->call<v1::EndRunRequest, v1::OutcomeResponse>(
      &AsyncStub::CompleteRun,
      message<v1::EndRunRequest>(EndRunArguments{tenant, channel_->sent(now), run, op}), {tenant},
      std::move(done));
}

void RemoteCoordination::fail_run(
    LogicalTime now,
    const TenantId& tenant,
    RunId run,
    OpId op,
    Completion<IdempotentOutcome<Unit>, coord::RunTransitionError> done) {
  channel_->call<v1::EndRunRequest, v1::OutcomeResponse>(
      &AsyncStub::FailRun,
      message<v1::EndRunRequest>(EndRunArguments{tenant, channel_->sent(now), run, op}), {tenant},
      std::move(done));
}

void RemoteCoordination::cancel_run(
    LogicalTime now,
    const TenantId& tenant,
    RunId run,
    OpId op,
    Completion<IdempotentOutcome<Unit>, coord::RunTransitionError> done) {
  channel_->call<v1::EndRunRequest, v1::OutcomeResponse>(
      &AsyncStub::CancelRun,
      message<v1::EndRunRequest>(EndRunArguments{tenant, channel_->sent(now), run, op}), {tenant},
      std::move(done));
}

void RemoteCoordination::unpark_shard(
    LogicalTime now,
    const TenantId& tenant,
    const coord::ShardKey& key,
    OpId op,
    Completion<IdempotentOutcome<coord::FenceEpoch>, coord::UnparkError> done) {
  channel_->call<v1::UnparkShardRequest, v1::UnparkShardResponse>(
      &AsyncStub::UnparkShard,
      message<v1::UnparkShardRequest>(UnparkArguments{tenant, channel_->sent(now), key, op}),
      {tenant}, std::move(done));
}

void RemoteCoordination::gc_terminal_runs(const TenantId& tenant,
                                          LogicalTime completed_before,
                                          Completion<std::size_t, coord::InfraError> done) {
  channel_->call<v1::CollectTerminalRunsRequest, v1::CollectTerminalRunsResponse>(
      &AsyncStub::CollectTerminalRuns,
      message<v1::CollectTerminalRunsRequest>(CollectArguments{tenant, completed_before}), {tenant},
      std::move(done));
}

}  // namespace cadastre::client
