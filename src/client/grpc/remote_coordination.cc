#include "client/remote_coordination.h"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <grpc/support/log.h>

#include "base/result.h"
#include "client/address.h"
#include "client/grpc/channel.h"
#include "client/retry.h"
#include "client/wire_answer.h"
#include "client/wire_request.h"
#include "coord/async_backend.h"
#include "coord/backend.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/outcome.h"
#include "coord/snapshot.h"
#include "coord/states.h"
#include "coord/sync_over_async.h"
#include "shard/cursor.h"
#include "shard/split_plan.h"

namespace cadastre::client {

using coord::AcquireResultView;
using coord::AcquireScratch;
using coord::LogicalTime;
using coord::OpId;
using coord::TenantId;
using coord::Unit;

Result<void, RemoteError> check(const RemoteOptions& options) {
  const auto addresses = addresses_of(options.address);
  if (addresses.empty())
    return base::fail(RemoteError::kBadAddress, "a server is HOST:PORT, several go with commas");
  if (!options.token.empty() && !options.tls && !std::ranges::all_of(addresses, is_loopback)) {
    return base::fail(RemoteError::kTokenInClear,
                      "a token is sent to another machine under TLS only; name the authority");
  }
  if (options.tls && options.tls->certificate.empty() != options.tls->key.empty())
    return base::fail(RemoteError::kBadTls, "a certificate and its key are given together");
  return {};
}

Result<std::unique_ptr<RemoteCoordination>, RemoteError> RemoteCoordination::open(
    const RemoteOptions& options, const RemoteParts& parts) {
  CAD_TRY(check(options));
  // What gRPC would print is in the errors of the calls.
  gpr_set_log_function([](gpr_log_func_args*) {});
  return std::unique_ptr<RemoteCoordination>(
      new RemoteCoordination(std::make_unique<Channel>(options, parts)));
}

RemoteCoordination::RemoteCoordination(std::unique_ptr<Channel> channel)
    : channel_(std::move(channel)) {}

RemoteCoordination::~RemoteCoordination() = default;

std::unique_ptr<coord::CoordinationFacade> RemoteCoordination::blocking() {
  return std::make_unique<coord::SyncOverAsync>(*this);
}

void RemoteCoordination::acquire_and_restore_into(
    LogicalTime now,
    const TenantId& tenant,
    const coord::ShardKey& key,
    coord::WorkerId worker,
    AcquireScratch& out,
    Completion<AcquireResultView, coord::AcquireError> done) {
  channel_->call<v1::AcquireRequest, v1::Grant>(
      &AsyncStub::Acquire,
      message<v1::AcquireRequest>(AcquireArguments{tenant, channel_->sent(now), key, worker}),
      {tenant, Repeat::kOnce}, std::move(done),
      [tenant, &out](const v1::Grant& grant) { return decode(grant, tenant, out); });
}

void RemoteCoordination::claim_next_available(
    LogicalTime now,
    const TenantId& tenant,
    coord::RunId run,
    coord::WorkerId worker,
    AcquireScratch& out,
    Completion<AcquireResultView, coord::ClaimError> done) {
  channel_->call<v1::ClaimRequest, v1::Grant>(
      &AsyncStub::Claim,
      message<v1::ClaimRequest>(ClaimArguments{tenant, channel_->sent(now), run, worker}),
      {tenant, Repeat::kOnce}, std::move(done),
      [tenant, &out](const v1::Grant& grant) { return decode(grant, tenant, out); });
}

void RemoteCoordination::renew(LogicalTime now,
                               const TenantId& tenant,
                               const coord::Lease& lease,
                               Completion<coord::RenewResult, coord::RenewError> done) {
  channel_->call<v1::RenewRequest, v1::RenewResponse>(
      &AsyncStub::Renew,
      message<v1::RenewRequest>(RenewArguments{tenant, channel_->sent(now), lease}), {tenant},
      std::move(done));
}

void RemoteCoordination::renew_many(
    LogicalTime now,
    const TenantId& tenant,
    std::span<const coord::Lease> leases,
    Completion<coord::CoordinationBackend::RenewedLeases, coord::RenewManyError> done) {
  const std::size_t count = leases.size();
  channel_->call<v1::RenewManyRequest, v1::RenewManyResponse>(
      &AsyncStub::RenewMany,
      message<v1::RenewManyRequest>(RenewManyArguments{tenant, channel_->sent(now),
                                                       std::vector(leases.begin(), leases.end())}),
      {tenant}, std::move(done), [tenant, count](const v1::RenewManyResponse& answer) {
        return decode(answer, tenant, count);
      });
}

void RemoteCoordination::checkpoint(
    LogicalTime now,
    const TenantId& tenant,
    const coord::Lease& lease,
    const shard::CursorUpdate& cursor,
    OpId op,
    Completion<IdempotentOutcome<Unit>, coord::CheckpointError> done) {
  channel_->call<v1::CheckpointRequest, v1::OutcomeResponse>(
      &AsyncStub::Checkpoint,
      message<v1::CheckpointRequest>(
          CheckpointArguments{tenant, channel_->sent(now), lease, cursor, op}),
      {tenant}, std::move(done));
}

void RemoteCoordination::complete(LogicalTime now,
                                  const TenantId& tenant,
                                  const coord::Lease& lease,
                                  const shard::CursorUpdate& cursor,
                                  OpId op,
                                  Completion<IdempotentOutcome<Unit>, coord::CompleteError> done) {
  channel_->call<v1::CheckpointRequest, v1::OutcomeResponse>(
      &AsyncStub::Complete,
      message<v1::CheckpointRequest>(
          CheckpointArguments{tenant, channel_->sent(now), lease, cursor, op}),
      {tenant}, std::move(done));
}

void RemoteCoordination::release_shard(
    LogicalTime now,
    const TenantId& tenant,
    const coord::Lease& lease,
    const shard::CursorUpdate& cursor,
    OpId op,
    Completion<IdempotentOutcome<Unit>, coord::ReleaseError> done) {
  channel_->call<v1::CheckpointRequest, v1::OutcomeResponse>(
      &AsyncStub::Release,
      message<v1::CheckpointRequest>(
          CheckpointArguments{tenant, channel_->sent(now), lease, cursor, op}),
      {tenant}, std::move(done));
}

void RemoteCoordination::park_shard(LogicalTime now,
                                    const TenantId& tenant,
                                    const coord::Lease& lease,
                                    coord::ParkReason reason,
                                    OpId op,
                                    Completion<IdempotentOutcome<Unit>, coord::ParkError> done) {
  channel_->call<v1::ParkRequest, v1::OutcomeResponse>(
      &AsyncStub::Park,
      message<v1::ParkRequest>(ParkArguments{tenant, channel_->sent(now), lease, reason, op}),
      {tenant}, std::move(done));
}

void RemoteCoordination::split_replace(
    LogicalTime now,
    const TenantId& tenant,
    const coord::Lease& lease,
    const shard::SplitReplacePlan& plan,
    OpId op,
    Completion<IdempotentOutcome<coord::SplitReplaceResult>, coord::SplitReplaceError> done) {
  channel_->call<v1::SplitReplaceRequest, v1::SplitReplaceResponse>(
      &AsyncStub::SplitReplace,
      message<v1::SplitReplaceRequest>(
          SplitReplaceArguments{tenant, channel_->sent(now), lease, plan, op}),
      {tenant}, std::move(done));
}

void RemoteCoordination::split_residual(
    LogicalTime now,
    const TenantId& tenant,
    const coord::Lease& lease,
    const shard::SplitResidualPlan& plan,
    OpId op,
    Completion<IdempotentOutcome<coord::SplitResidualResult>, coord::SplitResidualError> done) {
  channel_->call<v1::SplitResidualRequest, v1::SplitResidualResponse>(
      &AsyncStub::SplitResidual,
      message<v1::SplitResidualRequest>(
          SplitResidualArguments{tenant, channel_->sent(now), lease, plan, op}),
      {tenant}, std::move(done));
}

}  // namespace cadastre::client
