// The bounds of what other nodes may make this one do, and what happens when they are reached.

#pragma once

#include <chrono>

namespace cadastre::server {

// From a call of a peer to its first message. Over: the call ends.
inline constexpr std::chrono::milliseconds kFirstWordWait{5'000};

// Lines of the log, the rest is not written: about what a peer tells, and about checkpoints of a group that were not fetched.
inline constexpr std::chrono::seconds kToldLineEvery{1};
inline constexpr std::chrono::seconds kNotFetchedLineEvery{10};

}  // namespace cadastre::server
