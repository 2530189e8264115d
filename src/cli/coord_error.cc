#include "cli/coord_error.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "cli/command_error.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/states.h"
#include "shard/manifest.h"
#include "shard/split_coverage.h"

namespace cadastre::cli {
namespace {

using ManifestCode = shard::ManifestError::Code;
using SplitCode = shard::SplitError::Code;
using Scope = shard::SplitError::Scope;

// What the numbers of a split's error are called, as many as there are.
using ValueNames = std::array<std::string_view, 4>;

ValueNames value_names(SplitCode code) noexcept {
  switch (code) {
    case SplitCode::kTooManyChildren: return {"count", "max"};
    case SplitCode::kNoChildren:
    case SplitCode::kSingleChild: return {};
    case SplitCode::kStartMismatch: return {"parent_start_len", "child_start_len"};
    case SplitCode::kEndMismatch: return {"parent_end_len", "child_end_len"};
    case SplitCode::kBoundaryMismatch:
      return {"child_index", "next_child_index", "child_end_len", "next_child_start_len"};
    case SplitCode::kOverlappingChild: return {"child_index", "next_child_index"};
    case SplitCode::kInvertedChild:
    case SplitCode::kInvalidChildSpec:
    case SplitCode::kInvalidChildCursor: return {"child_index"};
    case SplitCode::kParentCursorOutOfBounds: return {"cursor_len", "start_len", "end_len"};
    case SplitCode::kSpawnLimitExceeded:
    case SplitCode::kShardLimitExceeded: return {"current", "additional", "max"};
    case SplitCode::kBackendChildLimitExceeded: return {"requested", "backend_max"};
    case SplitCode::kDerivedIdCollision: return {"shard"};
  }
  return {};
}

void add_scope(ErrorFields& fields, Scope scope) {
  switch (scope) {
    case Scope::kNone: return;
    case Scope::kPerTenant: fields.push_back({"scope", "tenant"}); return;
    case Scope::kGlobal: fields.push_back({"scope", "global"}); return;
  }
}

ErrorFields of_key(const coord::ShardKey& key) {
  return {{"run", key.run.raw()}, {"shard", key.shard.raw()}};
}

}  // namespace

Retry retry_of(coord::RetryAdvice advice) noexcept {
  switch (advice) {
    case coord::RetryAdvice::kNever: return Retry::kNever;
    case coord::RetryAdvice::kNow: return Retry::kNow;
    case coord::RetryAdvice::kLater: return Retry::kLater;
  }
  return Retry::kNever;
}

ErrorFields fields_of(const coord::ShardNotFound& error) {
  return of_key(error.key);
}
ErrorFields fields_of(const coord::StaleFence& error) {
  return {{"presented", error.presented.raw()}, {"current", error.current.raw()}};
}
ErrorFields fields_of(const coord::LeaseExpired& error) {
  return {{"deadline", error.deadline.raw()}, {"now", error.now.raw()}};
}
ErrorFields fields_of(const coord::ShardTerminal& error) {
  ErrorFields fields = of_key(error.key);
  fields.push_back({"status", coord::name(error.status)});
  return fields;
}
ErrorFields fields_of(const coord::OpIdConflict& error) {
  return {{"op_id", error.op_id().raw()}};
}
ErrorFields fields_of(const coord::RunOpIdConflict& error) {
  return {{"op_id", error.op_id.raw()}};
}
ErrorFields fields_of(const coord::CursorRegression& error) {
  ErrorFields fields;
  if (error.old_len) fields.push_back({"old_len", *error.old_len});
  if (error.new_len) fields.push_back({"new_len", *error.new_len});
  return fields;
}
ErrorFields fields_of(const coord::CursorOutOfBounds& error) {
  return {{"key_len", error.key_len}, {"start_len", error.start_len}, {"end_len", error.end_len}};
}
ErrorFields fields_of(const coord::CursorKeyTooLarge& error) {
  return {{"size", error.size}, {"max", error.max}};
}
ErrorFields fields_of(const coord::CursorTokenTooLarge& error) {
  return {{"size", error.size}, {"max", error.max}};
}
ErrorFields fields_of(const coord::SplitInvalid& error) {
  ErrorFields fields;
  const ValueNames names = value_names(error.reason.code);
  for (std::size_t i = 0; i < names.size() && !names.at(i).empty(); ++i)
    fields.push_back({names.at(i), error.reason.values.at(i)});
  add_scope(fields, error.reason.scope);
  return fields;
}
ErrorFields fields_of(const coord::AlreadyLeased& error) {
  return {{"deadline", error.deadline().raw()}};
}
ErrorFields fields_of(const coord::RunTerminal& error) {
  return {{"status", coord::name(error.status)}};
}
ErrorFields fields_of(const coord::NotParked& error) {
  return {{"status", coord::name(error.status)}};
}
ErrorFields fields_of(const coord::ResourceExhausted& error) {
  return {{"requested", std::uint64_t{error.slab.requested}},
          {"available", std::uint64_t{error.slab.available}}};
}
ErrorFields fields_of(const coord::RunNotFound& error) {
  return {{"run", error.run.raw()}};
}
ErrorFields fields_of(const coord::RunAlreadyExists& error) {
  return {{"run", error.run.raw()}};
}
ErrorFields fields_of(const coord::WrongStatus& error) {
  ErrorFields fields{{"status", coord::name(error.status)}};
  if (error.target) fields.push_back({"target", coord::name(*error.target)});
  return fields;
}
ErrorFields fields_of(const coord::ManifestInvalid& error) {
  const shard::ManifestError& reason = error.reason;
  switch (reason.code) {
    case ManifestCode::kTooManyShards: return {{"count", reason.size}, {"max", reason.max}};
    case ManifestCode::kEmpty: return {};
    case ManifestCode::kDerivedShardId:
    case ManifestCode::kDuplicateIds:
    case ManifestCode::kUnboundedRange:
    case ManifestCode::kInvalidSpec:
    case ManifestCode::kCursorOutOfBounds: return {{"shard", reason.shard.raw()}};
    case ManifestCode::kOverlappingRanges:
      return {{"shard", reason.shard.raw()}, {"other", reason.other.raw()}};
    case ManifestCode::kCursorKeyTooLarge:
    case ManifestCode::kCursorTokenTooLarge:
      return {{"shard", reason.shard.raw()}, {"size", reason.size}, {"max", reason.max}};
  }
  return {};
}
ErrorFields fields_of(const coord::ShardLimitExceeded& error) {
  ErrorFields fields{
      {"current", error.current}, {"additional", error.additional}, {"max", error.max}};
  add_scope(fields, error.scope);
  return fields;
}
ErrorFields fields_of(const coord::TooManyLeases& error) {
  return {{"count", error.count}, {"max", error.max}};
}
ErrorFields fields_of(const coord::NoneAvailable& error) {
  if (!error.earliest_deadline) return {};
  return {{"earliest_deadline", error.earliest_deadline->raw()}};
}
ErrorFields fields_of(const coord::Throttled& error) {
  return {{"retry_after", error.retry_after.raw()}};
}

}  // namespace cadastre::cli
