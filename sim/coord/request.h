// A request as it travels, and its answer: the boundary at which the oracles stand.
//
// A Request owns all its bytes, so it can wait in the network, be delivered twice, or be repeated
// after its answer was lost. An Answer says what a backend returned, in one form for all operations.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "coord/backend.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/run_record.h"
#include "coord/snapshot.h"
#include "coord/states.h"

namespace cadastre::sim {

enum class Call : std::uint8_t {
  kAcquire,
  kClaim,
  kRenew,
  kRenewMany,
  kCheckpoint,
  kComplete,
  kPark,
  kRelease,
  kSplitReplace,
  kSplitResidual,
  kUnpark,
  kCreateRun,
  kRegister,
  kCompleteRun,
  kFailRun,
  kCancelRun,
  kCollectGarbage,
};
inline constexpr std::size_t kCallCount = 17;

[[nodiscard]] std::string_view name(Call call) noexcept;

// A range of a plan or a manifest.
struct Piece {
  coord::ShardId shard;  // of a manifest; else 0
  base::Bytes start;
  base::Bytes end;
  base::Bytes last_key;  // empty: absent

  friend bool operator==(const Piece&, const Piece&) = default;
};

struct Request {
  Call call = Call::kAcquire;
  coord::LogicalTime now;
  coord::TenantId tenant;
  coord::WorkerId worker;            // of acquire and claim; else who sends it
  coord::ShardKey key;               // the shard, or only its run
  std::vector<coord::Lease> leases;  // one, but for renew_many and what needs none
  base::Bytes last_key;              // empty: absent
  base::Bytes token;                 // empty: absent
  coord::ParkReason reason = coord::ParkReason::kOther;
  coord::OpId op;
  std::vector<Piece> pieces;  // of splits and registrations
  coord::RunConfig config;    // of create_run
  coord::LogicalTime before;  // of collecting garbage
};

// Whether it names an op id, which the shard's or the run's log remembers.
[[nodiscard]] bool is_logged(Call call) noexcept;
// Whether that log is the run's.
[[nodiscard]] bool is_run_call(Call call) noexcept;
// Whether it presents a lease and has an op id.
[[nodiscard]] bool is_lease_gated(Call call) noexcept;

// Equal for equal payloads: whatever but op id, time, tenant and lease the request says.
[[nodiscard]] std::uint64_t payload_of(const Request& request);

enum class Verdict : std::uint8_t {
  kGranted,   // a lease
  kRenewed,   // renew
  kExecuted,  // did something
  kReplayed,  // had done so before
  kDone,      // calls without outcome
  kRefused,
};

// What renewing one lease of several answered.
struct Renewal {
  std::string_view code;  // empty: renewed
  coord::LogicalTime deadline;
  coord::CapacityHint capacity;
};

struct Answer {
  Verdict verdict = Verdict::kRefused;
  std::string_view code;                       // the error's name; empty if there was none
  std::optional<coord::Lease> lease;           // of kGranted
  coord::CapacityHint capacity;                // of kGranted and kRenewed
  coord::LogicalTime deadline;                 // of kRenewed
  coord::FenceEpoch fence;                     // of unpark
  std::vector<coord::ShardId> shards;          // made by a split or registered
  std::vector<Renewal> renewals;               // of renew_many
  std::optional<coord::LogicalTime> earliest;  // of a claim that found nothing
  std::size_t forgotten = 0;                   // runs, of collecting garbage

  // What the worker learns from a grant.
  base::Bytes start;
  base::Bytes end;
  base::Bytes last_key;

  [[nodiscard]] bool accepted() const noexcept { return verdict != Verdict::kRefused; }
  // Whether a record may have changed.
  [[nodiscard]] bool effective() const noexcept {
    return accepted() && verdict != Verdict::kReplayed;
  }
};

[[nodiscard]] std::string_view name(Verdict verdict) noexcept;

// Carries a request to a backend.
[[nodiscard]] Answer call(coord::CoordinationFacade& backend,
                          const Request& request,
                          coord::AcquireScratch& scratch);

// One line, for histories.
[[nodiscard]] std::string to_text(const Request& request);
[[nodiscard]] std::string to_text(const Answer& answer);

}  // namespace cadastre::sim
