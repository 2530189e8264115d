// The states and kinds of the protocol. Their numbers are stored and hashed: never renumber, never
// reuse one.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include "shard/cursor.h"

namespace cadastre::coord {

using shard::CursorSemantics;

enum class ShardStatus : std::uint8_t {
  kActive = 0,
  kDone = 1,    // final
  kSplit = 2,   // final: its children carry on
  kParked = 3,  // until an operator unparks it
};

// Why a shard was set aside, and what its operator does about it.
enum class ParkReason : std::uint8_t {
  kPermissionDenied = 0,  // rotate credentials
  kNotFound = 1,          // confirm the target
  kPoisoned = 2,          // look into it by hand
  kTooManyErrors = 3,     // may be unparked automatically after a while
  kOther = 4,             // the worker's log says more
};

enum class OpKind : std::uint8_t {
  kCheckpoint = 0,
  kComplete = 1,
  kPark = 2,
  kSplitReplace = 3,
  kSplitResidual = 4,
  kUnpark = 5,
  kRelease = 6,
};

enum class OpResult : std::uint8_t {
  kCompleted = 0,   // the only one that is written
  kError = 1,       // reserved
  kSuperseded = 2,  // reserved
};

enum class RunStatus : std::uint8_t {
  kInitializing = 0,
  kActive = 1,
  kDone = 2,
  kFailed = 3,
  kCancelled = 4,
};

enum class RunOpKind : std::uint8_t {
  kRegisterShards = 0,
  kCompleteRun = 1,
  kFailRun = 2,
  kCancelRun = 3,
};

enum class DerivedShardKind : std::uint8_t {
  kChild = 0,
  kResidual = 1,
};

static_assert(static_cast<int>(CursorSemantics::kCompleted) == 0);
static_assert(static_cast<int>(CursorSemantics::kDispatched) == 1);

[[nodiscard]] constexpr bool is_terminal(ShardStatus status) noexcept {
  return status != ShardStatus::kActive;
}
[[nodiscard]] constexpr bool is_terminal(RunStatus status) noexcept {
  return status != RunStatus::kInitializing && status != RunStatus::kActive;
}

// The value with this stored number, or nothing.
template <class E>
[[nodiscard]] constexpr std::optional<E> parse_stored(std::uint8_t stored) noexcept {
  constexpr auto kLast = [] {
    if constexpr (std::is_same_v<E, ShardStatus>)
      return ShardStatus::kParked;
    else if constexpr (std::is_same_v<E, ParkReason>)
      return ParkReason::kOther;
    else if constexpr (std::is_same_v<E, OpKind>)
      return OpKind::kRelease;
    else if constexpr (std::is_same_v<E, OpResult>)
      return OpResult::kSuperseded;
    else if constexpr (std::is_same_v<E, RunStatus>)
      return RunStatus::kCancelled;
    else if constexpr (std::is_same_v<E, RunOpKind>)
      return RunOpKind::kCancelRun;
    else if constexpr (std::is_same_v<E, CursorSemantics>)
      return CursorSemantics::kDispatched;
    else if constexpr (std::is_same_v<E, DerivedShardKind>)
      return DerivedShardKind::kResidual;
  }();
  if (stored > static_cast<std::uint8_t>(kLast)) return std::nullopt;
  return static_cast<E>(stored);
}

// Snake case, as scripts see them.
[[nodiscard]] std::string_view name(ShardStatus status) noexcept;
[[nodiscard]] std::string_view name(ParkReason reason) noexcept;
[[nodiscard]] std::string_view name(OpKind kind) noexcept;
[[nodiscard]] std::string_view name(RunStatus status) noexcept;
[[nodiscard]] std::string_view name(RunOpKind kind) noexcept;
[[nodiscard]] std::string_view name(CursorSemantics semantics) noexcept;

[[nodiscard]] std::optional<ParkReason> park_reason_named(std::string_view text) noexcept;
[[nodiscard]] std::optional<CursorSemantics> semantics_named(std::string_view text) noexcept;

// Words for people: "permission denied".
[[nodiscard]] std::string_view words(ParkReason reason) noexcept;

}  // namespace cadastre::coord
