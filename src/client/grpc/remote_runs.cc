#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "client/grpc/channel.h"
#include "client/pages.h"
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

using Summaries = std::vector<coord::ShardSummary>;

coord::ShardId id_of_summary(const coord::ShardSummary& shard) noexcept {
  return shard.shard;
}

RunId id_of_run(const RunId& run) noexcept {
  return run;
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
  using Told = Told<Summaries, coord::ListShardsError>;
  const auto ask = [this, now, tenant, run, filter](const Page<coord::ShardId>& asked, Told told) {
    channel_->call<v1::ListShardsRequest, v1::ListShardsResponse>(
        &AsyncStub::ListShards,
        message<v1::ListShardsRequest>(
            ListShardsArguments{tenant,
                                channel_->sent(now),
                                run,
                                filter,
                                {.limit = asked.limit, .after = asked.after}}),
        {tenant}, std::move(told));
  };
  fetch_pages<coord::ShardSummary, coord::ShardId, coord::ListShardsError>(
      {.limit = page.limit, .after = page.after, .id_of = id_of_summary}, ask, std::move(done));
}

void RemoteCoordination::list_runs(const TenantId& tenant,
                                   std::optional<RunId> after,
                                   std::size_t limit,
                                   Completion<std::vector<RunId>, coord::InfraError> done) {
  using Told = Told<std::vector<RunId>, coord::InfraError>;
  const auto ask = [this, tenant](const Page<RunId>& asked, Told told) {
    channel_->call<v1::ListRunsRequest, v1::ListRunsResponse>(
        &AsyncStub::ListRuns,
        message<v1::ListRunsRequest>(ListRunsArguments{tenant, asked.after, asked.limit}), {tenant},
        std::move(told));
  };
  fetch_pages<RunId, RunId, coord::InfraError>({.limit = limit, .after = after, .id_of = id_of_run},
                                               ask, std::move(done));
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
