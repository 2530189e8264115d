// What a gRPC status of etcd means for a call: done or not, whose fault, and what may help.
//
// A change counts as not done only if etcd says so or the request certainly did not leave; whatever is not
// recognised is unknown. The words of etcd 3.4 and of gRPC are compared: a text that a later release changes
// makes an answer more careful, never less.

#pragma once

#include <cstdint>
#include <string>

#include "coord/etcd/store.h"

namespace grpc {  // NOLINT(readability-identifier-naming): the library's own name
class Status;
}

namespace cadastre::coord::etcd {

// What doing it means.
enum class Effect : std::uint8_t {
  kNone,      // a read
  kRepeated,  // twice is as once: keep-alive, revoke
  kOnce,      // a transaction, a grant
};

enum class Remedy : std::uint8_t {
  kNone,
  kOtherEndpoint,  // Nothing was done, or doing it again is harmless: ask another member.
  kNewToken,       // Nothing was done: authenticate and ask again.
};

// For the endpoint's circuit breaker.
enum class Health : std::uint8_t {
  kAnswers,
  kFails,
};

struct Verdict {
  StoreError error = StoreError::kOutcomeUnknown;
  std::string detail = {};  // for an operator
  Remedy remedy = Remedy::kNone;
  Health health = Health::kAnswers;
};

// `status` is not OK.
[[nodiscard]] Verdict judge(const grpc::Status& status, Effect effect);

}  // namespace cadastre::coord::etcd
