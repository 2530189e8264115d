// Every error crosses the wire with its fields; hashes and foreign tenants do not. C-8.4, SEC-1.

#include "client/wire_error.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cadastre/v1/coordination.pb.h"
#include "google/rpc/status.pb.h"

#include "client/wire_values.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/identity_testing.h"
#include "coord/one_of.h"
#include "coord/states.h"
#include "shard/manifest.h"
#include "shard/spec_error.h"
#include "shard/split_coverage.h"

namespace cadastre::client {
namespace {

using coord::testing::at;
using coord::testing::op;
using coord::testing::tenant_of;
using coord::testing::worker;

const coord::TenantId kTenant = tenant_of(1);
const coord::RunId kRun = coord::RunId::from_raw(7);
const coord::ShardKey kKey{kRun, coord::ShardId::from_raw(9)};

std::vector<AnyError> split_errors() {
  using Code = shard::SplitError::Code;
  using Scope = shard::SplitError::Scope;
  std::vector<AnyError> errors;
  for (int code = 0; code <= static_cast<int>(Code::kInvalidChildCursor); ++code) {
    errors.emplace_back(coord::SplitInvalid{{.code = static_cast<Code>(code),
                                             .scope = static_cast<Scope>(code % 3),
                                             .values = {1, 2, 3, 4}}});
  }
  return errors;
}

std::vector<AnyError> manifest_errors() {
  using Code = shard::ManifestError::Code;
  using SpecCode = shard::SpecError::Code;
  std::vector<AnyError> errors;
  for (int code = 0; code <= static_cast<int>(Code::kCursorOutOfBounds); ++code) {
    errors.emplace_back(coord::ManifestInvalid{
        {.code = static_cast<Code>(code),
         .shard = coord::ShardId::from_raw(3),
         .other = coord::ShardId::from_raw(4),
         .size = 5,
         .max = 6,
         .spec_error = {static_cast<SpecCode>(code % 3), shard::SpecError::Bound::kNone, 8, 9}}});
  }
  return errors;
}

std::vector<AnyError> all_errors() {
  std::vector<AnyError> errors = {
      coord::ShardNotFound{kKey},
      coord::TenantMismatch{kTenant},
      coord::StaleFence{coord::FenceEpoch::from_raw(3), coord::FenceEpoch::from_raw(4)},
      coord::LeaseExpired{at(10), at(11)},
      coord::ShardTerminal{kKey, coord::ShardStatus::kSplit},
      coord::OpIdConflict(op(5), 0, 0),
      coord::CursorRegression{1, std::nullopt},
      coord::CursorRegression{std::nullopt, 2},
      coord::CursorOutOfBounds{1, 2, 3},
      coord::CursorKeyTooLarge{4097, 4096},
      coord::CursorTokenTooLarge{16385, 16384},
      coord::CheckpointMissingKey{},
      coord::AlreadyLeased(worker(6), at(110)),
      coord::RunTerminal{coord::RunStatus::kCancelled},
      coord::NotParked{coord::ShardStatus::kActive},
      coord::ResourceExhausted{{base::SlabResource::kBytes, 32, 16}},
      coord::ResourceExhausted{{base::SlabResource::kLiveEntries, 1, 0}},
      coord::transient("server", "a: b"),
      coord::corruption("server", "a: b"),
      coord::refused("server", "a: b"),
      coord::InvalidConfig{},
      coord::RunNotFound{kRun},
      coord::RunAlreadyExists{kRun},
      coord::ConfigMismatch{kRun},
      coord::WrongStatus{coord::RunStatus::kActive, std::nullopt},
      coord::WrongStatus{coord::RunStatus::kInitializing, coord::RunStatus::kDone},
      coord::RunOpIdConflict{op(7)},
      coord::ShardLimitExceeded{1, 2, 3, shard::SplitError::Scope::kGlobal},
      coord::RegistrationExhausted{"shard_slab"},
      coord::RegistrationExhausted{"entry_bytes"},
      coord::RunNotSettled{1, 2},
      coord::TooManyLeases{1025, 1024},
      coord::NoneAvailable{std::nullopt},
      coord::NoneAvailable{at(110)},
      coord::Throttled{at(110)},
      BadRequest{"lease", "must not be left out"},
  };
  for (const auto& more : {split_errors(), manifest_errors()})
    errors.insert(errors.end(), more.begin(), more.end());
  return errors;
}

template <class... Alternatives>
std::size_t count_alternatives(const std::vector<AnyError>& errors,
                               const coord::OneOf<Alternatives...>* /*type*/) {
  return (static_cast<std::size_t>(std::ranges::any_of(
              errors, [](const AnyError& error) { return error.is<Alternatives>(); })) +
          ...);
}

TEST(WireErrors, TheListHasEveryAlternative) {
  EXPECT_EQ(count_alternatives(all_errors(), static_cast<const AnyError*>(nullptr)), 31U);
}

// The label of the machinery moves into the text; all else comes back as it went.
AnyError expected_back(const AnyError& error) {
  if (const auto* const infra = error.get_if<coord::InfraError>())
    return coord::InfraError{infra->kind, "server", "server: " + infra->message};
  return error;
}

TEST(WireErrors, ComeBackAsTheyWent) {
  for (const AnyError& error : all_errors()) {
    v1::Error message;
    encode(error, message);
    EXPECT_TRUE(decode(message, kTenant) == expected_back(error)) << message.ShortDebugString();
    EXPECT_EQ(message.code(),
              error.visit([](const auto& held) { return std::string(code_name(held)); }));
    EXPECT_NE(message.retry(), v1::RETRY_UNSPECIFIED) << message.code();
    EXPECT_FALSE(message.detail().empty()) << message.code();
  }
}

TEST(WireErrors, ComeBackFromAStatus) {
  for (const AnyError& error : all_errors()) {
    const WireStatus status = to_status(error);
    EXPECT_NE(status.code, StatusCode::kOk);
    EXPECT_TRUE(from_status(status, kTenant) == expected_back(error)) << status.message;
    google::rpc::Status details;
    ASSERT_TRUE(details.ParseFromString(status.details));
    EXPECT_EQ(details.code(), static_cast<int>(status.code));
    EXPECT_EQ(details.message(), status.message);
  }
}

// SEC-1: what a message holds of an op id's conflict and of a mismatch.
TEST(WireErrors, KeepSecrets) {
  v1::Error conflict;
  encode(coord::OpIdConflict(op(5), 0x1122334455667788, 0x99AABBCCDDEEFF00), conflict);
  v1::Error bare;
  encode(coord::OpIdConflict(op(5), 0, 0), bare);
  EXPECT_EQ(conflict.SerializeAsString(), bare.SerializeAsString());

  v1::Error mismatch;
  encode(coord::TenantMismatch{tenant_of(2)}, mismatch);
  EXPECT_EQ(mismatch.SerializeAsString().find(to_wire(tenant_of(2))), std::string::npos);
  EXPECT_TRUE(decode(mismatch, kTenant) == coord::TenantMismatch{kTenant});
}

TEST(WireErrors, AnOperationsSetTakesItsOwn) {
  const auto own = narrowed<coord::RenewError>(coord::StaleFence{});
  EXPECT_TRUE(own.is<coord::StaleFence>());
  const auto foreign = narrowed<coord::RenewError>(coord::RunNotFound{kRun});
  const auto* const infra = foreign.get_if<coord::InfraError>();
  ASSERT_NE(infra, nullptr);
  EXPECT_EQ(infra->kind, coord::InfraError::Kind::kRefused);
  EXPECT_EQ(narrowed<coord::InfraError>(coord::transient("call", "x")),
            coord::transient("call", "x"));
}

TEST(WireErrors, UnknownFieldsAndNumbersAreToldOnly) {
  v1::Error unknown;
  unknown.set_code("from_the_future");
  unknown.set_detail("wait");
  unknown.set_retry(v1::RETRY_LATER);
  EXPECT_TRUE(decode(unknown, kTenant) == coord::transient("server", "from_the_future: wait"));
  unknown.set_retry(v1::RETRY_NEVER);
  EXPECT_TRUE(decode(unknown, kTenant) == coord::refused("server", "from_the_future: wait"));
  unknown.mutable_split_invalid()->set_reason(99);
  EXPECT_TRUE(decode(unknown, kTenant) == coord::refused("server", "from_the_future: wait"));
  unknown.mutable_run_terminal();
  EXPECT_TRUE(decode(unknown, kTenant).is<coord::InfraError>());
  unknown.mutable_shard_limit_exceeded()->set_scope(3);
  EXPECT_TRUE(decode(unknown, kTenant).is<coord::InfraError>());
}

TEST(WireStatuses, WithoutDetailsSayWhetherTheOutcomeIsKnown) {
  const std::vector<StatusCode> unknown = {StatusCode::kUnavailable, StatusCode::kDeadlineExceeded,
                                           StatusCode::kCancelled, StatusCode::kInternal,
                                           StatusCode::kResourceExhausted};
  for (const StatusCode code : unknown)
    EXPECT_TRUE(from_status({code, "x", ""}, kTenant) == coord::transient("call", "x"));
  const std::vector<StatusCode> refused = {StatusCode::kPermissionDenied,
                                           StatusCode::kUnauthenticated, StatusCode::kUnimplemented,
                                           StatusCode::kDataLoss};
  for (const StatusCode code : refused)
    EXPECT_TRUE(from_status({code, "x", ""}, kTenant) == coord::refused("call", "x"));
  EXPECT_TRUE(from_status({StatusCode::kUnavailable, "x", "no status"}, kTenant) ==
              coord::transient("call", "x"));
}

TEST(WireStatuses, SayWhetherNothingWasExecutedForCertain) {
  const auto told = [](std::string_view code) {
    return failure_of(
               to_status(Refusal{StatusCode::kUnavailable, code, "x", coord::RetryAdvice::kLater}),
               kTenant)
        .executed;
  };
  for (const std::string_view code : {"no_leader", "overloaded", "stopping", "deadline_exceeded"})
    EXPECT_EQ(told(code), Executed::kNo) << code;
  EXPECT_EQ(told("leader_away"), Executed::kUnknown);
  EXPECT_EQ(failure_of(to_status(coord::transient("a", "b")), kTenant).executed,
            Executed::kUnknown);
  const std::string none = "failed to connect to all addresses; last error: x";
  EXPECT_EQ(failure_of({StatusCode::kUnavailable, none, ""}, kTenant).executed, Executed::kNo);
  EXPECT_EQ(failure_of({StatusCode::kUnavailable, "Socket closed", ""}, kTenant).executed,
            Executed::kUnknown);
  EXPECT_EQ(failure_of({StatusCode::kInternal, none, ""}, kTenant).executed, Executed::kUnknown);
}

TEST(WireStatuses, OfARefusalCarryItsCode) {
  const WireStatus status = to_status(Refusal{
      .status = StatusCode::kUnauthenticated, .code = "unauthenticated", .detail = "send a token"});
  EXPECT_EQ(status.code, StatusCode::kUnauthenticated);
  EXPECT_TRUE(from_status(status, kTenant) ==
              coord::refused("server", "unauthenticated: send a token"));
}

// gRPC's own codes tell programs of other languages what to do.
TEST(WireStatuses, FollowTheTable) {
  EXPECT_EQ(status_code(coord::ShardNotFound{kKey}), StatusCode::kNotFound);
  EXPECT_EQ(status_code(coord::StaleFence{}), StatusCode::kFailedPrecondition);
  EXPECT_EQ(status_code(coord::LeaseExpired{}), StatusCode::kFailedPrecondition);
  EXPECT_EQ(status_code(coord::TenantMismatch{}), StatusCode::kPermissionDenied);
  EXPECT_EQ(status_code(coord::transient("a", "b")), StatusCode::kUnavailable);
  EXPECT_EQ(status_code(coord::corruption("a", "b")), StatusCode::kDataLoss);
  EXPECT_EQ(status_code(BadRequest{"now", "x"}), StatusCode::kInvalidArgument);
  EXPECT_EQ(status_code(coord::NoneAvailable{}), StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace cadastre::client
