#include "coord/errors.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "coord/identity.h"
#include "coord/states.h"
#include "shard/manifest.h"
#include "shard/split_coverage.h"

namespace cadastre::coord {
namespace {

// The algebra writes its texts into a buffer; none is longer than this.
constexpr std::size_t kAlgebraTextMax = 512;

template <class E>
std::string algebra_text(const E& error) {
  std::string text(kAlgebraTextMax, '\0');
  const char* const end = format_to(text.data(), text.data() + text.size(), error);
  text.resize(static_cast<std::size_t>(end - text.data()));
  return text;
}

std::string length_text(const std::optional<std::uint64_t>& length) {
  return length ? fmt::format("[{} bytes]", *length) : "None";
}

std::string shard_text(const ShardKey& key) {
  return fmt::format("shard {} of run {}", key.shard.raw(), key.run.raw());
}

std::string_view scope_text(shard::SplitError::Scope scope) {
  switch (scope) {
    case shard::SplitError::Scope::kNone: return "";
    case shard::SplitError::Scope::kPerTenant: return " of the tenant";
    case shard::SplitError::Scope::kGlobal: return " of the whole registry";
  }
  return "";
}

}  // namespace

std::string_view code_name(const ShardNotFound& /*error*/) noexcept {
  return "shard_not_found";
}
std::string to_text(const ShardNotFound& error) {
  return fmt::format("there is no {}; check both ids", shard_text(error.key));
}
RetryAdvice retry_advice(const ShardNotFound& /*error*/) noexcept {
  return RetryAdvice::kNever;
}

std::string_view code_name(const TenantMismatch& /*error*/) noexcept {
  return "tenant_mismatch";
}
std::string to_text(const TenantMismatch& error) {
  return fmt::format(
      "the request does not belong to {}; use the tenant that the lease was granted to",
      to_string(error.expected));
}
RetryAdvice retry_advice(const TenantMismatch& /*error*/) noexcept {
  return RetryAdvice::kNever;
}

std::string_view code_name(const StaleFence& /*error*/) noexcept {
  return "stale_fence";
}
std::string to_text(const StaleFence& error) {
  return fmt::format(
      "the lease is of epoch {} and the shard is at epoch {} or no longer held; stop working on "
      "the "
      "shard and acquire it again",
      error.presented.raw(), error.current.raw());
}
RetryAdvice retry_advice(const StaleFence& /*error*/) noexcept {
  return RetryAdvice::kNever;
}

std::string_view code_name(const LeaseExpired& /*error*/) noexcept {
  return "lease_expired";
}
std::string to_text(const LeaseExpired& error) {
  return fmt::format(
      "the lease ended at {} and it is {}; stop working on the shard and acquire it again",
      error.deadline.raw(), error.now.raw());
}
RetryAdvice retry_advice(const LeaseExpired& /*error*/) noexcept {
  return RetryAdvice::kNever;
}

std::string_view code_name(const ShardTerminal& /*error*/) noexcept {
  return "shard_terminal";
}
std::string to_text(const ShardTerminal& error) {
  return fmt::format("{} is {}; drop it", shard_text(error.key), name(error.status));
}
RetryAdvice retry_advice(const ShardTerminal& /*error*/) noexcept {
  return RetryAdvice::kNever;
}

std::string_view code_name(const OpIdConflict& /*error*/) noexcept {
  return "op_id_conflict";
}
std::string to_text(const OpIdConflict& error) {
  return fmt::format(
      "op id {} was used for another request (payload hashes <redacted>); use a fresh op id for "
      "each "
      "request",
      error.op_id().raw());
}
RetryAdvice retry_advice(const OpIdConflict& /*error*/) noexcept {
  return RetryAdvice::kNever;
}

std::string_view code_name(const CursorRegression& /*error*/) noexcept {
  return "cursor_regression";
}
std::string to_text(const CursorRegression& error) {
  return fmt::format("the last key {} is below the stored one {}; a cursor only moves forward",
                     length_text(error.new_len), length_text(error.old_len));
}
RetryAdvice retry_advice(const CursorRegression& /*error*/) noexcept {
  return RetryAdvice::kNever;
}

std::string_view code_name(const CursorOutOfBounds& /*error*/) noexcept {
  return "cursor_out_of_bounds";
}
std::string to_text(const CursorOutOfBounds& error) {
  return fmt::format(
      "the last key [{} bytes] is outside the shard's range [{} bytes] to [{} bytes]; a split may "
      "have "
      "moved its end",
      error.key_len, error.start_len, error.end_len);
}
RetryAdvice retry_advice(const CursorOutOfBounds& /*error*/) noexcept {
  return RetryAdvice::kNever;
}

std::string_view code_name(const CursorKeyTooLarge& /*error*/) noexcept {
  return "cursor_key_too_large";
}
std::string to_text(const CursorKeyTooLarge& error) {
  return fmt::format("the last key has {} bytes, the limit is {}", error.size, error.max);
}
RetryAdvice retry_advice(const CursorKeyTooLarge& /*error*/) noexcept {
  return RetryAdvice::kNever;
}

std::string_view code_name(const CursorTokenTooLarge& /*error*/) noexcept {
  return "cursor_token_too_large";
}
std::string to_text(const CursorTokenTooLarge& error) {
  return fmt::format("the token has {} bytes, the limit is {}", error.size, error.max);
}
RetryAdvice retry_advice(const CursorTokenTooLarge& /*error*/) noexcept {
  return RetryAdvice::kNever;
}

std::string_view code_name(const CheckpointMissingKey& /*error*/) noexcept {
  return "checkpoint_missing_key";
}
std::string to_text(const CheckpointMissingKey& /*error*/) {
  return "a checkpoint needs a last key; an empty shard completes at its start key";
}
RetryAdvice retry_advice(const CheckpointMissingKey& /*error*/) noexcept {
  return RetryAdvice::kNever;
}

std::string_view code_name(const SplitInvalid& error) noexcept {
  return code_name(error.reason);
}
std::string to_text(const SplitInvalid& error) {
  return algebra_text(error.reason);
}
RetryAdvice retry_advice(const SplitInvalid& /*error*/) noexcept {
  return RetryAdvice::kNever;
}

std::string_view code_name(const AlreadyLeased& /*error*/) noexcept {
  return "already_leased";
}
std::string to_text(const AlreadyLeased& error) {
  return fmt::format("the shard is leased to <redacted> until {}; try again then",
                     error.deadline().raw());
}
RetryAdvice retry_advice(const AlreadyLeased& /*error*/) noexcept {
  return RetryAdvice::kLater;
}

std::string_view code_name(const RunTerminal& /*error*/) noexcept {
  return "run_terminal";
}
std::string to_text(const RunTerminal& error) {
  return fmt::format("the run is {}, which is final", name(error.status));
}
RetryAdvice retry_advice(const RunTerminal& /*error*/) noexcept {
  return RetryAdvice::kNever;
}

std::string_view code_name(const NotParked& /*error*/) noexcept {
  return "not_parked";
}
std::string to_text(const NotParked& error) {
  return fmt::format("the shard is {}; only a parked one can be unparked", name(error.status));
}
RetryAdvice retry_advice(const NotParked& /*error*/) noexcept {
  return RetryAdvice::kNever;
}

std::string_view code_name(const ResourceExhausted& /*error*/) noexcept {
  return "resource_exhausted";
}
std::string to_text(const ResourceExhausted& error) {
  return fmt::format(
      "no room for the record's bytes ({} asked for, {} left); free some or give the backend more, "
      "then repeat the same op id",
      error.slab.requested, error.slab.available);
}
RetryAdvice retry_advice(const ResourceExhausted& /*error*/) noexcept {
  return RetryAdvice::kLater;
}

std::string_view code_name(const InfraError& error) noexcept {
  switch (error.kind) {
    case InfraError::Kind::kTransient: return "transient";
    case InfraError::Kind::kCorruption: return "corruption";
    case InfraError::Kind::kRefused: return "refused";
  }
  return "unknown";
}
std::string to_text(const InfraError& error) {
  return fmt::format("[{}] {}: {}", code_name(error), error.operation, error.message);
}
RetryAdvice retry_advice(const InfraError& error) noexcept {
  return error.kind == InfraError::Kind::kTransient ? RetryAdvice::kLater : RetryAdvice::kNever;
}

std::string_view code_name(const InvalidConfig& /*error*/) noexcept {
  return "zero_lease_duration";
}
std::string to_text(const InvalidConfig& /*error*/) {
  return "a run's lease duration is at least 1";
}
RetryAdvice retry_advice(const InvalidConfig& /*error*/) noexcept {
  return RetryAdvice::kNever;
}

std::string_view code_name(const RunNotFound& /*error*/) noexcept {
  return "run_not_found";
}
std::string to_text(const RunNotFound& error) {
  return fmt::format("there is no run {}; create it first", error.run.raw());
}
RetryAdvice retry_advice(const RunNotFound& /*error*/) noexcept {
  return RetryAdvice::kNever;
}

std::string_view code_name(const RunAlreadyExists& /*error*/) noexcept {
  return "run_already_exists";
}
std::string to_text(const RunAlreadyExists& error) {
  return fmt::format("run {} exists; choose another id", error.run.raw());
}
RetryAdvice retry_advice(const RunAlreadyExists& /*error*/) noexcept {
  return RetryAdvice::kNever;
}

std::string_view code_name(const ConfigMismatch& /*error*/) noexcept {
  return "config_mismatch";
}
std::string to_text(const ConfigMismatch& error) {
  return fmt::format("run {} exists with another configuration, which never changes",
                     error.run.raw());
}
RetryAdvice retry_advice(const ConfigMismatch& /*error*/) noexcept {
  return RetryAdvice::kNever;
}

std::string_view code_name(const WrongStatus& /*error*/) noexcept {
  return "wrong_status";
}
std::string to_text(const WrongStatus& error) {
  if (!error.target) {
    return fmt::format("shards are registered while a run is initializing; this one is {}",
                       name(error.status));
  }
  return fmt::format("a run that is {} cannot become {}; cancel it, or register its shards first",
                     name(error.status), name(*error.target));
}
RetryAdvice retry_advice(const WrongStatus& /*error*/) noexcept {
  return RetryAdvice::kNever;
}

std::string_view code_name(const ManifestInvalid& error) noexcept {
  return code_name(error.reason);
}
std::string to_text(const ManifestInvalid& error) {
  return algebra_text(error.reason);
}
RetryAdvice retry_advice(const ManifestInvalid& /*error*/) noexcept {
  return RetryAdvice::kNever;
}

std::string_view code_name(const RunOpIdConflict& /*error*/) noexcept {
  return "op_id_conflict";
}
std::string to_text(const RunOpIdConflict& error) {
  return fmt::format("op id {} was used for another request; use a fresh op id for each request",
                     error.op_id.raw());
}
RetryAdvice retry_advice(const RunOpIdConflict& /*error*/) noexcept {
  return RetryAdvice::kNever;
}

std::string_view code_name(const ShardLimitExceeded& /*error*/) noexcept {
  return "shard_limit_exceeded";
}
std::string to_text(const ShardLimitExceeded& error) {
  return fmt::format("{} shards and {} more exceed the limit of {}{}; collect finished runs first",
                     error.current, error.additional, error.max, scope_text(error.scope));
}
RetryAdvice retry_advice(const ShardLimitExceeded& /*error*/) noexcept {
  return RetryAdvice::kLater;
}

std::string_view code_name(const RegistrationExhausted& /*error*/) noexcept {
  return "resource_exhausted";
}
std::string to_text(const RegistrationExhausted& error) {
  return fmt::format(
      "no room for the manifest ({}); free some or give the backend more, then repeat the same op "
      "id",
      error.resource);
}
RetryAdvice retry_advice(const RegistrationExhausted& /*error*/) noexcept {
  return RetryAdvice::kLater;
}

std::string_view code_name(const RunNotSettled& /*error*/) noexcept {
  return "run_not_settled";
}
std::string to_text(const RunNotSettled& error) {
  return fmt::format("{} shards are active and {} parked; finish or unpark them first",
                     error.active, error.parked);
}
RetryAdvice retry_advice(const RunNotSettled& /*error*/) noexcept {
  return RetryAdvice::kLater;
}

std::string_view code_name(const TooManyLeases& /*error*/) noexcept {
  return "too_many_leases";
}
std::string to_text(const TooManyLeases& error) {
  return fmt::format("{} leases in one request, the limit is {}; send several", error.count,
                     error.max);
}
RetryAdvice retry_advice(const TooManyLeases& /*error*/) noexcept {
  return RetryAdvice::kNever;
}

std::string_view code_name(const NoneAvailable& /*error*/) noexcept {
  return "none_available";
}
std::string to_text(const NoneAvailable& error) {
  if (!error.earliest_deadline) return "no shard of the run is left to claim";
  return fmt::format("every shard is taken; the next lease may end at {}",
                     error.earliest_deadline->raw());
}
RetryAdvice retry_advice(const NoneAvailable& error) noexcept {
  return error.earliest_deadline ? RetryAdvice::kLater : RetryAdvice::kNever;
}

std::string_view code_name(const Throttled& /*error*/) noexcept {
  return "throttled";
}
std::string to_text(const Throttled& error) {
  return fmt::format("the worker claimed a moment ago; claim again at {}", error.retry_after.raw());
}
RetryAdvice retry_advice(const Throttled& /*error*/) noexcept {
  return RetryAdvice::kLater;
}

}  // namespace cadastre::coord
