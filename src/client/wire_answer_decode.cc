#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cadastre/v1/coordination.pb.h"

#include "base/bytes.h"
#include "base/endian.h"
#include "base/result.h"
#include "client/limits.h"
#include "client/wire_answer.h"
#include "client/wire_error.h"
#include "client/wire_values.h"
#include "coord/backend.h"
#include "coord/decide_split.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/limits.h"
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

using base::as_bytes;
using coord::FenceEpoch;
using coord::FixedKey;
using coord::LogicalTime;
using coord::OpId;
using coord::RunId;
using coord::ShardId;
using coord::TenantId;
using coord::WorkerId;

std::unexpected<InfraError> bad(std::string field) {
  return base::fail(
      coord::corruption("answer", "no server of ours sends such a " + std::move(field)));
}

Answered<coord::Outcome> outcome_of(v1::Outcome outcome) {
  switch (outcome) {
    case v1::OUTCOME_EXECUTED: return coord::Outcome::kExecuted;
    case v1::OUTCOME_REPLAYED: return coord::Outcome::kReplayed;
    default: return bad("outcome");
  }
}

template <class E>
Answered<E> enum_of(int number, std::string_view field) {
  if (const auto value = from_wire_number<E>(number)) return *value;
  return bad(std::string(field));
}

Answered<FixedKey> key_of(const std::string& key) {
  if (key.size() > coord::kMaxKeySize) return bad("key");
  return FixedKey(as_bytes(key));
}

template <class Ids>
std::vector<ShardId> ids_of(const Ids& raw) {
  std::vector<ShardId> ids;
  ids.reserve(static_cast<std::size_t>(raw.size()));
  for (const std::uint64_t id : raw)
    ids.push_back(ShardId::from_raw(id));
  return ids;
}

template <class T>
Answered<T> checked(Result<T, BadRequest> read) {
  if (!read) return bad(read.error().field);
  return *std::move(read);
}

// Spec and cursor within the limits that room is made for.
Answered<shard::ShardSpecRef> spec_of(const v1::Spec& spec) {
  const shard::ShardSpecRef read = from_wire(spec);
  if (!shard::validate(read)) return bad("spec");
  return read;
}

Answered<shard::CursorUpdate> cursor_of(const v1::Cursor& cursor) {
  auto read = CAD_TRY(checked(from_wire(cursor, "cursor")));
  if (cursor.last_key().size() > coord::kMaxKeySize || cursor.token().size() > coord::kMaxTokenSize)
    return bad("cursor");
  return read;
}

Answered<std::optional<coord::ParkReason>> park_reason_of(v1::ParkReason reason,
                                                          coord::ShardStatus status) {
  if (status != coord::ShardStatus::kParked) return std::optional<coord::ParkReason>();
  return std::optional(CAD_TRY(enum_of<coord::ParkReason>(reason, "park_reason")));
}

Answered<coord::ShardSummary> summary_of(const v1::ShardSummary& told) {
  coord::ShardSummary shard;
  shard.shard = ShardId::from_raw(told.shard());
  shard.status = CAD_TRY(enum_of<coord::ShardStatus>(told.status(), "status"));
  shard.park_reason = CAD_TRY(park_reason_of(told.park_reason(), shard.status));
  shard.is_leased = told.is_leased();
  if (told.has_deadline()) shard.lease_deadline = LogicalTime::from_raw(told.deadline());
  if (told.has_worker()) shard.owner = WorkerId::from_raw(told.worker());
  shard.fence = FenceEpoch::from_raw(told.fence());
  shard.acquire_count = told.acquires();
  if (told.has_last_key()) shard.last_key = CAD_TRY(key_of(told.last_key()));
  shard.start = CAD_TRY(key_of(told.start()));
  shard.end = CAD_TRY(key_of(told.end()));
  if (told.has_parent()) shard.parent = ShardId::from_raw(told.parent());
  shard.spawned_count = told.spawned();
  return shard;
}

