// What an operator sees of the calls: how many by method and status, how long they took, how many are
// under way. Recorded from any thread without a lock.

#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "client/wire_error.h"
#include "log/histogram.h"

namespace cadastre::server {

// In the order of the service's file.
enum class Method : std::uint8_t {
  kCreateRun,
  kRegisterShards,
  kGetRun,
  kGetRunProgress,
  kListRuns,
  kGetShard,
  kListShards,
  kListClaimCandidates,
  kCompleteRun,
  kFailRun,
  kCancelRun,
  kUnparkShard,
  kCollectTerminalRuns,
  kAcquire,
  kClaim,
  kClaimStream,
  kRenew,
  kRenewMany,
  kCheckpoint,
  kComplete,
  kRelease,
  kPark,
  kSplitReplace,
  kSplitResidual,
};
inline constexpr std::array<std::string_view, 24> kMethodNames{
    "CreateRun",
    "RegisterShards",
    "GetRun",
    "GetRunProgress",
    "ListRuns",
    "GetShard",
    "ListShards",
    "ListClaimCandidates",
    "CompleteRun",
    "FailRun",
    "CancelRun",
    "UnparkShard",
    "CollectTerminalRuns",
    "Acquire",
    "Claim",
    "ClaimStream",
    "Renew",
    "RenewMany",
    "Checkpoint",
    "Complete",
    "Release",
    "Park",
    "SplitReplace",
    "SplitResidual",
};
static_assert(static_cast<std::size_t>(Method::kSplitResidual) + 1 == kMethodNames.size());

inline constexpr std::size_t kStatusCodes =
    static_cast<std::size_t>(client::StatusCode::kUnauthenticated) + 1;

class OperationMetrics {
 public:
  void record(Method method, client::StatusCode code, std::chrono::nanoseconds took) noexcept {
    OfMethod& of = methods_[static_cast<std::size_t>(method)];
    of.codes[static_cast<std::size_t>(code)].fetch_add(1, std::memory_order_relaxed);
    of.took_ns.record(static_cast<std::uint64_t>(took.count() < 0 ? 0 : took.count()));
  }

  struct OfMethod {
    std::array<std::atomic<std::uint64_t>, kStatusCodes> codes{};
    log::Histogram took_ns;
  };
  [[nodiscard]] const std::array<OfMethod, kMethodNames.size()>& methods() const noexcept {
    return methods_;
  }

  // Grants that streams have sent.
  std::atomic<std::uint64_t> streamed_grants{0};

 private:
  std::array<OfMethod, kMethodNames.size()> methods_{};
};

}  // namespace cadastre::server
