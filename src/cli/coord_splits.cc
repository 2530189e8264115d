#include "cli/coord_splits.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "cli/command_error.h"
#include "cli/coord_error.h"
#include "cli/coord_request.h"
#include "cli/coord_session.h"
#include "cli/coord_shard_answer.h"
#include "coord/backend.h"
#include "coord/canonical.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/lease_rules.h"
#include "coord/op_log.h"
#include "coord/states.h"
#include "shard/cursor.h"
#include "shard/hint.h"
#include "shard/key_buf.h"
#include "shard/limits.h"
#include "shard/shard_arena.h"
#include "shard/shard_spec.h"
#include "shard/split_hints.h"
#include "shard/split_plan.h"
#include "shard/typed_keys.h"

namespace cadastre::cli {
namespace {

using base::ByteView;
using coord::ShardDump;

// What the children of a shard without metadata get: a length and the hint that says nothing.
constexpr std::size_t kRangeMetadataBytes = 5;

Result<ShardDump, CommandError> read_shard(CoordSession& session,
                                           const coord::TenantId& tenant,
                                           const coord::ShardKey& key) {
  auto shard = session.backend.get_shard(tenant, key);
  if (!shard) return base::fail(from_coord(shard.error()));
  return *std::move(shard);
}

shard::ShardSpecRef spec_of(const ShardDump& shard) noexcept {
  return shard::ShardSpecRef::unchecked(shard.start, shard.end, shard.metadata);
}

// Room for a plan of this shard with children between these points.
shard::ShardArena arena_for(const ShardDump& shard, std::span<const ByteView> points) {
  std::size_t key_max = std::max(shard.start.size(), shard.end.size());
  for (const ByteView point : points)
    key_max = std::max(key_max, point.size());
  key_max = std::min(key_max, shard::kMaxKeySize);  // What is longer is never stored.
  const std::size_t metadata_max = std::max(shard.metadata.size(), kRangeMetadataBytes);
  const std::size_t children = std::min(points.size() + 1, shard::kMaxSplitChildren);
  const std::uint64_t bytes = shard::arena_bytes_for(children, static_cast<std::uint32_t>(key_max),
                                                     static_cast<std::uint32_t>(metadata_max));
  return {static_cast<std::uint32_t>(children), static_cast<std::uint32_t>(bytes)};
}

// The shard that this op id has split off.
std::optional<coord::ShardId> find_residual(const ShardDump& parent, coord::OpId op) {
  for (std::size_t i = 0; i < parent.spawned.size(); ++i) {
    const coord::ShardId derived =
        coord::derive_split_shard_id({.run = parent.state.run,
                                      .parent = parent.state.shard,
                                      .op = op,
                                      .kind = coord::DerivedShardKind::kResidual,
                                      .index = static_cast<std::uint32_t>(i)});
    if (derived == parent.spawned[i]) return derived;
  }
  return std::nullopt;
}

// Why a plan that cannot be made is refused.
CommandError refusal(const ShardDump& shard,
                     const coord::LeasedRequest& request,
                     coord::OpId op,
                     const shard::PlanError& error) {
  if (coord::find_op(shard.state.op_log, op) != nullptr || find_residual(shard, op)) {
    return from_coord(coord::OpIdConflict(op, 0, 0));
  }
  if (const auto leased = coord::check_lease(shard.state, request); !leased) {
    return from_coord(leased.error());
  }
  if (error.code == shard::PlanError::Code::kInvalidCoverage) {
    return from_coord(coord::SplitInvalid{error.coverage});
  }
  return from_algebra(error);
}

// Where the shard ended when it was made. Of the shards that it split off, the first took what is
// at its end; a child of a replacement begins inside.
Result<base::Bytes, CommandError> original_end(CoordSession& session,
                                               const coord::TenantId& tenant,
                                               ShardDump shard) {
  while (!shard.spawned.empty() && !shard.end.empty()) {
    ShardDump first =
        CAD_TRY(read_shard(session, tenant, {shard.state.run, shard.spawned.front()}));
    if (base::less(first.start, shard.end)) break;
    shard = std::move(first);
  }
  return std::move(shard.end);
}

// Gives back what was split off at the end: the range, and the rows where the hint counts them.
void extend_to(base::Bytes end, ShardDump& shard) {
  const auto metadata = shard::decode_metadata_bytes(shard.metadata);
  const auto end_row = shard::decode_manifest_row_key(end);
  shard.end = std::move(end);
  if (!metadata || metadata->hint.kind() != shard::ShardHint::Kind::kManifest || !end_row) return;
  shard::ManifestRows rows = metadata->hint.manifest_rows();
  rows.end_row = end_row->row;
  shard::MetadataBuf buffer;
  const auto widened = shard::encode_into(
      shard::ShardMetadata(shard::ShardHint(rows), metadata->connector_extra), buffer);
  if (widened) shard.metadata = base::to_owned(*widened);
}

// The shard as this op id found it, or finds it now.
Result<ShardDump, CommandError> read_before_split(CoordSession& session,
                                                  const coord::TenantId& tenant,
                                                  const coord::ShardKey& key,
                                                  coord::OpId op) {
  ShardDump shard = CAD_TRY(read_shard(session, tenant, key));
  const auto residual = find_residual(shard, op);
  if (!residual) return shard;
  ShardDump split_off = CAD_TRY(read_shard(session, tenant, {key.run, *residual}));
  extend_to(CAD_TRY(original_end(session, tenant, std::move(split_off))), shard);
  return shard;
}

}  // namespace

Result<std::string, CommandError> split_replace(CoordSession& session,
                                                const Caller& caller,
                                                const coord::Lease& lease,
                                                std::span<const base::Bytes> points,
                                                coord::OpId op) {
  const ShardDump shard = CAD_TRY(read_shard(session, caller.tenant, lease.shard_key()));
  const std::vector<ByteView> cuts(points.begin(), points.end());
  shard::ShardArena arena = arena_for(shard, cuts);
  const auto initial = [](std::size_t, const shard::ShardSpecRef&) {
    return shard::CursorUpdate::initial();
  };
  const auto planned = shard::plan_split_replace_with_hints(spec_of(shard), cuts, initial, arena);
  if (!planned) {
    return base::fail(refusal(shard, {caller.now, caller.tenant, lease}, op, planned.error()));
  }
  const auto split =
      session.backend.split_replace(caller.now, caller.tenant, lease, planned->plan, op);
  if (!split) return base::fail(from_coord(split.error()));
  return replaced_answer(*split, planned->plan, session.form);
}

Result<std::string, CommandError> split_residual(CoordSession& session,
                                                 const Caller& caller,
                                                 const coord::Lease& lease,
                                                 ByteView point,
                                                 coord::OpId op) {
  const ShardDump shard = CAD_TRY(read_before_split(session, caller.tenant, lease.shard_key(), op));
  shard::ShardArena arena = arena_for(shard, std::span(&point, 1));
  const auto planned = shard::plan_split_residual_with_hints(spec_of(shard), point, arena);
  if (!planned) {
    return base::fail(refusal(shard, {caller.now, caller.tenant, lease}, op, planned.error()));
  }
  const auto split =
      session.backend.split_residual(caller.now, caller.tenant, lease, planned->plan, op);
  if (!split) return base::fail(from_coord(split.error()));
  return residual_answer(*split, planned->plan.new_parent(), session.form);
}

}  // namespace cadastre::cli
