// The lease-gated operations as a list, so that a rule can be held against every one of them.

#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <functional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "coord/backend.h"
#include "coord/conformance/words_testing.h"
#include "coord/decide_split.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/lease_rules.h"
#include "coord/one_of.h"
#include "coord/outcome.h"
#include "coord/shard_record.h"
#include "coord/snapshot.h"
#include "coord/states.h"
#include "shard/bytes_testing.h"

namespace cadastre::coord::conformance {

// Whatever one of them can say.
using LeasedError = OneOf<ShardNotFound,
                          TenantMismatch,
                          ShardTerminal,
                          StaleFence,
                          LeaseExpired,
                          OpIdConflict,
                          CheckpointMissingKey,
                          CursorKeyTooLarge,
                          CursorTokenTooLarge,
                          CursorRegression,
                          CursorOutOfBounds,
                          SplitInvalid,
                          ResourceExhausted,
                          InfraError>;

using LeasedAnswer = Result<Outcome, LeasedError>;

enum class Payload : std::uint8_t {
  kGood,  // as the shard [a, z) of the fixture would take it
  kBad,   // against the operation's own rules
};

struct LeasedOperation {
  std::string_view name;
  bool has_op_id = true;
  bool has_bad_payload = true;
  std::function<LeasedAnswer(CoordinationFacade&, const LeasedRequest&, Payload, OpId)> call;
};

template <class T, class E>
[[nodiscard]] LeasedAnswer outcome_of(const std::expected<IdempotentOutcome<T>, E>& answer) {
  if (!answer) return base::fail(LeasedError(answer.error()));
  return answer->outcome();
}

[[nodiscard]] inline LeasedAnswer outcome_of(const Result<RenewResult, RenewError>& answer) {
  if (!answer) return base::fail(LeasedError(answer.error()));
  return Outcome::kExecuted;
}

[[nodiscard]] inline SplitReplacePlan replace_plan(Payload payload) {
  const bool is_good = payload == Payload::kGood;
  const std::array children{child("a"_b, "m"_b), child(is_good ? "m"_b : "n"_b, "z"_b)};
  return SplitReplacePlan::try_make(children).value();
}

[[nodiscard]] inline std::vector<LeasedOperation> leased_operations() {
  const auto key = [](Payload payload) {
    return payload == Payload::kGood ? CursorUpdate::make("y"_b) : CursorUpdate::initial();
  };
  return {
      {"renew", false, false,
       [](CoordinationFacade& facade, const LeasedRequest& by, Payload, OpId) {
         return outcome_of(facade.renew(by.now, by.tenant, by.lease));
       }},
      {"renew_many", false, false,
       [](CoordinationFacade& facade, const LeasedRequest& by, Payload, OpId) {
         return outcome_of(
             facade.renew_many(by.now, by.tenant, std::array{by.lease}).value().at(0));
       }},
      {"checkpoint", true, true,
       [key](CoordinationFacade& facade, const LeasedRequest& by, Payload payload, OpId op) {
         return outcome_of(facade.checkpoint(by.now, by.tenant, by.lease, key(payload), op));
       }},
      {"complete", true, true,
       [key](CoordinationFacade& facade, const LeasedRequest& by, Payload payload, OpId op) {
         return outcome_of(facade.complete(by.now, by.tenant, by.lease, key(payload), op));
       }},
      {"park", true, false,
       [](CoordinationFacade& facade, const LeasedRequest& by, Payload, OpId op) {
         return outcome_of(facade.park_shard(by.now, by.tenant, by.lease, ParkReason::kOther, op));
       }},
      {"release", true, true,
       [](CoordinationFacade& facade, const LeasedRequest& by, Payload payload, OpId op) {
         const auto cursor = CursorUpdate::make(payload == Payload::kGood ? "y"_b : "z"_b);
         return outcome_of(facade.release_shard(by.now, by.tenant, by.lease, cursor, op));
       }},
      {"split_replace", true, true,
       [](CoordinationFacade& facade, const LeasedRequest& by, Payload payload, OpId op) {
         return outcome_of(
             facade.split_replace(by.now, by.tenant, by.lease, replace_plan(payload), op));
       }},
      {"split_residual", true, true,
       [](CoordinationFacade& facade, const LeasedRequest& by, Payload payload, OpId op) {
         const auto plan =
             payload == Payload::kGood ? cut("a"_b, "m"_b, "z"_b) : cut("b"_b, "m"_b, "z"_b);
         return outcome_of(facade.split_residual(by.now, by.tenant, by.lease, plan, op));
       }},
  };
}

}  // namespace cadastre::coord::conformance
