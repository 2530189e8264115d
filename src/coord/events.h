// Events: what happened, for observers. Inert data; coordination never acts on them.
//
// One event for each executed operation; retries and refusals make none.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "coord/identity.h"
#include "coord/states.h"

namespace cadastre::coord {

// A key that must not be read by accident: it prints its length, and nothing serializes it.
class RedactedKey {
 public:
  RedactedKey() = default;
  explicit RedactedKey(std::optional<ByteView> key);

  [[nodiscard]] const std::optional<base::Bytes>& unredacted() const noexcept { return key_; }
  friend std::string to_string(const RedactedKey& key);  // `None` or `Some(<15 bytes>)`
  friend bool operator==(const RedactedKey&, const RedactedKey&) = default;

 private:
  std::optional<base::Bytes> key_;
};

struct ShardAcquired {
  ShardId shard;
  WorkerId worker;
  FenceEpoch fence;
  friend bool operator==(const ShardAcquired&, const ShardAcquired&) = default;
};
struct ShardCheckpointed {
  ShardId shard;
  RedactedKey last_key;
  friend bool operator==(const ShardCheckpointed&, const ShardCheckpointed&) = default;
};
struct ShardLeaseRenewed {
  ShardId shard;
  LogicalTime new_deadline;
  friend bool operator==(const ShardLeaseRenewed&, const ShardLeaseRenewed&) = default;
};
struct ShardReleased {
  ShardId shard;
  RedactedKey last_key;  // absent: the cursor stayed
  friend bool operator==(const ShardReleased&, const ShardReleased&) = default;
};
struct ShardResidualCreated {
  ShardId parent;
  ShardId residual;
  friend bool operator==(const ShardResidualCreated&, const ShardResidualCreated&) = default;
};
struct ShardUnparked {
  ShardId shard;
  FenceEpoch new_fence;
  friend bool operator==(const ShardUnparked&, const ShardUnparked&) = default;
};
struct ShardCompleted {
  ShardId shard;
  friend bool operator==(const ShardCompleted&, const ShardCompleted&) = default;
};
struct ShardParked {
  ShardId shard;
  ParkReason reason = ParkReason::kOther;
  friend bool operator==(const ShardParked&, const ShardParked&) = default;
};
struct ShardSplit {
  ShardId parent;
  std::vector<ShardId> children;
  friend bool operator==(const ShardSplit&, const ShardSplit&) = default;
};
struct RunCreated {
  friend bool operator==(const RunCreated&, const RunCreated&) = default;
};
struct RunActivated {
  std::size_t shard_count = 0;
  friend bool operator==(const RunActivated&, const RunActivated&) = default;
};
struct RunEnded {
  RunStatus status = RunStatus::kDone;  // kDone, kFailed or kCancelled
  friend bool operator==(const RunEnded&, const RunEnded&) = default;
};

// May grow: a visitor outside this library has an arm for the rest.
using EventKind = std::variant<ShardAcquired,
                               ShardCheckpointed,
                               ShardLeaseRenewed,
                               ShardReleased,
                               ShardResidualCreated,
                               ShardUnparked,
                               ShardCompleted,
                               ShardParked,
                               ShardSplit,
                               RunCreated,
                               RunActivated,
                               RunEnded>;

struct StateTransitionEvent {
  TenantId tenant;
  RunId run;
  LogicalTime at;
  EventKind kind;
  friend bool operator==(const StateTransitionEvent&, const StateTransitionEvent&) = default;
};

enum class EventCategory : std::uint8_t {
  kShard,
  kRun,
};
[[nodiscard]] EventCategory category(const EventKind& kind) noexcept;
// Whether the shard or run is over with it.
[[nodiscard]] bool is_terminal(const EventKind& kind) noexcept;
[[nodiscard]] std::string_view name(const EventKind& kind) noexcept;  // "shard_acquired"
[[nodiscard]] std::string to_text(const StateTransitionEvent& event);

static_assert(!std::is_convertible_v<RedactedKey, std::string_view>,
              "a generic serializer finds nothing to print");

}  // namespace cadastre::coord
