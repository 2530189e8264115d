#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cadastre/v1/coordination.pb.h"

#include "base/bytes.h"
#include "client/wire_answer.h"
#include "client/wire_error.h"
#include "client/wire_values.h"
#include "coord/backend.h"
#include "coord/decide_split.h"
#include "coord/identity.h"
#include "coord/op_log.h"
#include "coord/outcome.h"
#include "coord/progress.h"
#include "coord/run_record.h"
#include "coord/shard_record.h"
#include "coord/shard_summary.h"
#include "coord/snapshot.h"
#include "coord/states.h"
#include "shard/cursor.h"
#include "shard/shard_spec.h"

namespace cadastre::client {
namespace {

using base::as_text;
using coord::ShardId;

v1::Outcome to_wire(coord::Outcome outcome) noexcept {
  return static_cast<v1::Outcome>(wire_number(outcome));
}

v1::CursorSemantics to_wire(coord::CursorSemantics semantics) noexcept {
  return static_cast<v1::CursorSemantics>(wire_number(semantics));
}

void encode_summary(const coord::ShardSummary& shard, v1::ShardSummary& out) {
  out.set_shard(shard.shard.raw());
  out.set_status(static_cast<v1::ShardStatus>(wire_number(shard.status)));
  if (shard.park_reason)
    out.set_park_reason(static_cast<v1::ParkReason>(wire_number(*shard.park_reason)));
  out.set_is_leased(shard.is_leased);
  if (shard.lease_deadline) out.set_deadline(shard.lease_deadline->raw());
  if (shard.owner) out.set_worker(shard.owner->raw());
  out.set_fence(shard.fence.raw());
  out.set_acquires(shard.acquire_count);
  if (shard.last_key) out.set_last_key(std::string(as_text(shard.last_key->view())));
  out.set_start(std::string(as_text(shard.start.view())));
  out.set_end(std::string(as_text(shard.end.view())));
  if (shard.parent) out.set_parent(shard.parent->raw());
  out.set_spawned(shard.spawned_count);
}

}  // namespace

void encode(const coord::RunRecord& run, v1::Run& out) {
  out.set_run(run.run.raw());
  to_wire(run.config, *out.mutable_config());
  out.set_status(static_cast<v1::RunStatus>(wire_number(run.status)));
  out.set_created_at(run.created_at.raw());
  if (run.completed_at) out.set_completed_at(run.completed_at->raw());
  for (const ShardId shard : run.root_shards)
    out.add_root_shards(shard.raw());
}

void encode(const IdempotentOutcome<std::vector<ShardId>>& registered,
            v1::RegisterShardsResponse& out) {
  out.set_outcome(to_wire(registered.outcome()));
  for (const ShardId shard : registered.value())
    out.add_shards(shard.raw());
}

void encode(const coord::RunProgress& progress, v1::RunProgress& out) {
  out.set_total(progress.total);
  out.set_active(progress.active);
  out.set_done(progress.done);
  out.set_split(progress.split);
  out.set_parked(progress.parked);
  out.set_leased(progress.leased);
  if (progress.watermark) out.set_watermark(std::string(as_text(progress.watermark->view())));
}

void encode(const std::vector<coord::RunId>& runs, v1::ListRunsResponse& out) {
  for (const coord::RunId run : runs)
    out.add_runs(run.raw());
}

void encode(const coord::ShardDump& shard, v1::Shard& out) {
  const coord::ShardState& state = shard.state;
  out.set_run(state.run.raw());
  out.set_shard(state.shard.raw());
  out.set_status(static_cast<v1::ShardStatus>(wire_number(state.status)));
  if (state.park_reason)
    out.set_park_reason(static_cast<v1::ParkReason>(wire_number(*state.park_reason)));
  to_wire(shard::ShardSpecRef::unchecked(shard.start, shard.end, shard.metadata),
          *out.mutable_spec());
  if (!shard.last_key.empty())
    to_wire(shard::CursorUpdate::make(shard.last_key, shard.token), *out.mutable_cursor());
  out.set_cursor_semantics(to_wire(state.semantics));
  if (state.lease) {
    out.set_worker(state.lease->owner.raw());
    out.set_deadline(state.lease->deadline.raw());
  }
  out.set_fence(state.fence.raw());
  if (state.parent) out.set_parent(state.parent->raw());
  for (const ShardId id : shard.spawned)
    out.add_spawned(id.raw());
  for (const coord::OpLogEntry& entry : state.op_log) {
    v1::OpLogEntry& told = *out.add_op_log();
    told.set_op_id(entry.op_id.raw());
    told.set_kind(static_cast<std::uint32_t>(entry.kind));
    told.set_executed_at(entry.executed_at.raw());
  }
}

void encode(const std::vector<coord::ShardSummary>& shards, v1::ListShardsResponse& out) {
  for (const coord::ShardSummary& shard : shards)
    encode_summary(shard, *out.add_shards());
}

void encode(const coord::ClaimCandidates& candidates, v1::ListClaimCandidatesResponse& out) {
  for (const ShardId shard : candidates.shards)
    out.add_shards(shard.raw());
  if (candidates.earliest_deadline) out.set_earliest_deadline(candidates.earliest_deadline->raw());
}

void encode(const IdempotentOutcome<coord::Unit>& outcome, v1::OutcomeResponse& out) {
  out.set_outcome(to_wire(outcome.outcome()));
}

void encode(const IdempotentOutcome<coord::FenceEpoch>& unparked, v1::UnparkShardResponse& out) {
  out.set_outcome(to_wire(unparked.outcome()));
  out.set_fence(unparked.value().raw());
}

void encode(std::size_t collected, v1::CollectTerminalRunsResponse& out) {
  out.set_collected(collected);
}

void encode(const coord::AcquireResultView& acquired, v1::Grant& out) {
  const coord::ShardSnapshotView& snapshot = acquired.snapshot;
  to_wire(acquired.lease, acquired.lease.tenant(), *out.mutable_lease());
  to_wire(snapshot.spec, *out.mutable_spec());
  if (snapshot.cursor.last_key()) to_wire(snapshot.cursor, *out.mutable_cursor());
  out.set_cursor_semantics(to_wire(snapshot.semantics));
  if (snapshot.parent) out.set_parent(snapshot.parent->raw());
  for (std::size_t i = 0; i < snapshot.spawned.size(); ++i)
    out.add_spawned(snapshot.spawned[i].raw());
  to_wire(acquired.capacity, *out.mutable_capacity());
}

void encode(const coord::RenewResult& renewed, v1::RenewResponse& out) {
  out.set_deadline(renewed.new_deadline.raw());
  to_wire(renewed.capacity, *out.mutable_capacity());
}

void encode(const coord::CoordinationBackend::RenewedLeases& renewed, v1::RenewManyResponse& out) {
  for (const auto& result : renewed) {
    v1::RenewManyResponse::Result& told = *out.add_results();
    if (result) {
      encode(*result, *told.mutable_renewed());
    } else {
      encode(AnyError(result.error()), *told.mutable_error());
    }
  }
}

void encode(const IdempotentOutcome<coord::SplitReplaceResult>& split,
            v1::SplitReplaceResponse& out) {
  out.set_outcome(to_wire(split.outcome()));
  for (const ShardId child : split.value().children)
    out.add_children(child.raw());
}

void encode(const IdempotentOutcome<coord::SplitResidualResult>& split,
            v1::SplitResidualResponse& out) {
  out.set_outcome(to_wire(split.outcome()));
  out.set_residual(split.value().residual.raw());
}

}  // namespace cadastre::client
