// Errors of the protocol: plain structs, and for each operation the set of those it can return.
//
// Each struct says in its text what the caller can do. Texts name lengths, ids, epochs and times;
// never a key's bytes, a token, a payload hash, the owner of a lease or another tenant.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/byte_slab.h"
#include "coord/identity.h"
#include "coord/one_of.h"
#include "coord/states.h"
#include "shard/manifest.h"
#include "shard/split_coverage.h"

namespace cadastre::coord {

// ---- Of shards -------------------------------------------------------------------------------

struct ShardNotFound {
  ShardKey key;
  friend bool operator==(const ShardNotFound&, const ShardNotFound&) = default;
};

// Only the tenant that the caller named; whose record it is stays unsaid.
struct TenantMismatch {
  TenantId expected;
  friend bool operator==(const TenantMismatch&, const TenantMismatch&) = default;
};

// The caller lost the shard. Both epochs are equal when the lease was given up or its owner forged.
struct StaleFence {
  FenceEpoch presented;
  FenceEpoch current;
  friend bool operator==(const StaleFence&, const StaleFence&) = default;
};

struct LeaseExpired {
  LogicalTime deadline;
  LogicalTime now;
  friend bool operator==(const LeaseExpired&, const LeaseExpired&) = default;
};

struct ShardTerminal {
  ShardKey key;
  ShardStatus status = ShardStatus::kDone;
  friend bool operator==(const ShardTerminal&, const ShardTerminal&) = default;
};

// The op id was used for another request. The hashes are for tests and audits only.
class OpIdConflict {
 public:
  OpIdConflict(OpId op, std::uint64_t expected, std::uint64_t actual) noexcept
      : op_id_(op), expected_hash_(expected), actual_hash_(actual) {}
  [[nodiscard]] OpId op_id() const noexcept { return op_id_; }
  [[nodiscard]] std::uint64_t unredacted_expected_hash() const noexcept { return expected_hash_; }
  [[nodiscard]] std::uint64_t unredacted_actual_hash() const noexcept { return actual_hash_; }
  friend bool operator==(const OpIdConflict&, const OpIdConflict&) = default;

 private:
  OpId op_id_;
  std::uint64_t expected_hash_;  // 0: unknown, the entry is gone
  std::uint64_t actual_hash_;
};

struct CursorRegression {
  std::optional<std::uint64_t> old_len;
  std::optional<std::uint64_t> new_len;
  friend bool operator==(const CursorRegression&, const CursorRegression&) = default;
};

struct CursorOutOfBounds {
  std::uint64_t key_len = 0;
  std::uint64_t start_len = 0;
  std::uint64_t end_len = 0;
  friend bool operator==(const CursorOutOfBounds&, const CursorOutOfBounds&) = default;
};

struct CursorKeyTooLarge {
  std::uint64_t size = 0;
  std::uint64_t max = 0;
  friend bool operator==(const CursorKeyTooLarge&, const CursorKeyTooLarge&) = default;
};

struct CursorTokenTooLarge {
  std::uint64_t size = 0;
  std::uint64_t max = 0;
  friend bool operator==(const CursorTokenTooLarge&, const CursorTokenTooLarge&) = default;
};

struct CheckpointMissingKey {
  friend bool operator==(const CheckpointMissingKey&, const CheckpointMissingKey&) = default;
};

struct SplitInvalid {
  shard::SplitError reason;
  friend bool operator==(const SplitInvalid&, const SplitInvalid&) = default;
};

// Another lease runs, perhaps the caller's own.
class AlreadyLeased {
 public:
  AlreadyLeased(WorkerId owner, LogicalTime deadline) noexcept
      : owner_(owner), deadline_(deadline) {}
  [[nodiscard]] LogicalTime deadline() const noexcept { return deadline_; }
  [[nodiscard]] WorkerId unredacted_current_owner() const noexcept { return owner_; }
  friend bool operator==(const AlreadyLeased&, const AlreadyLeased&) = default;

 private:
  WorkerId owner_;
  LogicalTime deadline_;
};

struct RunTerminal {
  RunStatus status = RunStatus::kDone;
  friend bool operator==(const RunTerminal&, const RunTerminal&) = default;
};

struct NotParked {
  ShardStatus status = ShardStatus::kActive;
  friend bool operator==(const NotParked&, const NotParked&) = default;
};

// No room for the bytes. Nothing was changed.
struct ResourceExhausted {
  base::SlabFull slab;
  friend bool operator==(const ResourceExhausted&, const ResourceExhausted&) = default;
};

// ---- Of the machinery --------------------------------------------------------------------------

// `operation` is a label with static lifetime, such as "renew.txn".
struct InfraError {
  enum class Kind : std::uint8_t {
    kTransient,   // The outcome is unknown: repeat the same op id after a while.
    kCorruption,  // Stored data is wrong: an operator must look.
    kRefused,     // Not let in, and nothing was done: the message says who said no, and why.
  };

