#include "coord/etcd/grpc_status.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <grpcpp/support/status.h>

#include "base/check.h"
#include "coord/etcd/grpc_limits.h"
#include "coord/etcd/store.h"

namespace cadastre::coord::etcd {
namespace {

// A text of etcd's that says for certain that nothing was done.
struct Refusal {
  std::string_view text;
  StoreError error;
  std::string_view advice;
  Remedy remedy = Remedy::kNone;
  Health health = Health::kAnswers;
};

constexpr std::array kRefusals = {
    Refusal{"etcdserver: mvcc: database space exceeded", StoreError::kRefused,
            "etcd's storage quota is used up: compact and defragment it or raise "
            "--quota-backend-bytes, then disarm its NOSPACE alarm"},
    Refusal{"etcdserver: request is too large", StoreError::kRefused,
            "the request is larger than etcd's --max-request-bytes"},
    Refusal{"etcdserver: too many operations in txn request", StoreError::kRefused,
            "the transaction is larger than etcd's --max-txn-ops"},
    Refusal{"etcdserver: permission denied", StoreError::kRefused,
            "etcd's user may not use these keys: grant it a role that reads and writes the prefix"},
    Refusal{"etcdserver: authentication failed", StoreError::kRefused,
            "etcd does not accept the user's name or password"},
    Refusal{"etcdserver: user name is empty", StoreError::kRefused,
            "etcd wants a user: name one with a password"},
    Refusal{"etcdserver: authentication is not enabled", StoreError::kRefused,
            "etcd's authentication is off: enable it, or name no user"},
    Refusal{"etcdserver: requested lease not found", StoreError::kNoLease,
            "etcd's lease has ended"},
    Refusal{"etcdserver: mvcc: required revision has been compacted", StoreError::kCompacted,
            "etcd has forgotten that revision"},
    Refusal{"etcdserver: invalid auth token", StoreError::kRefused,
            "etcd does not accept its own token", Remedy::kNewToken},
    Refusal{"etcdserver: revision of auth store is old", StoreError::kUnavailable,
            "etcd's users have just changed", Remedy::kNewToken},
    Refusal{"etcdserver: too many requests", StoreError::kUnavailable, "etcd has too much to do"},
    Refusal{"etcdserver: no leader", StoreError::kUnavailable, "etcd has no leader",
            Remedy::kOtherEndpoint, Health::kFails},
    Refusal{"etcdserver: not capable", StoreError::kUnavailable, "etcd's members are not ready",
            Remedy::kOtherEndpoint, Health::kFails},
    Refusal{"raft proposal dropped", StoreError::kUnavailable, "etcd has no leader",
            Remedy::kOtherEndpoint, Health::kFails},
    // Go's words for a request beyond the size that etcd lets gRPC take.
    Refusal{"grpc: received message larger than max", StoreError::kRefused,
            "the request is larger than etcd's --max-request-bytes"},
    // gRPC's words when there was no connection to send on.
    Refusal{"failed to connect to all addresses", StoreError::kUnavailable,
            "etcd cannot be reached", Remedy::kOtherEndpoint, Health::kFails},
    Refusal{"DNS resolution failed", StoreError::kUnavailable, "etcd's name does not resolve",
            Remedy::kOtherEndpoint, Health::kFails},
};

std::string bounded(std::string_view text) {
  return std::string(text.substr(0, kForeignTextBytesMax));
}

std::optional<Verdict> refusal(std::string_view message) {
  for (const Refusal& known : kRefusals) {
    if (!message.starts_with(known.text)) continue;
    return Verdict{.error = known.error,
                   .detail = fmt::format("{} ({})", known.advice, bounded(message)),
                   .remedy = known.remedy,
                   .health = known.health};
  }
  return std::nullopt;
}

// etcd checks these before it does anything.
bool is_rejection(grpc::StatusCode code) {
  return code == grpc::INVALID_ARGUMENT || code == grpc::OUT_OF_RANGE ||
         code == grpc::PERMISSION_DENIED || code == grpc::UNAUTHENTICATED ||
         code == grpc::UNIMPLEMENTED;
}

bool is_silence(grpc::StatusCode code) {
  return code == grpc::UNAVAILABLE || code == grpc::DEADLINE_EXCEEDED;
}

}  // namespace

Verdict judge(const grpc::Status& status, Effect effect) {
  CAD_CHECK(!status.ok(), "only a failure is judged");
  const std::string message = status.error_message();
  const grpc::StatusCode code = status.error_code();
  if (auto known = refusal(message)) return *std::move(known);
  Verdict verdict{.detail = fmt::format("etcd did not answer (status {}: {})",
                                        static_cast<int>(code), bounded(message))};
  if (is_rejection(code)) {
    verdict.error = StoreError::kRefused;
    verdict.detail = fmt::format("etcd refuses the request (status {}: {})", static_cast<int>(code),
                                 bounded(message));
    return verdict;
  }
  verdict.error = effect == Effect::kNone ? StoreError::kUnavailable : StoreError::kOutcomeUnknown;
  if (is_silence(code)) verdict.health = Health::kFails;
  // A deadline leaves no time for another one.
  if (code == grpc::UNAVAILABLE && effect != Effect::kOnce) verdict.remedy = Remedy::kOtherEndpoint;
  return verdict;
}

}  // namespace cadastre::coord::etcd
