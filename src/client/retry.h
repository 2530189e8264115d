// Retries: whether a call that failed is made again, and when.
//
// A request that may be repeated is one that takes effect once however often it arrives: it has an op id, or
// changes nothing, or sets what it set before (renewals). Such a request is repeated after every failure whose
// outcome is unknown, so that a caller learns what happened: the answer says kReplayed if an earlier try had
// been executed. Acquisitions, claims and the creation of a run are carried out once at most: of these nobody
// could tell a first answer from a second. They are repeated only after a failure that certainly did nothing: no
// connection came about, or a server said so (nobody leads, too many calls). After a claim whose answer was lost
// the shard is leased to a worker that does not know of it, until the lease ends.
//
// The default policy outlasts an election: a leader that was killed costs its callers a wait, not an error.
//
// Everything here is a pure function of its arguments.

#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "base/random.h"
#include "client/wire_error.h"

namespace cadastre::client {

enum class Repeat : std::uint8_t {
  kSafe,
  kOnce,  // Unless nothing was done for certain.
};

struct RetryPolicy {
  std::uint32_t attempts_max = 16;  // with the first
  std::chrono::milliseconds delay_min{10};
  std::chrono::milliseconds delay_max{1000};
  std::chrono::milliseconds budget{30'000};  // from the first attempt on
};

struct Attempts {
  std::uint32_t made = 0;  // all failed
  base::Elapsed spent{};   // since the first began
};

// How long to wait before the next attempt, or nothing if there is none: doubled from one to the next, and
// taken at random between half and whole, so that callers who failed together do not return together.
[[nodiscard]] std::optional<std::chrono::milliseconds> next_attempt(const RetryPolicy& policy,
                                                                    Repeat repeat,
                                                                    const Attempts& attempts,
                                                                    const Failure& failure,
                                                                    base::Random& random);

}  // namespace cadastre::client
