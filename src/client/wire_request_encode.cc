#include <cstdint>

#include "cadastre/v1/coordination.pb.h"

#include "client/wire_request.h"
#include "client/wire_values.h"
#include "coord/lease.h"
#include "shard/cursor.h"
#include "shard/manifest.h"
#include "shard/split_plan.h"

namespace cadastre::client {
namespace {

template <class Arguments, class Request>
void encode_tenant(const Arguments& arguments, Request& out) {
  out.set_tenant(to_wire(arguments.tenant));
}

// Tenant and time, which all but a few requests begin with.
template <class Arguments, class Request>
void encode_head(const Arguments& arguments, Request& out) {
  encode_tenant(arguments, out);
  if (arguments.now) out.set_now(arguments.now->raw());
}

template <class Arguments, class Request>
void encode_leased(const Arguments& arguments, Request& out) {
  encode_head(arguments, out);
  to_wire(arguments.lease, arguments.tenant, *out.mutable_lease());
}

template <class Request>
void encode_cursor(const shard::CursorUpdate& cursor, Request& out) {
  if (cursor.last_key()) to_wire(cursor, *out.mutable_cursor());
}

}  // namespace

void encode(const CreateRunArguments& arguments, v1::CreateRunRequest& out) {
  encode_head(arguments, out);
  out.set_run(arguments.run.raw());
  to_wire(arguments.config, *out.mutable_config());
}

void encode(const RegisterArguments& arguments, v1::RegisterShardsRequest& out) {
  encode_head(arguments, out);
  out.set_run(arguments.run.raw());
  for (const shard::InitialShardInput& shard : arguments.shards) {
    v1::InitialShard& row = *out.add_shards();
    row.set_shard(shard.shard.raw());
    to_wire(shard.spec, *row.mutable_spec());
    encode_cursor(shard.cursor, row);
  }
  out.set_op_id(arguments.op.raw());
}

void encode(const RunArguments& arguments, v1::GetRunRequest& out) {
  encode_tenant(arguments, out);
  out.set_run(arguments.run.raw());
}

void encode(const RunArguments& arguments, v1::GetRunProgressRequest& out) {
  encode_head(arguments, out);
  out.set_run(arguments.run.raw());
}

void encode(const RunArguments& arguments, v1::ListClaimCandidatesRequest& out) {
  encode_head(arguments, out);
  out.set_run(arguments.run.raw());
}

void encode(const ListRunsArguments& arguments, v1::ListRunsRequest& out) {
  encode_tenant(arguments, out);
  if (arguments.after) out.set_after(arguments.after->raw());
  out.set_limit(static_cast<std::uint32_t>(arguments.limit));
}

void encode(const GetShardArguments& arguments, v1::GetShardRequest& out) {
  encode_tenant(arguments, out);
  out.set_run(arguments.key.run.raw());
  out.set_shard(arguments.key.shard.raw());
}

void encode(const ListShardsArguments& arguments, v1::ListShardsRequest& out) {
  encode_head(arguments, out);
  out.set_run(arguments.run.raw());
  if (arguments.filter.status)
    out.set_status(static_cast<v1::ShardStatus>(wire_number(*arguments.filter.status)));
  if (arguments.filter.is_leased) out.set_is_leased(*arguments.filter.is_leased);
  out.set_root_only(arguments.filter.root_only);
  if (arguments.page.after) out.set_after(arguments.page.after->raw());
  out.set_limit(static_cast<std::uint32_t>(arguments.page.limit));
}

void encode(const EndRunArguments& arguments, v1::EndRunRequest& out) {
  encode_head(arguments, out);
  out.set_run(arguments.run.raw());
  out.set_op_id(arguments.op.raw());
}

void encode(const UnparkArguments& arguments, v1::UnparkShardRequest& out) {
  encode_head(arguments, out);
  out.set_run(arguments.key.run.raw());
  out.set_shard(arguments.key.shard.raw());
  out.set_op_id(arguments.op.raw());
}

void encode(const CollectArguments& arguments, v1::CollectTerminalRunsRequest& out) {
  encode_tenant(arguments, out);
  out.set_completed_before(arguments.completed_before.raw());
}

void encode(const AcquireArguments& arguments, v1::AcquireRequest& out) {
  encode_head(arguments, out);
  out.set_run(arguments.key.run.raw());
  out.set_shard(arguments.key.shard.raw());
  out.set_worker(arguments.worker.raw());
}

void encode(const ClaimArguments& arguments, v1::ClaimRequest& out) {
  encode_head(arguments, out);
  out.set_run(arguments.run.raw());
  out.set_worker(arguments.worker.raw());
}

void encode(const ClaimStreamArguments& arguments, v1::ClaimStreamRequest& out) {
  encode_tenant(arguments, out);
  out.set_run(arguments.run.raw());
  out.set_worker(arguments.worker.raw());
  out.set_grants_max(arguments.grants_max);
}

void encode(const RenewArguments& arguments, v1::RenewRequest& out) {
  encode_leased(arguments, out);
}

void encode(const RenewManyArguments& arguments, v1::RenewManyRequest& out) {
  encode_head(arguments, out);
  for (const coord::Lease& lease : arguments.leases)
    to_wire(lease, arguments.tenant, *out.add_leases());
}

void encode(const CheckpointArguments& arguments, v1::CheckpointRequest& out) {
  encode_leased(arguments, out);
  encode_cursor(arguments.cursor, out);
  out.set_op_id(arguments.op.raw());
}

void encode(const ParkArguments& arguments, v1::ParkRequest& out) {
  encode_leased(arguments, out);
  out.set_reason(static_cast<v1::ParkReason>(wire_number(arguments.reason)));
  out.set_op_id(arguments.op.raw());
}

void encode(const SplitReplaceArguments& arguments, v1::SplitReplaceRequest& out) {
  encode_leased(arguments, out);
  for (const shard::SplitReplaceChild& child : arguments.plan.children()) {
    v1::SplitReplaceRequest::Child& row = *out.add_children();
    to_wire(child.spec, *row.mutable_spec());
    encode_cursor(child.cursor, row);
  }
  out.set_op_id(arguments.op.raw());
}

void encode(const SplitResidualArguments& arguments, v1::SplitResidualRequest& out) {
  encode_leased(arguments, out);
  to_wire(arguments.plan.new_parent(), *out.mutable_new_parent());
  to_wire(arguments.plan.residual(), *out.mutable_residual());
  out.set_op_id(arguments.op.raw());
}

}  // namespace cadastre::client