  Kind kind = Kind::kTransient;
  const char* operation = "";
  std::string message;
  friend bool operator==(const InfraError& a, const InfraError& b) {
    return a.kind == b.kind && std::string_view(a.operation) == b.operation &&
           a.message == b.message;
  }
};

[[nodiscard]] inline InfraError transient(const char* operation, std::string message) {
  return {InfraError::Kind::kTransient, operation, std::move(message)};
}
[[nodiscard]] inline InfraError corruption(const char* operation, std::string message) {
  return {InfraError::Kind::kCorruption, operation, std::move(message)};
}

[[nodiscard]] inline InfraError refused(const char* operation, std::string message) {
  return {InfraError::Kind::kRefused, operation, std::move(message)};
}

// ---- Of runs -----------------------------------------------------------------------------------

struct InvalidConfig {  // the lease duration is 0
  friend bool operator==(const InvalidConfig&, const InvalidConfig&) = default;
};

struct RunNotFound {
  RunId run;
  friend bool operator==(const RunNotFound&, const RunNotFound&) = default;
};

struct RunAlreadyExists {
  RunId run;
  friend bool operator==(const RunAlreadyExists&, const RunAlreadyExists&) = default;
};

struct ConfigMismatch {
  RunId run;
  friend bool operator==(const ConfigMismatch&, const ConfigMismatch&) = default;
};

struct WrongStatus {
  RunStatus status = RunStatus::kInitializing;
  std::optional<RunStatus> target;  // absent for a registration
  friend bool operator==(const WrongStatus&, const WrongStatus&) = default;
};

struct ManifestInvalid {
  shard::ManifestError reason;
  friend bool operator==(const ManifestInvalid&, const ManifestInvalid&) = default;
};

// As OpIdConflict, without any hash.
struct RunOpIdConflict {
  OpId op_id;
  friend bool operator==(const RunOpIdConflict&, const RunOpIdConflict&) = default;
};

struct ShardLimitExceeded {
  std::uint64_t current = 0;
  std::uint64_t additional = 0;
  std::uint64_t max = 0;
  shard::SplitError::Scope scope = shard::SplitError::Scope::kNone;
  friend bool operator==(const ShardLimitExceeded&, const ShardLimitExceeded&) = default;
};

// A registration does not fit; `resource` names what ran out and has static lifetime.
struct RegistrationExhausted {
  const char* resource = "";
  friend bool operator==(const RegistrationExhausted& a, const RegistrationExhausted& b) {
    return std::string_view(a.resource) == b.resource;
  }
};

// Some Active or Parked shard is left; only for completion in strict mode.
struct RunNotSettled {
  std::uint64_t active = 0;
  std::uint64_t parked = 0;
  friend bool operator==(const RunNotSettled&, const RunNotSettled&) = default;
};

struct TooManyLeases {
  std::uint64_t count = 0;
  std::uint64_t max = 0;
  friend bool operator==(const TooManyLeases&, const TooManyLeases&) = default;
};

// ---- Of claims -----------------------------------------------------------------------------------

struct NoneAvailable {
  std::optional<LogicalTime> earliest_deadline;  // when it is worth another try
  friend bool operator==(const NoneAvailable&, const NoneAvailable&) = default;
};

struct Throttled {
  LogicalTime retry_after;
  friend bool operator==(const Throttled&, const Throttled&) = default;
};

// ---- What each operation can return ----------------------------------------------------------------

// What a record says about a presented lease.
using LeaseError = OneOf<TenantMismatch, ShardTerminal, StaleFence, LeaseExpired>;

// What a record says about a new cursor.
using CursorRuleError = OneOf<CheckpointMissingKey,
                              CursorKeyTooLarge,
                              CursorTokenTooLarge,
                              CursorRegression,
                              CursorOutOfBounds>;

// The shared set: whatever any lease-gated operation of the protocol can say.
using CoordError = OneOf<ShardNotFound,
                         TenantMismatch,
                         StaleFence,
                         LeaseExpired,
                         ShardTerminal,
                         OpIdConflict,
                         CursorRegression,
                         CursorOutOfBounds,
                         CursorKeyTooLarge,
                         CursorTokenTooLarge,
                         SplitInvalid,
                         CheckpointMissingKey>;
static_assert(sizeof(CoordError) <= 48);

using AcquireError = OneOf<ShardNotFound, TenantMismatch, ShardTerminal, AlreadyLeased, InfraError>;
using RenewError =
    OneOf<ShardNotFound, TenantMismatch, ShardTerminal, StaleFence, LeaseExpired, InfraError>;
using RenewManyError = OneOf<TooManyLeases, InfraError>;
using CheckpointError = OneOf<ShardNotFound,
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
                              ResourceExhausted,
                              InfraError>;
using CompleteError = CheckpointError;
using ReleaseError = OneOf<ShardNotFound,
                           TenantMismatch,
                           ShardTerminal,
                           StaleFence,
                           LeaseExpired,
                           OpIdConflict,
                           CursorKeyTooLarge,
                           CursorTokenTooLarge,
                           CursorRegression,
                           CursorOutOfBounds,
                           ResourceExhausted,
                           InfraError>;
using ParkError = OneOf<ShardNotFound,
                        TenantMismatch,
                        ShardTerminal,
                        StaleFence,
                        LeaseExpired,
                        OpIdConflict,
                        InfraError>;
using SplitError = OneOf<ShardNotFound,
                         TenantMismatch,
                         ShardTerminal,
                         StaleFence,
                         LeaseExpired,
                         OpIdConflict,
                         SplitInvalid,
                         ResourceExhausted,
                         InfraError>;
using SplitReplaceError = SplitError;
using SplitResidualError = SplitError;

using UnparkError =
    OneOf<ShardNotFound, TenantMismatch, RunTerminal, NotParked, RunOpIdConflict, InfraError>;
using RegisterShardsError = OneOf<RunNotFound,
                                  TenantMismatch,
                                  WrongStatus,
                                  ManifestInvalid,
                                  RunOpIdConflict,
                                  ShardLimitExceeded,
                                  RegistrationExhausted,
                                  InfraError>;
using CreateRunError = OneOf<InvalidConfig, RunAlreadyExists, InfraError>;
// Creating and registering in one call: whatever any of the steps can say.
using CreateWithShardsError = OneOf<InvalidConfig,
                                    ConfigMismatch,
                                    RunNotFound,
                                    TenantMismatch,
                                    WrongStatus,
                                    ManifestInvalid,
                                    RunOpIdConflict,
                                    ShardLimitExceeded,
                                    RegistrationExhausted,
                                    InfraError>;
using GetRunError = OneOf<RunNotFound, TenantMismatch, InfraError>;
using GetShardError = OneOf<ShardNotFound, TenantMismatch, InfraError>;
using ListShardsError = OneOf<RunNotFound, TenantMismatch, ShardNotFound, InfraError>;
using RunTransitionError =
    OneOf<RunNotFound, TenantMismatch, RunTerminal, WrongStatus, RunOpIdConflict, InfraError>;
using FinalizeRunError = OneOf<RunNotFound,
                               TenantMismatch,
                               RunTerminal,
                               WrongStatus,
                               RunOpIdConflict,
                               RunNotSettled,
                               InfraError>;
using ClaimError = OneOf<NoneAvailable, RunNotFound, TenantMismatch, Throttled, InfraError>;
static_assert(sizeof(ClaimError) <= 56);

// ---- Names, texts, and whether another try can help -----------------------------------------------

enum class RetryAdvice : std::uint8_t {
  kNever,  // the same request fails again
  kNow,    // with a fresh lease
  kLater,
};

#define CAD_COORD_ERROR(Type)                                           \
  [[nodiscard]] std::string_view code_name(const Type& error) noexcept; \
  [[nodiscard]] std::string to_text(const Type& error);                 \
  [[nodiscard]] RetryAdvice retry_advice(const Type& error) noexcept

CAD_COORD_ERROR(ShardNotFound);
CAD_COORD_ERROR(TenantMismatch);
CAD_COORD_ERROR(StaleFence);
CAD_COORD_ERROR(LeaseExpired);
CAD_COORD_ERROR(ShardTerminal);
CAD_COORD_ERROR(OpIdConflict);
CAD_COORD_ERROR(CursorRegression);
CAD_COORD_ERROR(CursorOutOfBounds);
CAD_COORD_ERROR(CursorKeyTooLarge);
CAD_COORD_ERROR(CursorTokenTooLarge);
CAD_COORD_ERROR(CheckpointMissingKey);
CAD_COORD_ERROR(SplitInvalid);
CAD_COORD_ERROR(AlreadyLeased);
CAD_COORD_ERROR(RunTerminal);
CAD_COORD_ERROR(NotParked);
CAD_COORD_ERROR(ResourceExhausted);
CAD_COORD_ERROR(InfraError);
CAD_COORD_ERROR(InvalidConfig);
CAD_COORD_ERROR(RunNotFound);
CAD_COORD_ERROR(RunAlreadyExists);
CAD_COORD_ERROR(ConfigMismatch);
CAD_COORD_ERROR(WrongStatus);
CAD_COORD_ERROR(ManifestInvalid);
CAD_COORD_ERROR(RunOpIdConflict);
CAD_COORD_ERROR(ShardLimitExceeded);
CAD_COORD_ERROR(RegistrationExhausted);
CAD_COORD_ERROR(RunNotSettled);
CAD_COORD_ERROR(TooManyLeases);
CAD_COORD_ERROR(NoneAvailable);
CAD_COORD_ERROR(Throttled);

#undef CAD_COORD_ERROR

template <class... Alternatives>
[[nodiscard]] std::string_view code_name(const OneOf<Alternatives...>& error) noexcept {
  return error.visit([](const auto& held) { return code_name(held); });
}
template <class... Alternatives>
[[nodiscard]] std::string to_text(const OneOf<Alternatives...>& error) {
  return error.visit([](const auto& held) { return to_text(held); });
}
template <class... Alternatives>
[[nodiscard]] RetryAdvice retry_advice(const OneOf<Alternatives...>& error) noexcept {
  return error.visit([](const auto& held) { return retry_advice(held); });
}

}  // namespace cadastre::coord