Answered<coord::ShardState> state_of(const v1::Shard& told, const TenantId& tenant) {
  coord::ShardState state;
  state.tenant = tenant;
  state.run = RunId::from_raw(told.run());
  state.shard = ShardId::from_raw(told.shard());
  if (told.has_parent()) state.parent = ShardId::from_raw(told.parent());
  state.semantics = CAD_TRY(enum_of<coord::CursorSemantics>(told.cursor_semantics(), "semantics"));
  state.status = CAD_TRY(enum_of<coord::ShardStatus>(told.status(), "status"));
  state.park_reason = CAD_TRY(park_reason_of(told.park_reason(), state.status));
  if (told.has_worker() != told.has_deadline()) return bad("lease");
  if (told.has_worker()) {
    state.lease = coord::LeaseHolder{WorkerId::from_raw(told.worker()),
                                     LogicalTime::from_raw(told.deadline())};
  }
  state.fence = FenceEpoch::from_raw(told.fence());
  if (static_cast<std::size_t>(told.op_log_size()) > coord::kOpLogCapacity) return bad("op_log");
  for (const v1::OpLogEntry& entry : told.op_log()) {
    if (entry.kind() > std::numeric_limits<std::uint8_t>::max()) return bad("op_log");
    const auto kind = coord::parse_stored<coord::OpKind>(static_cast<std::uint8_t>(entry.kind()));
    if (!kind) return bad("op_log");
    state.op_log.push_back_overwrite({.op_id = OpId::from_raw(entry.op_id()),
                                      .payload_hash = 0,
                                      .executed_at = LogicalTime::from_raw(entry.executed_at()),
                                      .kind = *kind});
  }
  return state;
}

}  // namespace

Answered<coord::RunRecord> decode(const v1::Run& run, const TenantId& tenant) {
  coord::RunRecord record;
  record.tenant = tenant;
  record.run = RunId::from_raw(run.run());
  record.config = CAD_TRY(checked(from_wire(run.config())));
  record.status = CAD_TRY(enum_of<coord::RunStatus>(run.status(), "status"));
  record.created_at = LogicalTime::from_raw(run.created_at());
  if (run.has_completed_at()) record.completed_at = LogicalTime::from_raw(run.completed_at());
  record.root_shards = ids_of(run.root_shards());
  return record;
}

Answered<IdempotentOutcome<std::vector<ShardId>>> decode(const v1::RegisterShardsResponse& answer) {
  const coord::Outcome outcome = CAD_TRY(outcome_of(answer.outcome()));
  return IdempotentOutcome(outcome, ids_of(answer.shards()));
}

Answered<coord::RunProgress> decode(const v1::RunProgress& progress) {
  coord::RunProgress read{
      .total = progress.total(),
      .active = progress.active(),
      .done = progress.done(),
      .split = progress.split(),
      .parked = progress.parked(),
      .leased = progress.leased(),
      .watermark = {},
  };
  if (progress.has_watermark()) read.watermark = CAD_TRY(key_of(progress.watermark()));
  return read;
}

std::vector<RunId> decode(const v1::ListRunsResponse& answer) {
  std::vector<RunId> runs;
  runs.reserve(static_cast<std::size_t>(answer.runs_size()));
  for (const std::uint64_t run : answer.runs())
    runs.push_back(RunId::from_raw(run));
  return runs;
}

Answered<coord::ShardDump> decode(const v1::Shard& shard, const TenantId& tenant) {
  coord::ShardDump dump;
  dump.state = CAD_TRY(state_of(shard, tenant));
  const shard::ShardSpecRef spec = CAD_TRY(spec_of(shard.spec()));
  dump.start = base::to_owned(spec.start());
  dump.end = base::to_owned(spec.end());
  dump.metadata = base::to_owned(spec.metadata());
  const shard::CursorUpdate cursor = CAD_TRY(cursor_of(shard.cursor()));
  dump.last_key = base::to_owned(cursor.last_key().value_or(base::ByteView{}));
  dump.token = base::to_owned(cursor.token().value_or(base::ByteView{}));
  dump.spawned = ids_of(shard.spawned());
  return dump;
}

Answered<std::vector<coord::ShardSummary>> decode(const v1::ListShardsResponse& answer) {
  std::vector<coord::ShardSummary> shards;
  shards.reserve(static_cast<std::size_t>(answer.shards_size()));
  for (const v1::ShardSummary& told : answer.shards())
    shards.push_back(CAD_TRY(summary_of(told)));
  return shards;
}

