#include "coord/decide_split.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>

#include "base/bytes.h"
#include "base/inline_vec.h"
#include "base/result.h"
#include "coord/canonical.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/lease_rules.h"
#include "coord/limits.h"
#include "coord/op_log.h"
#include "coord/outcome.h"
#include "coord/shard_change.h"
#include "coord/shard_limits.h"
#include "coord/shard_record.h"
#include "coord/states.h"
#include "shard/cursor.h"
#include "shard/shard_spec.h"
#include "shard/spec_error.h"
#include "shard/split_coverage.h"
#include "shard/split_plan.h"

namespace cadastre::coord {
namespace {

using Reason = shard::SplitError;
using Code = shard::SplitError::Code;
using Order = base::InlineVec<std::uint16_t, kMaxSplitChildren>;

std::unexpected<SplitRuleError> invalid(const Reason& reason) noexcept {
  return base::fail(SplitRuleError(SplitInvalid{reason}));
}

OpLogEntry entry_for(const ShardState& state, LogicalTime now, const LoggedOp& op) noexcept {
  return {.op_id = op.op,
          .payload_hash = op.payload_hash,
          .executed_at = next_executed_at(state.op_log, now),
          .kind = op.kind,
          .result = OpResult::kCompleted};
}

ShardId derive(const ShardState& parent, OpId op, DerivedShardKind kind, std::size_t index) {
  return derive_split_shard_id({.run = parent.run,
                                .parent = parent.shard,
                                .op = op,
                                .kind = kind,
                                .index = static_cast<std::uint32_t>(index)});
}

Result<void, SplitRuleError> check_child_cursor(const shard::SplitReplaceChild& child,
                                                std::size_t index) noexcept {
  const auto key = child.cursor.last_key();
  if (!key) return {};
  const auto token = child.cursor.token();
  const bool fits = key->size() <= kMaxKeySize && (!token || token->size() <= kMaxTokenSize);
  if (!fits ||
      shard::check_cursor_bounds(child.cursor, child.spec) != shard::CursorBounds::kInBounds) {
    return invalid({.code = Code::kInvalidChildCursor, .values = {index}});
  }
  return {};
}

// Coverage first, then the cursors.
Result<void, SplitRuleError> check_children(const ShardSpecRef& parent,
                                            const SplitReplacePlan& plan) {
  const auto children = plan.children();
  base::InlineVec<ShardSpecRef, kMaxSplitChildren> specs;
  for (const auto& child : children)
    specs.push_back(child.spec);
  const auto covered = shard::validate_split_coverage(parent.range(), specs.as_span());
  if (!covered) return invalid(covered.error());
  for (std::size_t i = 0; i < children.size(); ++i)
    CAD_TRY(check_child_cursor(children[i], i));
  return {};
}

Result<void, SplitRuleError> check_room(const ShardRecordView& record,
                                        std::size_t additional,
                                        const SplitSurroundings& surroundings) noexcept {
  const std::size_t current = record.spawned.size();
  if (current + additional > kMaxSpawnedPerShard) {
    return invalid(
        {.code = Code::kSpawnLimitExceeded, .values = {current, additional, kMaxSpawnedPerShard}});
  }
  if (const auto over =
          shard_limit_violation(surroundings.counts, additional, surroundings.limits)) {
    return invalid({.code = Code::kShardLimitExceeded,
                    .scope = over->scope,
                    .values = {over->current, over->additional, over->max}});
  }
  return {};
}

// The plan's children by their starts.
Order start_order(const SplitReplacePlan& plan) {
  const auto children = plan.children();
  Order order;
  for (std::size_t i = 0; i < children.size(); ++i)
    order.push_back(static_cast<std::uint16_t>(i));
  std::ranges::sort(order.as_span(), [&](std::uint16_t a, std::uint16_t b) {
    return base::less(children[a].spec.start(), children[b].spec.start());
  });
  return order;
}

Result<SplitReplaceDecision, SplitRuleError> replayed_replace(const ShardRecordView& record,
                                                              std::size_t count) {
  if (record.spawned.size() < count) {
    return base::fail(SplitRuleError(corruption(
        "split_replace.replay", "the parent lists fewer shards than it was split into")));
  }
  SplitReplaceDecision decision;
  decision.outcome = Outcome::kReplayed;
  for (std::size_t i = record.spawned.size() - count; i < record.spawned.size(); ++i)
    decision.result.children.push_back(record.spawned[i]);
  return decision;
}

// Names that are taken are refused, among themselves too.
Result<void, SplitRuleError> check_fresh(ShardId id,
                                         std::span<const ShardId> siblings,
                                         const SplitSurroundings& surroundings) {
  const bool repeated = std::ranges::find(siblings, id) != siblings.end();
  if (repeated || surroundings.find_start(id)) {
    return invalid({.code = Code::kDerivedIdCollision, .values = {id.raw()}});
  }
  return {};
}

}  // namespace

Result<SplitReplaceDecision, SplitRuleError> decide_split_replace(
    const ShardRecordView& record,
    const LeasedRequest& request,
    const SplitReplacePlan& plan,
    OpId op,
    const SplitSurroundings& surroundings) {
  const std::size_t count = plan.children().size();
  const LoggedOp logged{op, OpKind::kSplitReplace, hash_split_replace(plan)};
  if (CAD_TRY(pass_gate(record.state, request, logged)) == Outcome::kReplayed) {
    return replayed_replace(record, count);
  }
  if (count > surroundings.children_max) {
    return invalid(
        {.code = Code::kBackendChildLimitExceeded, .values = {count, surroundings.children_max}});
  }
  CAD_TRY(check_children(record.spec, plan));
  CAD_TRY(check_room(record, count, surroundings));

  SplitReplaceDecision decision;
  decision.order = start_order(plan);
  for (std::size_t i = 0; i < count; ++i) {
    const ShardId id =
        derive(record.state, op, DerivedShardKind::kChild, record.spawned.size() + i);
    CAD_TRY(check_fresh(id, decision.result.children.as_span(), surroundings));
    decision.result.children.push_back(id);
  }
  decision.parent = unchanged(record.state);
  decision.parent.status = ShardStatus::kSplit;
  decision.parent.lease = std::nullopt;
  decision.parent.entry = entry_for(record.state, request.now, logged);
  return decision;
}

namespace {

// The shard that this op id has split off before, however long ago.
std::optional<ShardId> find_residual(const ShardRecordView& record, OpId op) {
  for (std::size_t i = 0; i < record.spawned.size(); ++i) {
    const ShardId candidate = record.spawned[i];
    if (derive(record.state, op, DerivedShardKind::kResidual, i) == candidate) return candidate;
  }
  return std::nullopt;
}

SplitResidualDecision replayed_residual(ShardId residual) noexcept {
  SplitResidualDecision decision;
  decision.outcome = Outcome::kReplayed;
  decision.result.residual = residual;
  return decision;
}

// The second tier of replay detection: the op-log has forgotten, the list of spawned shards has not.
// A shard's start never changes, so it tells the same request from another one.
Result<std::optional<ShardId>, SplitRuleError> probe_spawned(
    const ShardRecordView& record,
    const SplitResidualPlan& plan,
    const LoggedOp& logged,
    const SplitSurroundings& surroundings) {
  const auto found = find_residual(record, logged.op);
  if (!found) return std::nullopt;
  const auto start = surroundings.find_start(*found);
  if (!start) {
    return base::fail(
        SplitRuleError(corruption("split_residual.probe", "a spawned shard has no record")));
  }
  if (!base::equal(*start, plan.residual().start())) {
    return base::fail(SplitRuleError(OpIdConflict(logged.op, 0, logged.payload_hash)));
  }
  return found;
}

bool is_too_large(const ShardSpecRef& spec) noexcept {
  const auto valid = shard::validate(spec);
  return !valid && valid.error().code != shard::SpecError::Code::kInvertedRange;
}

// Sizes, coverage, and that the parent's cursor stays inside what it keeps.
Result<void, SplitRuleError> check_residual_plan(const ShardRecordView& record,
                                                 const SplitResidualPlan& plan) noexcept {
  if (is_too_large(plan.new_parent())) {
    return invalid({.code = Code::kInvalidChildSpec, .values = {0}});
  }
  if (is_too_large(plan.residual())) {
    return invalid({.code = Code::kInvalidChildSpec, .values = {1}});
  }
  const auto covered =
      shard::validate_residual_split(record.spec.range(), plan.new_parent(), plan.residual());
  if (!covered) return invalid(covered.error());
  const auto key = record.cursor.last_key();
  if (key && !plan.new_parent().contains_key(*key)) {
    return invalid({.code = Code::kParentCursorOutOfBounds,
                    .values = {key->size(), plan.new_parent().start().size(),
                               plan.new_parent().end().size()}});
  }
  return {};
}

}  // namespace

Result<SplitResidualDecision, SplitRuleError> decide_split_residual(
    const ShardRecordView& record,
    const LeasedRequest& request,
    const SplitResidualPlan& plan,
    OpId op,
    const SplitSurroundings& surroundings) {
  const LoggedOp logged{op, OpKind::kSplitResidual, hash_split_residual(plan)};
  CAD_TRY(check_tenant(record.state, request));
  if (CAD_TRY(check_op_idempotency(record.state, logged)) == Outcome::kReplayed) {
    const auto residual = find_residual(record, op);
    if (!residual) {
      return base::fail(SplitRuleError(
          corruption("split_residual.replay", "the parent does not list the shard it gave away")));
    }
    return replayed_residual(*residual);
  }
  if (const auto residual = CAD_TRY(probe_spawned(record, plan, logged, surroundings))) {
    return replayed_residual(*residual);
  }
  CAD_TRY(check_lease(record.state, request));
  CAD_TRY(check_residual_plan(record, plan));
  CAD_TRY(check_room(record, 1, surroundings));

  SplitResidualDecision decision;
  decision.result.residual =
      derive(record.state, op, DerivedShardKind::kResidual, record.spawned.size());
  CAD_TRY(check_fresh(decision.result.residual, {}, surroundings));
  decision.parent = unchanged(record.state);
  decision.parent.spec = plan.new_parent();
  decision.parent.entry = entry_for(record.state, request.now, logged);
  return decision;
}

}  // namespace cadastre::coord
