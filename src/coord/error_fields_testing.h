// Errors as the coordination vectors write them: a name and the fields.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/one_of.h"
#include "coord/states.h"
#include "coord/vector_values_testing.h"
#include "shard/manifest.h"
#include "shard/spec_error.h"
#include "shard/split_coverage.h"

namespace cadastre::coord::vectors {

template <class T>
[[nodiscard]] Json optional_json(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

// Of an error that rows describe by its name alone.
template <class E>
[[nodiscard]] Json fields_of(const E& /*error*/) {
  return Json::object();
}
[[nodiscard]] inline Json fields_of(const AlreadyLeased& error) {
  return {{"current_owner", error.unredacted_current_owner().raw()},
          {"lease_deadline", error.deadline().raw()}};
}
[[nodiscard]] inline Json fields_of(const StaleFence& error) {
  return {{"presented", error.presented.raw()}, {"current", error.current.raw()}};
}
[[nodiscard]] inline Json fields_of(const LeaseExpired& error) {
  return {{"deadline", error.deadline.raw()}, {"now", error.now.raw()}};
}
[[nodiscard]] inline Json fields_of(const ShardTerminal& error) {
  return {{"status", name(error.status)}};
}
[[nodiscard]] inline Json fields_of(const OpIdConflict& error) {
  return {{"op_id", error.op_id().raw()}};
}
[[nodiscard]] inline Json fields_of(const CursorRegression& error) {
  return {{"old_len", optional_json(error.old_len)}, {"new_len", optional_json(error.new_len)}};
}
[[nodiscard]] inline Json fields_of(const CursorOutOfBounds& error) {
  return {{"key_len", error.key_len}, {"start_len", error.start_len}, {"end_len", error.end_len}};
}
[[nodiscard]] inline Json fields_of(const CursorKeyTooLarge& error) {
  return {{"size", error.size}, {"max", error.max}};
}
[[nodiscard]] inline Json fields_of(const CursorTokenTooLarge& error) {
  return {{"size", error.size}, {"max", error.max}};
}
[[nodiscard]] inline Json fields_of(const RunTerminal& error) {
  return {{"status", name(error.status)}};
}
[[nodiscard]] inline Json fields_of(const NotParked& error) {
  return {{"status", name(error.status)}};
}
[[nodiscard]] inline Json fields_of(const WrongStatus& error) {
  Json fields = {{"status", name(error.status)}};
  if (error.target) fields["target"] = name(*error.target);
  return fields;
}
[[nodiscard]] inline Json fields_of(const Throttled& error) {
  return {{"retry_after", error.retry_after.raw()}};
}
[[nodiscard]] inline Json fields_of(const NoneAvailable& error) {
  if (!error.earliest_deadline) return {{"earliest_deadline", nullptr}};
  return {{"earliest_deadline", error.earliest_deadline->raw()}};
}

[[nodiscard]] inline std::string_view scope_name(shard::SplitError::Scope scope) {
  switch (scope) {
    case shard::SplitError::Scope::kNone: return "none";
    case shard::SplitError::Scope::kPerTenant: return "per_tenant";
    case shard::SplitError::Scope::kGlobal: return "global";
  }
  return "unknown";
}

[[nodiscard]] inline Json fields_of(const ShardLimitExceeded& error) {
  return {{"current", error.current},
          {"additional", error.additional},
          {"max", error.max},
          {"scope", scope_name(error.scope)}};
}

// The names of an error's values, in their order.
[[nodiscard]] inline std::vector<std::string> value_names(shard::SplitError::Code code) {
  using Code = shard::SplitError::Code;
  switch (code) {
    case Code::kNoChildren:
    case Code::kSingleChild: return {};
    case Code::kTooManyChildren: return {"count", "max"};
    case Code::kStartMismatch: return {"parent_start_len", "first_child_start_len"};
    case Code::kEndMismatch: return {"parent_end_len", "last_child_end_len"};
    case Code::kBoundaryMismatch:
      return {"child_index", "next_child_index", "child_end_len", "next_child_start_len"};
    case Code::kOverlappingChild: return {"child_index", "next_child_index"};
    case Code::kInvertedChild:
    case Code::kInvalidChildSpec:
    case Code::kInvalidChildCursor: return {"child_index"};
    case Code::kParentCursorOutOfBounds: return {"cursor_len", "start_len", "end_len"};
    case Code::kSpawnLimitExceeded:
    case Code::kShardLimitExceeded: return {"current", "additional", "max"};
    case Code::kBackendChildLimitExceeded: return {"requested", "backend_max"};
    case Code::kDerivedIdCollision: return {"id"};
  }
  return {};
}

[[nodiscard]] inline Json fields_of(const shard::SplitError& error) {
  Json fields = {{"scope", scope_name(error.scope)}};
  const auto names = value_names(error.code);
  for (std::size_t i = 0; i < names.size(); ++i)
    fields[names[i]] = error.values.at(i);
  return fields;
}
[[nodiscard]] inline Json fields_of(const SplitInvalid& error) {
  return fields_of(error.reason);
}

// Of a manifest's error all fields; those that its code does not use are 0.
[[nodiscard]] inline Json fields_of(const shard::ManifestError& error) {
  Json reason = {{"name", code_name(error.spec_error)}};
  const bool inverted = error.spec_error.code == shard::SpecError::Code::kInvertedRange;
  reason[inverted ? "start_len" : "size"] = error.spec_error.first;
  reason[inverted ? "end_len" : "max"] = error.spec_error.second;
  return {{"shard", error.shard.raw()},
          {"a", error.shard.raw()},
          {"b", error.other.raw()},
          {"count", error.size},
          {"size", error.size},
          {"max", error.max},
          {"reason", reason}};
}
[[nodiscard]] inline Json fields_of(const ManifestInvalid& error) {
  return fields_of(error.reason);
}

template <class... Alternatives>
[[nodiscard]] Json fields_of(const OneOf<Alternatives...>& error) {
  return error.visit([](const auto& held) { return fields_of(held); });
}

// The name and the fields.
template <class E>
[[nodiscard]] Json described(const E& error) {
  Json json = fields_of(error);
  json["name"] = code_name(error);
  return json;
}

}  // namespace cadastre::coord::vectors
