// Leases: the right to change one shard until a deadline, under a fencing token.
//
// A lease is live at `now` exactly if now < deadline. The record's deadline counts, never the copy
// that a worker presents: a renewal does not make the worker's older copy worthless, and a forged
// deadline gains nothing.

#pragma once

#include <optional>

#include "base/attributes.h"
#include "base/check.h"
#include "coord/identity.h"

namespace cadastre::coord {

// Who holds a shard, inside its record. The deadline is not 0.
struct LeaseHolder {
  WorkerId owner;
  LogicalTime deadline;

  friend constexpr bool operator==(const LeaseHolder&, const LeaseHolder&) noexcept = default;
};

[[nodiscard]] constexpr bool is_live(const std::optional<LeaseHolder>& lease,
                                     LogicalTime now) noexcept {
  return lease && now < lease->deadline;
}

struct LeaseParts {
  TenantId tenant;
  ShardKey key;
  WorkerId owner;
  FenceEpoch fence;
  LogicalTime deadline;

  friend bool operator==(const LeaseParts&, const LeaseParts&) noexcept = default;
};

// What a worker holds and presents. Whatever it writes elsewhere should carry fence(), so that a
// store can refuse the output of an owner that was superseded.
class Lease {
 public:
  // For backends, which have just granted it.
  [[nodiscard]] static Lease granted(const LeaseParts& parts) noexcept {
    CAD_CHECK(is_assigned(parts.fence), "a granted lease has an epoch");
    CAD_CHECK(parts.deadline != LogicalTime(), "a granted lease has a deadline");
    return Lease(parts);
  }
  // For doors that read one from a caller; nothing if it cannot have been granted. A forged one is
  // refused by the shard's record.
  [[nodiscard]] static std::optional<Lease> presented(const LeaseParts& parts) noexcept {
    if (!is_assigned(parts.fence) || parts.deadline == LogicalTime()) return std::nullopt;
    return Lease(parts);
  }

  [[nodiscard]] const TenantId& tenant() const noexcept CAD_LIFETIMEBOUND { return parts_.tenant; }
  [[nodiscard]] RunId run() const noexcept { return parts_.key.run; }
  [[nodiscard]] ShardId shard() const noexcept { return parts_.key.shard; }
  [[nodiscard]] ShardKey shard_key() const noexcept { return parts_.key; }
  [[nodiscard]] WorkerId owner() const noexcept { return parts_.owner; }
  [[nodiscard]] FenceEpoch fence() const noexcept { return parts_.fence; }
  [[nodiscard]] LogicalTime deadline() const noexcept { return parts_.deadline; }

  // The same lease after a renewal, which never shortens it.
  [[nodiscard]] Lease extended_to(LogicalTime deadline) const noexcept {
    CAD_CHECK(deadline >= parts_.deadline, "a renewal never shortens a lease");
    Lease extended = *this;
    extended.parts_.deadline = deadline;
    return extended;
  }

  friend bool operator==(const Lease&, const Lease&) noexcept = default;

 private:
  explicit Lease(const LeaseParts& parts) noexcept : parts_(parts) {}
  LeaseParts parts_;
};

}  // namespace cadastre::coord
