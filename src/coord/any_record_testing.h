// Records that hold every invariant, made of choices: a fuzzer's bytes, or a property's dice.
//
// `Choices` has below(bound) for a number under `bound`, number() for any 64-bit one, and
// string(bytes_max). Keys are short, so that cursors and ranges meet.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "coord/backend.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/limits.h"
#include "coord/op_log.h"
#include "coord/record_codec.h"
#include "coord/run_record.h"
#include "coord/states.h"
#include "shard/limits.h"
#include "shard/shard_spec.h"

namespace cadastre::coord::testing {

inline constexpr std::size_t kAnyBytesMax = 12;

template <class Choices>
[[nodiscard]] std::uint64_t any_nonzero(Choices& from) {
  return std::max<std::uint64_t>(from.number(), 1);
}

template <class Choices>
[[nodiscard]] TenantId any_tenant(Choices& from) {
  TenantId::Bytes bytes{};
  bytes.fill(static_cast<std::byte>(from.below(256)));
  bytes.back() = static_cast<std::byte>(from.below(256));
  return TenantId::from_bytes(bytes);
}

// Distinct ids, each with the bits of `base`: few, or some. Lists at their limits are left to tests
// that need no thousands of cases.
template <class Choices>
[[nodiscard]] std::vector<ShardId> any_ids(Choices& from, std::uint64_t base) {
  const std::size_t size = from.below(8) == 7 ? from.below(40) : from.below(4);
  const std::uint64_t first = from.below(1000);
  std::vector<ShardId> ids;
  ids.reserve(size);
  for (std::size_t i = 0; i < size; ++i)
    ids.push_back(ShardId::from_raw(base | (first + i * 7)));
  return ids;
}

// Up to a full log. Op ids are distinct, times do not decrease.
template <class Log, class Choices, class Fill>
void fill_log(Choices& from, std::size_t capacity, Log& log, const Fill& fill) {
  const std::uint64_t first_op = from.number();
  LogicalTime now = LogicalTime::from_raw(1 + from.below(1000));
  for (std::size_t left = from.below(capacity + 1); left > 0; --left) {
    auto entry = fill();
    entry.op_id = OpId::from_raw(first_op + left);
    entry.payload_hash = any_nonzero(from);
    entry.executed_at = now;
    now = saturating_add(now, from.below(8) == 7 ? from.number() : from.below(3));
    log.push_back_overwrite(std::move(entry));
  }
}

// A legal range with metadata, and perhaps a cursor inside it.
template <class Choices>
void choose_bytes(Choices& from, ShardDump& shard) {
  shard.start = from.string(kAnyBytesMax);
  shard.end = from.string(kAnyBytesMax);
  if (!shard.start.empty() && !shard.end.empty()) {
    if (shard.start == shard.end) shard.end.push_back(std::byte{0});
    if (base::less(shard.end, shard.start)) std::swap(shard.start, shard.end);
  }
  shard.metadata = from.string(kAnyBytesMax);
  const base::Bytes key = from.below(4) == 3 ? shard.start : from.string(kAnyBytesMax);
  const auto spec = shard::ShardSpecRef::unchecked(shard.start, shard.end);
  if (key.empty() || !spec.contains_key(key)) return;
  shard.last_key = key;
  shard.token = from.string(kAnyBytesMax);
}

template <class Choices>
[[nodiscard]] ShardDump any_shard(Choices& from) {
  ShardDump shard;
  ShardState& state = shard.state;
  state.tenant = any_tenant(from);
  state.run = RunId::from_raw(from.number());
  state.shard = ShardId::from_raw(from.number());
  if (state.shard.is_derived()) state.parent = ShardId::from_raw(from.number());
  state.semantics = static_cast<CursorSemantics>(from.below(2));
  state.status = static_cast<ShardStatus>(from.below(4));
  if (state.status == ShardStatus::kParked) {
    state.park_reason = static_cast<ParkReason>(from.below(5));
  }
  if (state.status == ShardStatus::kActive && from.below(2) == 1) {
    const auto owner = WorkerId::from_raw(from.number());
    state.lease = LeaseHolder{owner, LogicalTime::from_raw(any_nonzero(from))};
  }
  state.fence = FenceEpoch::from_raw(any_nonzero(from));
  choose_bytes(from, shard);
  shard.spawned = any_ids(from, shard::kDerivedShardBit);
  if (state.status == ShardStatus::kSplit && shard.spawned.empty()) {
    shard.spawned.push_back(ShardId::from_raw(shard::kDerivedShardBit));
  }
  fill_log(from, kOpLogCapacity, state.op_log, [&from] {
    OpLogEntry entry;
    entry.kind = static_cast<OpKind>(from.below(7));
    entry.result = static_cast<OpResult>(from.below(3));
    return entry;
  });
  return shard;
}

template <class Choices>
[[nodiscard]] RunRecord any_run(Choices& from) {
  RunRecord run;
  run.tenant = any_tenant(from);
  run.run = RunId::from_raw(from.number());
  run.config.cursor_semantics = static_cast<CursorSemantics>(from.below(2));
  run.config.lease_duration = any_nonzero(from);
  if (from.below(2) == 1) {
    run.config.max_shard_retries = static_cast<std::uint32_t>(from.number());
  }
  run.status = static_cast<RunStatus>(from.below(5));
  run.created_at = LogicalTime::from_raw(any_nonzero(from));
  if (is_terminal(run.status)) {
    run.completed_at = saturating_add(run.created_at, from.number());
  }
  if (run.status != RunStatus::kInitializing) {
    run.root_shards = any_ids(from, 0);
  }
  if (run.status == RunStatus::kActive && run.root_shards.empty()) run.root_shards.emplace_back();
  fill_log(from, kRunOpLogCapacity, run.op_log, [&from] {
    RunOpLogEntry entry;
    entry.kind = static_cast<RunOpKind>(from.below(4));
    if (entry.kind == RunOpKind::kRegisterShards) {
      entry.registered = any_ids(from, 0);
      if (entry.registered.empty()) entry.registered.emplace_back();
    }
    return entry;
  });
  return run;
}

template <class Choices>
[[nodiscard]] OwnerValue any_owner(Choices& from) {
  const auto worker = WorkerId::from_raw(from.number());
  return {worker, FenceEpoch::from_raw(any_nonzero(from))};
}

}  // namespace cadastre::coord::testing
