#include "coord/etcd/grpc_status.h"

#include <string>
#include <string_view>
#include <vector>

#include <grpcpp/support/status.h>
#include <gtest/gtest.h>

#include "coord/etcd/grpc_limits.h"
#include "coord/etcd/store.h"

namespace cadastre::coord::etcd {
namespace {

struct Case {
  std::string_view what;
  grpc::StatusCode code;
  std::string_view message;
  Effect effect;
  StoreError error;
  Remedy remedy = Remedy::kNone;
  Health health = Health::kAnswers;
};

void expect_verdicts(const std::vector<Case>& cases) {
  for (const Case& row : cases) {
    const Verdict verdict = judge(grpc::Status(row.code, std::string(row.message)), row.effect);
    EXPECT_EQ(verdict.error, row.error) << row.what;
    EXPECT_EQ(verdict.remedy, row.remedy) << row.what;
    EXPECT_EQ(verdict.health, row.health) << row.what;
    EXPECT_FALSE(verdict.detail.empty()) << row.what;
  }
}

// C-8.1: a change that may have been carried out is never called "not done".
TEST(GrpcStatus, AChangeIsUnknownUnlessItCertainlyDidNotHappen) {
  expect_verdicts({
      {"the connection broke on the way", grpc::UNAVAILABLE, "Socket closed", Effect::kOnce,
       StoreError::kOutcomeUnknown, Remedy::kNone, Health::kFails},
      {"no answer in time", grpc::DEADLINE_EXCEEDED, "Deadline Exceeded", Effect::kOnce,
       StoreError::kOutcomeUnknown, Remedy::kNone, Health::kFails},
      {"etcd gave up waiting for its peers", grpc::UNAVAILABLE, "etcdserver: request timed out",
       Effect::kOnce, StoreError::kOutcomeUnknown, Remedy::kNone, Health::kFails},
      {"another leader", grpc::UNAVAILABLE, "etcdserver: leader changed", Effect::kOnce,
       StoreError::kOutcomeUnknown, Remedy::kNone, Health::kFails},
      {"etcd stopped", grpc::UNAVAILABLE, "etcdserver: server stopped", Effect::kOnce,
       StoreError::kOutcomeUnknown, Remedy::kNone, Health::kFails},
      {"an answer too large for us", grpc::RESOURCE_EXHAUSTED, "Received message larger than max",
       Effect::kOnce, StoreError::kOutcomeUnknown},
      {"something else", grpc::INTERNAL, "?", Effect::kOnce, StoreError::kOutcomeUnknown},
      {"cancelled", grpc::CANCELLED, "", Effect::kOnce, StoreError::kOutcomeUnknown},
  });
}

TEST(GrpcStatus, AChangeThatNeverLeftOrWasTurnedAwayIsNotDone) {
  expect_verdicts({
      {"no connection", grpc::UNAVAILABLE, "failed to connect to all addresses; last error: …",
       Effect::kOnce, StoreError::kUnavailable, Remedy::kOtherEndpoint, Health::kFails},
      {"no such name", grpc::UNAVAILABLE, "DNS resolution failed for x:1", Effect::kOnce,
       StoreError::kUnavailable, Remedy::kOtherEndpoint, Health::kFails},
      {"no leader", grpc::UNAVAILABLE, "etcdserver: no leader", Effect::kOnce,
       StoreError::kUnavailable, Remedy::kOtherEndpoint, Health::kFails},
      {"busy", grpc::RESOURCE_EXHAUSTED, "etcdserver: too many requests", Effect::kOnce,
       StoreError::kUnavailable},
      {"out of space", grpc::RESOURCE_EXHAUSTED, "etcdserver: mvcc: database space exceeded",
       Effect::kOnce, StoreError::kRefused},
      {"too large", grpc::INVALID_ARGUMENT, "etcdserver: request is too large", Effect::kOnce,
       StoreError::kRefused},
      {"too large for gRPC", grpc::RESOURCE_EXHAUSTED,
       "grpc: received message larger than max (9 vs. 8)", Effect::kOnce, StoreError::kRefused},
      {"too many operations", grpc::INVALID_ARGUMENT,
       "etcdserver: too many operations in txn request", Effect::kOnce, StoreError::kRefused},
      {"forbidden", grpc::PERMISSION_DENIED, "etcdserver: permission denied", Effect::kOnce,
       StoreError::kRefused},
      {"the lease of a put is gone", grpc::NOT_FOUND, "etcdserver: requested lease not found",
       Effect::kOnce, StoreError::kNoLease},
      {"a revision that is gone", grpc::OUT_OF_RANGE,
       "etcdserver: mvcc: required revision has been compacted", Effect::kNone,
       StoreError::kCompacted},
      {"an old token", grpc::UNAUTHENTICATED, "etcdserver: invalid auth token", Effect::kOnce,
       StoreError::kRefused, Remedy::kNewToken},
      {"no etcd", grpc::UNIMPLEMENTED, "", Effect::kOnce, StoreError::kRefused},
  });
}

TEST(GrpcStatus, WhatMayBeRepeatedIsTriedElsewhere) {
  expect_verdicts({
      {"a read on a broken connection", grpc::UNAVAILABLE, "Socket closed", Effect::kNone,
       StoreError::kUnavailable, Remedy::kOtherEndpoint, Health::kFails},
      {"a read without time left", grpc::DEADLINE_EXCEEDED, "", Effect::kNone,
       StoreError::kUnavailable, Remedy::kNone, Health::kFails},
      {"a revocation on a broken connection", grpc::UNAVAILABLE, "Socket closed", Effect::kRepeated,
       StoreError::kOutcomeUnknown, Remedy::kOtherEndpoint, Health::kFails},
  });
}

TEST(GrpcStatus, WhatEtcdSaysIsBounded) {
  const Verdict verdict =
      judge(grpc::Status(grpc::INTERNAL, std::string(1'000'000, 'x')), Effect::kNone);
  EXPECT_LT(verdict.detail.size(), 2 * kForeignTextBytesMax);
}

}  // namespace
}  // namespace cadastre::coord::etcd
