// The suite's words: 10_t, 1_w and 7_op for times, workers and requests; executed(), replayed() and
// refusal() for answers; texts for whatever a failed expectation prints.

#pragma once

#include <concepts>
#include <expected>
#include <optional>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "coord/backend.h"
#include "coord/decide_split.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/op_log.h"
#include "coord/outcome.h"
#include "coord/shard_record.h"
#include "coord/states.h"
#include "shard/bytes_testing.h"
#include "shard/shard_spec.h"
#include "shard/split_plan.h"

namespace cadastre::coord {

template <class E>
  requires requires(const E& error) {
    { to_text(error) } -> std::same_as<std::string>;
  }
// NOLINTNEXTLINE(readability-identifier-naming): GoogleTest looks for this name
void PrintTo(const E& error, std::ostream* out) {
  *out << code_name(error) << " (" << to_text(error) << ")";
}

// NOLINTNEXTLINE(readability-identifier-naming): GoogleTest looks for this name
inline void PrintTo(const ShardDump& shard, std::ostream* out) {
  *out << "shard " << shard.state.shard.raw() << " [" << base::to_hex(shard.start) << ", "
       << base::to_hex(shard.end) << ") " << name(shard.state.status) << " "
       << to_string(shard.state.fence) << " at " << base::to_hex(shard.last_key) << "/"
       << base::to_hex(shard.token) << ", spawned " << shard.spawned.size() << ", lease ";
  if (shard.state.lease) {
    *out << shard.state.lease->owner << " until " << shard.state.lease->deadline;
  } else {
    *out << "none";
  }
  *out << ", log";
  for (const OpLogEntry& entry : shard.state.op_log)
    *out << " " << entry.op_id.raw() << ":" << name(entry.kind) << "@" << entry.executed_at.raw();
}

}  // namespace cadastre::coord

namespace cadastre::coord::conformance {

using shard::SplitReplaceChild;
using shard::testing::repeated;
using shard::testing::operator""_b;

// Literals are unsigned long long by the language's rule.
// NOLINTBEGIN(google-runtime-int)
constexpr LogicalTime operator""_t(unsigned long long raw) {
  return LogicalTime::from_raw(raw);
}
constexpr WorkerId operator""_w(unsigned long long raw) {
  return WorkerId::from_raw(raw);
}
constexpr OpId operator""_op(unsigned long long raw) {
  return OpId::from_raw(raw);
}
constexpr RunId operator""_run(unsigned long long raw) {
  return RunId::from_raw(raw);
}
constexpr ShardId operator""_id(unsigned long long raw) {
  return ShardId::from_raw(raw);
}
constexpr FenceEpoch operator""_fence(unsigned long long raw) {
  return FenceEpoch::from_raw(raw);
}
// NOLINTEND(google-runtime-int)

[[nodiscard]] inline ShardSpecRef spec(ByteView start, ByteView end, ByteView metadata = {}) {
  return ShardSpecRef::unchecked(start, end, metadata);
}
[[nodiscard]] inline SplitReplaceChild child(ByteView start,
                                             ByteView end,
                                             CursorUpdate cursor = CursorUpdate::initial()) {
  return {spec(start, end), cursor};
}
// [start, point) stays, [point, end) goes.
[[nodiscard]] inline SplitResidualPlan cut(ByteView start, ByteView point, ByteView end) {
  return SplitResidualPlan::try_make(spec(start, point), spec(point, end)).value();
}

[[nodiscard]] inline LeaseParts parts_of(const Lease& lease) {
  return {.tenant = lease.tenant(),
          .key = lease.shard_key(),
          .owner = lease.owner(),
          .fence = lease.fence(),
          .deadline = lease.deadline()};
}
// The same lease in another's name.
[[nodiscard]] inline Lease forged(const Lease& lease, WorkerId owner) {
  LeaseParts parts = parts_of(lease);
  parts.owner = owner;
  return Lease::granted(parts);
}

template <class T, class E>
[[nodiscard]] testing::AssertionResult answered(
    const std::expected<IdempotentOutcome<T>, E>& answer, Outcome wanted) {
  if (!answer) return testing::AssertionFailure() << "refused: " << to_text(answer.error());
  if (answer->outcome() == wanted) return testing::AssertionSuccess();
  return testing::AssertionFailure() << (answer->is_replay() ? "replayed" : "executed");
}
template <class T, class E>
[[nodiscard]] testing::AssertionResult executed(
    const std::expected<IdempotentOutcome<T>, E>& answer) {
  return answered(answer, Outcome::kExecuted);
}
template <class T, class E>
[[nodiscard]] testing::AssertionResult replayed(
    const std::expected<IdempotentOutcome<T>, E>& answer) {
  return answered(answer, Outcome::kReplayed);
}

// The error, or nothing if there was none.
template <class T, class E>
[[nodiscard]] std::optional<E> refusal(const std::expected<T, E>& answer) {
  if (answer) return std::nullopt;
  return answer.error();
}

}  // namespace cadastre::coord::conformance
