// Errors on the wire: every error of the protocol as cadastre.v1.Error and back, and as a gRPC status.
//
// A client gets the error that the backend gave, with its fields, so that programs need not read texts.
// Three things stay behind: payload hashes (they come back as 0), the labels of a server's machinery (they
// move into the message), and the tenant of a mismatch, which is always the one that the caller named.
//
// Everything here is a pure function.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/result.h"
#include "client/wire_messages.h"
#include "client/wire_values.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/one_of.h"

namespace cadastre::client {

// Whatever an operation can say, and what only the wire can say.
using AnyError = coord::OneOf<coord::ShardNotFound,
                              coord::TenantMismatch,
                              coord::StaleFence,
                              coord::LeaseExpired,
                              coord::ShardTerminal,
                              coord::OpIdConflict,
                              coord::CursorRegression,
                              coord::CursorOutOfBounds,
                              coord::CursorKeyTooLarge,
                              coord::CursorTokenTooLarge,
                              coord::CheckpointMissingKey,
                              coord::SplitInvalid,
                              coord::AlreadyLeased,
                              coord::RunTerminal,
                              coord::NotParked,
                              coord::ResourceExhausted,
                              coord::InfraError,
                              coord::InvalidConfig,
                              coord::RunNotFound,
                              coord::RunAlreadyExists,
                              coord::ConfigMismatch,
                              coord::WrongStatus,
                              coord::ManifestInvalid,
                              coord::RunOpIdConflict,
                              coord::ShardLimitExceeded,
                              coord::RegistrationExhausted,
                              coord::RunNotSettled,
                              coord::TooManyLeases,
                              coord::NoneAvailable,
                              coord::Throttled,
                              BadRequest>;

[[nodiscard]] std::string_view code_name(const BadRequest& error) noexcept;
[[nodiscard]] std::string to_text(const BadRequest& error);
[[nodiscard]] coord::RetryAdvice retry_advice(const BadRequest& error) noexcept;

// `out` is empty.
void encode(const AnyError& error, v1::Error& out);

// A message whose code or fields we do not know is an InfraError that carries its text: kTransient if
// another try can help, else kRefused.
[[nodiscard]] AnyError decode(const v1::Error& error, const coord::TenantId& tenant);

// ---- As a status ---------------------------------------------------------------------------------

// gRPC's numbers, so that this header needs no gRPC.
enum class StatusCode : int {
  kOk = 0,
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kDataLoss = 15,
  kUnauthenticated = 16,
};

struct WireStatus {
  StatusCode code = StatusCode::kOk;
  std::string message;
  std::string details;  // google.rpc.Status for `grpc-status-details-bin`; empty: none
};

[[nodiscard]] StatusCode status_code(const AnyError& error) noexcept;
[[nodiscard]] WireStatus to_status(const AnyError& error);

// For a server's own refusals, before an operation begins: "unauthenticated", "overloaded".
struct Refusal {
  StatusCode status;
  std::string_view code;  // snake case
  std::string_view detail;
  coord::RetryAdvice retry = coord::RetryAdvice::kNever;
};
[[nodiscard]] WireStatus to_status(const Refusal& refusal);

// What a call's status means. Without details: kTransient after UNAVAILABLE, DEADLINE_EXCEEDED,
// CANCELLED, ABORTED, UNKNOWN, INTERNAL and RESOURCE_EXHAUSTED, whose outcome nobody knows; else kRefused, as
// is a connection that will not come about (connection_error.h).
[[nodiscard]] AnyError from_status(const WireStatus& status, const coord::TenantId& tenant);

// What became of a request that failed.
enum class Executed : std::uint8_t {
  kNo,       // Certainly nothing, now and later: it never left, or the server says so.
  kUnknown,  // Perhaps. Also of every refusal by rules, which nobody repeats.
};
struct Failure {
  AnyError error;
  Executed executed = Executed::kUnknown;
};
[[nodiscard]] Failure failure_of(const WireStatus& status, const coord::TenantId& tenant);

// An error where it cannot be.
[[nodiscard]] coord::InfraError unexpected_error(const AnyError& error);

// The same error in an operation's own set; one that the operation cannot return is an InfraError.
template <class Set>
[[nodiscard]] Set narrowed(const AnyError& error) {
  return error.visit([&]<class E>(const E& held) -> Set {
    if constexpr (std::is_convertible_v<const E&, Set>) {
      return held;
    } else {
      return unexpected_error(error);
    }
  });
}

}  // namespace cadastre::client
