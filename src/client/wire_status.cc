#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "cadastre/v1/coordination.pb.h"
#include "google/rpc/status.pb.h"

#include "client/connection_error.h"
#include "client/limits.h"
#include "client/wire_error.h"
#include "client/wire_values.h"
#include "coord/errors.h"
#include "coord/identity.h"

namespace cadastre::client {
namespace {

using coord::InfraError;
using coord::RetryAdvice;

// What a program may do with each error decides: another argument, another state, another time.
StatusCode code_of(const coord::ShardNotFound& /*error*/) noexcept {
  return StatusCode::kNotFound;
}
StatusCode code_of(const coord::RunNotFound& /*error*/) noexcept {
  return StatusCode::kNotFound;
}
StatusCode code_of(const coord::TenantMismatch& /*error*/) noexcept {
  return StatusCode::kPermissionDenied;
}
StatusCode code_of(const coord::OpIdConflict& /*error*/) noexcept {
  return StatusCode::kAlreadyExists;
}
StatusCode code_of(const coord::RunOpIdConflict& /*error*/) noexcept {
  return StatusCode::kAlreadyExists;
}
StatusCode code_of(const coord::RunAlreadyExists& /*error*/) noexcept {
  return StatusCode::kAlreadyExists;
}
StatusCode code_of(const coord::CursorOutOfBounds& /*error*/) noexcept {
  return StatusCode::kOutOfRange;
}
StatusCode code_of(const coord::CursorKeyTooLarge& /*error*/) noexcept {
  return StatusCode::kInvalidArgument;
}
StatusCode code_of(const coord::CursorTokenTooLarge& /*error*/) noexcept {
  return StatusCode::kInvalidArgument;
}
StatusCode code_of(const coord::CheckpointMissingKey& /*error*/) noexcept {
  return StatusCode::kInvalidArgument;
}
StatusCode code_of(const coord::SplitInvalid& /*error*/) noexcept {
  return StatusCode::kInvalidArgument;
}
StatusCode code_of(const coord::InvalidConfig& /*error*/) noexcept {
  return StatusCode::kInvalidArgument;
}
StatusCode code_of(const coord::ManifestInvalid& /*error*/) noexcept {
  return StatusCode::kInvalidArgument;
}
StatusCode code_of(const coord::TooManyLeases& /*error*/) noexcept {
  return StatusCode::kInvalidArgument;
}
StatusCode code_of(const BadRequest& /*error*/) noexcept {
  return StatusCode::kInvalidArgument;
}
StatusCode code_of(const coord::ResourceExhausted& /*error*/) noexcept {
  return StatusCode::kResourceExhausted;
}
StatusCode code_of(const coord::ShardLimitExceeded& /*error*/) noexcept {
  return StatusCode::kResourceExhausted;
}
StatusCode code_of(const coord::RegistrationExhausted& /*error*/) noexcept {
  return StatusCode::kResourceExhausted;
}
StatusCode code_of(const coord::NoneAvailable& /*error*/) noexcept {
  return StatusCode::kResourceExhausted;
}
StatusCode code_of(const coord::Throttled& /*error*/) noexcept {
  return StatusCode::kResourceExhausted;
}
StatusCode code_of(const InfraError& error) noexcept {
  switch (error.kind) {
    case InfraError::Kind::kTransient: return StatusCode::kUnavailable;
    case InfraError::Kind::kCorruption: return StatusCode::kDataLoss;
    case InfraError::Kind::kRefused: return StatusCode::kFailedPrecondition;
  }
  return StatusCode::kInternal;
}
// The others are about the state of a shard or a run.
template <class E>
StatusCode code_of(const E& /*error*/) noexcept {
  return StatusCode::kFailedPrecondition;
}

WireStatus with_details(StatusCode code, const v1::Error& error) {
  WireStatus status{.code = code, .message = error.detail(), .details = {}};
  google::rpc::Status details;
  details.set_code(static_cast<int>(code));
  details.set_message(error.detail());
  (void)details.add_details()->PackFrom(error);
  status.details = details.SerializeAsString();
  return status;
}

bool is_outcome_unknown(StatusCode code) noexcept {
  switch (code) {
    case StatusCode::kCancelled:
    case StatusCode::kUnknown:
    case StatusCode::kDeadlineExceeded:
    case StatusCode::kResourceExhausted:
    case StatusCode::kAborted:
    case StatusCode::kInternal:
    case StatusCode::kUnavailable: return true;
    case StatusCode::kOk:
    case StatusCode::kInvalidArgument:
    case StatusCode::kNotFound:
    case StatusCode::kAlreadyExists:
    case StatusCode::kPermissionDenied:
    case StatusCode::kFailedPrecondition:
    case StatusCode::kOutOfRange:
    case StatusCode::kUnimplemented:
    case StatusCode::kDataLoss:
    case StatusCode::kUnauthenticated: return false;
  }
  return false;
}

// What a server says before it begins a request, and only then.
constexpr std::array<std::string_view, 4> kBeforeExecution = {"no_leader", "overloaded", "stopping",
                                                              "deadline_exceeded"};

std::optional<v1::Error> detail_of(const WireStatus& status) {
  google::rpc::Status details;
  if (status.details.empty() || status.details.size() > kMessageBytesMax ||
      !details.ParseFromString(status.details))
    return std::nullopt;
  for (const auto& detail : details.details()) {
    v1::Error error;
    if (detail.Is<v1::Error>() && detail.UnpackTo(&error)) return error;
  }
  return std::nullopt;
}

}  // namespace

StatusCode status_code(const AnyError& error) noexcept {
  return error.visit([](const auto& held) { return code_of(held); });
}

WireStatus to_status(const AnyError& error) {
  v1::Error message;
  encode(error, message);
  return with_details(status_code(error), message);
}

WireStatus to_status(const Refusal& refusal) {
  v1::Error message;
  message.set_code(std::string(refusal.code));
  message.set_detail(std::string(refusal.detail));
  switch (refusal.retry) {
    case RetryAdvice::kNever: message.set_retry(v1::RETRY_NEVER); break;
    case RetryAdvice::kNow: message.set_retry(v1::RETRY_NOW); break;
    case RetryAdvice::kLater: message.set_retry(v1::RETRY_LATER); break;
  }
  return with_details(refusal.status, message);
}

AnyError from_status(const WireStatus& status, const coord::TenantId& tenant) {
  if (const auto error = detail_of(status)) return decode(*error, tenant);
  if (status.code == StatusCode::kUnavailable)
    if (auto unreached = connection_error(status.message)) return *std::move(unreached);
  std::string text = status.message.substr(0, kErrorTextMax);
  return is_outcome_unknown(status.code) ? coord::transient("call", std::move(text))
                                         : coord::refused("call", std::move(text));
}

Failure failure_of(const WireStatus& status, const coord::TenantId& tenant) {
  Failure failure{from_status(status, tenant)};
  const auto error = detail_of(status);
  const bool never =
      error ? std::ranges::find(kBeforeExecution, error->code()) != kBeforeExecution.end()
            : status.code == StatusCode::kUnavailable && was_never_sent(status.message);
  if (never) failure.executed = Executed::kNo;
  return failure;
}

}  // namespace cadastre::client