coord::ClaimCandidates decode(const v1::ListClaimCandidatesResponse& answer) {
  coord::ClaimCandidates candidates{.shards = ids_of(answer.shards()), .earliest_deadline = {}};
  if (answer.has_earliest_deadline())
    candidates.earliest_deadline = LogicalTime::from_raw(answer.earliest_deadline());
  return candidates;
}

Answered<IdempotentOutcome<coord::Unit>> decode(const v1::OutcomeResponse& answer) {
  return IdempotentOutcome(CAD_TRY(outcome_of(answer.outcome())), coord::Unit{});
}

Answered<IdempotentOutcome<FenceEpoch>> decode(const v1::UnparkShardResponse& answer) {
  const coord::Outcome outcome = CAD_TRY(outcome_of(answer.outcome()));
  return IdempotentOutcome(outcome, FenceEpoch::from_raw(answer.fence()));
}

std::size_t decode(const v1::CollectTerminalRunsResponse& answer) noexcept {
  return static_cast<std::size_t>(answer.collected());
}

Answered<coord::AcquireResultView> decode(const v1::Grant& grant,
                                          const TenantId& tenant,
                                          coord::AcquireScratch& out) {
  const coord::Lease lease = CAD_TRY(checked(from_wire(grant.lease(), tenant, "lease")));
  const shard::ShardSpecRef spec = CAD_TRY(spec_of(grant.spec()));
  const shard::CursorUpdate cursor = CAD_TRY(cursor_of(grant.cursor()));
  coord::ShardState state;
  state.semantics =
      CAD_TRY(enum_of<coord::CursorSemantics>(grant.cursor_semantics(), "cursor_semantics"));
  if (grant.has_parent()) state.parent = ShardId::from_raw(grant.parent());
  const auto count = static_cast<std::size_t>(grant.spawned_size());
  if (count > coord::kMaxSpawnedPerShard) return bad("spawned");
  base::Bytes spawned(count * sizeof(std::uint64_t));
  for (std::size_t i = 0; i < count; ++i)
    base::store_le(spawned.data() + i * sizeof(std::uint64_t),
                   std::uint64_t{grant.spawned(static_cast<int>(i))});
  return coord::AcquireResultView{lease,
                                  out.fill({state, spec, cursor, coord::SpawnedView(spawned)}),
                                  from_wire(grant.capacity())};
}

Answered<coord::RenewResult> decode(const v1::RenewResponse& answer) {
  if (answer.deadline() == 0) return bad("deadline");
  return coord::RenewResult{LogicalTime::from_raw(answer.deadline()), from_wire(answer.capacity())};
}

Answered<coord::CoordinationBackend::RenewedLeases> decode(const v1::RenewManyResponse& answer,
                                                           const TenantId& tenant,
                                                           std::size_t count) {
  if (static_cast<std::size_t>(answer.results_size()) != count) return bad("number of results");
  coord::CoordinationBackend::RenewedLeases renewed;
  renewed.reserve(count);
  for (const v1::RenewManyResponse::Result& told : answer.results()) {
    if (told.has_renewed()) {
      renewed.emplace_back(CAD_TRY(decode(told.renewed())));
    } else {
      renewed.emplace_back(base::fail(narrowed<coord::RenewError>(decode(told.error(), tenant))));
    }
  }
  return renewed;
}

Answered<IdempotentOutcome<coord::SplitReplaceResult>> decode(
    const v1::SplitReplaceResponse& answer) {
  const coord::Outcome outcome = CAD_TRY(outcome_of(answer.outcome()));
  if (static_cast<std::size_t>(answer.children_size()) > coord::kMaxSplitChildren)
    return bad("children");
  coord::SplitReplaceResult split;
  for (const std::uint64_t child : answer.children())
    split.children.push_back(ShardId::from_raw(child));
  return IdempotentOutcome(outcome, std::move(split));
}

Answered<IdempotentOutcome<coord::SplitResidualResult>> decode(
    const v1::SplitResidualResponse& answer) {
  const coord::Outcome outcome = CAD_TRY(outcome_of(answer.outcome()));
  return IdempotentOutcome(outcome,
                           coord::SplitResidualResult{ShardId::from_raw(answer.residual())});
}

}  // namespace cadastre::client
