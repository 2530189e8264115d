// C-8.3: what each operation can say, checked by the compiler.

#include <type_traits>

#include <gtest/gtest.h>

#include "coord/errors.h"
#include "coord/identity.h"

namespace cadastre::coord {
namespace {

template <class Set, class... Errors>
inline constexpr bool kCanSay = (std::is_constructible_v<Set, Errors> && ...);
template <class Set, class... Errors>
inline constexpr bool kNeverSays = (!std::is_constructible_v<Set, Errors> && ...);

static_assert(
    kCanSay<AcquireError, ShardNotFound, TenantMismatch, ShardTerminal, AlreadyLeased, InfraError>);
static_assert(kNeverSays<AcquireError,
                         StaleFence,
                         LeaseExpired,
                         OpIdConflict,
                         CheckpointMissingKey,
                         CursorRegression,
                         SplitInvalid,
                         ResourceExhausted,
                         RunTerminal,
                         NotParked>);

static_assert(kCanSay<RenewError,
                      ShardNotFound,
                      TenantMismatch,
                      ShardTerminal,
                      StaleFence,
                      LeaseExpired,
                      InfraError>);
static_assert(kNeverSays<RenewError,
                         OpIdConflict,
                         CheckpointMissingKey,
                         CursorRegression,
                         CursorOutOfBounds,
                         CursorKeyTooLarge,
                         CursorTokenTooLarge,
                         SplitInvalid,
                         AlreadyLeased,
                         ResourceExhausted,
                         RunTerminal,
                         NotParked>);

static_assert(kCanSay<CheckpointError,
                      ShardNotFound,
                      TenantMismatch,
                      ShardTerminal,
                      StaleFence,
                      LeaseExpired,
                      OpIdConflict,
                      CheckpointMissingKey,
                      CursorRegression,
                      CursorOutOfBounds,
                      CursorKeyTooLarge,
                      CursorTokenTooLarge,
                      ResourceExhausted,
                      InfraError>);
static_assert(kNeverSays<CheckpointError,
                         SplitInvalid,
                         AlreadyLeased,
                         RunTerminal,
                         NotParked,
                         RunOpIdConflict>);
static_assert(std::is_same_v<CompleteError, CheckpointError>);
static_assert(kCanSay<ReleaseError, OpIdConflict, CursorRegression> &&
              kNeverSays<ReleaseError, CheckpointMissingKey, SplitInvalid, AlreadyLeased>);

static_assert(kCanSay<ParkError,
                      ShardNotFound,
                      TenantMismatch,
                      ShardTerminal,
                      StaleFence,
                      LeaseExpired,
                      OpIdConflict,
                      InfraError>);
static_assert(kNeverSays<ParkError,
                         CheckpointMissingKey,
                         CursorRegression,
                         CursorOutOfBounds,
                         CursorKeyTooLarge,
                         CursorTokenTooLarge,
                         SplitInvalid,
                         AlreadyLeased,
                         ResourceExhausted,
                         RunTerminal,
                         NotParked>);

static_assert(kCanSay<SplitError,
                      ShardNotFound,
                      TenantMismatch,
                      ShardTerminal,
                      StaleFence,
                      LeaseExpired,
                      OpIdConflict,
                      SplitInvalid,
                      ResourceExhausted,
                      InfraError>);
static_assert(kNeverSays<SplitError,
                         CheckpointMissingKey,
                         CursorRegression,
                         CursorOutOfBounds,
                         CursorKeyTooLarge,
                         CursorTokenTooLarge,
                         AlreadyLeased,
                         RunTerminal,
                         NotParked>);
static_assert(std::is_same_v<SplitReplaceError, SplitError>);
static_assert(std::is_same_v<SplitResidualError, SplitError>);

static_assert(kCanSay<UnparkError,
                      ShardNotFound,
                      TenantMismatch,
                      RunTerminal,
                      NotParked,
                      RunOpIdConflict,
                      InfraError>);
static_assert(kNeverSays<UnparkError,
                         ShardTerminal,
                         StaleFence,
                         LeaseExpired,
                         OpIdConflict,
                         AlreadyLeased,
                         SplitInvalid,
                         ResourceExhausted>);

// C-6.6: no hash of a run's operation can be reached (SEC-6).
static_assert(kCanSay<RegisterShardsError,
                      RunNotFound,
                      TenantMismatch,
                      WrongStatus,
                      ManifestInvalid,
                      RunOpIdConflict,
                      ShardLimitExceeded,
                      RegistrationExhausted,
                      InfraError>);
static_assert(
    kNeverSays<RegisterShardsError, OpIdConflict, RunTerminal, ShardNotFound, StaleFence>);
static_assert(kCanSay<RunTransitionError,
                      RunNotFound,
                      TenantMismatch,
                      RunTerminal,
                      WrongStatus,
                      RunOpIdConflict,
                      InfraError>);
static_assert(kNeverSays<RunTransitionError, OpIdConflict, ManifestInvalid, ShardLimitExceeded>);
static_assert(kCanSay<GetRunError, RunNotFound, TenantMismatch, InfraError> &&
              kNeverSays<GetRunError, WrongStatus, RunOpIdConflict>);
static_assert(
    kCanSay<ClaimError, NoneAvailable, RunNotFound, TenantMismatch, Throttled, InfraError> &&
    kNeverSays<ClaimError, AlreadyLeased, ShardNotFound, ShardTerminal>);

// Sets widen and never narrow.
static_assert(std::is_convertible_v<LeaseError, RenewError> &&
              std::is_convertible_v<CursorRuleError, CheckpointError>);
static_assert(kNeverSays<LeaseError, RenewError, CoordError> &&
              kNeverSays<RenewError, CoordError, CheckpointError>);

// C-8.2, C-7.3
static_assert(sizeof(CoordError) <= 48 && sizeof(ClaimError) <= 56);

TEST(ErrorSets, KeepTheErrorWhenTheyWiden) {
  const LeaseError narrow = StaleFence{FenceEpoch::from_raw(2), FenceEpoch::from_raw(3)};
  const RenewError wide = narrow;
  EXPECT_TRUE(wide.is<StaleFence>());
  EXPECT_EQ(wide, (StaleFence{FenceEpoch::from_raw(2), FenceEpoch::from_raw(3)}));
  EXPECT_NE(wide, (StaleFence{FenceEpoch::from_raw(2), FenceEpoch::from_raw(4)}));
  EXPECT_EQ(wide.get_if<LeaseExpired>(), nullptr);
}

}  // namespace
}  // namespace cadastre::coord
