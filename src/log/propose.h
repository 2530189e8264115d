// Proposals and their answers: done, certainly not done, or unknown.
//
// A Done is called exactly once, on the group's applier thread if the command was seen to be applied or
// replaced and on some thread of the log else, with no lock held. It must not block; proposing from inside it is fine.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "log/types.h"

namespace cadastre::log {

enum class ProposeError : std::uint8_t {
  kNotLeader,       // Nothing was appended: ask the leader, which `detail` names if it is known.
  kOverloaded,      // Nothing was appended: wait and try again.
  kTooLarge,        // Nothing was appended and never will be.
  kStopped,         // Nothing was appended: the group is closing or has halted on this node.
  kSuperseded,      // Appended, then replaced by another leader's entry: certainly not executed.
  kOutcomeUnknown,  // Appended, then we lost sight of it: read before you decide.
};

[[nodiscard]] std::string_view name_of(ProposeError error) noexcept;

struct Applied {
  Position at;
  base::Bytes result;  // What the state machine said to this command.
};

using Answer = base::Result<Applied, ProposeError>;
using Done = std::move_only_function<void(Answer)>;

// The command is borrowed for the call that proposes it.
struct Proposal {
  base::ByteView command;
  Done done;
};

// User commands leave room for system ones, so that a flooded group can still finish what it began.
enum class Class : std::uint8_t {
  kUser,
  kSystem
};

enum class ReadMode : std::uint8_t {
  kLinearizable,  // Everything completed before the call is visible when it is answered. Leader only.
  kFollower,      // The same on any replica: the leader is asked for its index (L-84).
  // The same at a leader, which asks nobody while its lease is valid (8.3) and is kLinearizable else. The
  // reader looks twice: Group::still_holds after it took its snapshot. May be answered on the calling thread,
  // before the call returns.
  kLeaseIfValid,
};
inline constexpr std::size_t kReadModes = 3;
[[nodiscard]] std::string_view name_of(ReadMode mode) noexcept;

enum class ReadError : std::uint8_t {
  kNotLeader,    // Ask the leader.
  kOverloaded,   // Too many readers wait: try again.
  kUnavailable,  // No answer in time: try again.
  kStopped,      // The group is closing or has halted on this node.
};

// Names the lease that a reader rests on.
struct LeaseToken {
  std::uint64_t generation = 0;
};
// Where a reader may read.
struct ReadPoint {
  Index applied;                                   // What has been applied here, at least.
  std::optional<LeaseToken> lease = std::nullopt;  // Nothing: a quorum was asked.
};

using ReadAnswer = base::Result<ReadPoint, ReadError>;
using ReadDone = std::move_only_function<void(ReadAnswer)>;

}  // namespace cadastre::log
