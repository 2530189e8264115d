// Every limit of the way to a real etcd, and the relations between them.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "coord/etcd/limits.h"

namespace cadastre::coord::etcd {

// Of the configuration (10.6).
inline constexpr std::size_t kEndpointsMax = 16;
inline constexpr std::size_t kEndpointBytesMax = 512;
inline constexpr std::size_t kPemBytesMax = std::size_t{1} << 20;
inline constexpr std::size_t kCredentialBytesMax = 1024;
inline constexpr std::chrono::milliseconds kTimeoutMin{10};
inline constexpr std::chrono::milliseconds kTimeoutMax{60'000};
inline constexpr std::chrono::seconds kOwnerLeaseTtlMax{3600};
inline constexpr std::size_t kChildrenPerOpMax = children_max_of(kTxnOpsDefault);

// Of the traffic. A call beyond the first is refused as unavailable; an answer beyond the second is an error.
inline constexpr std::uint64_t kCallsInFlightMax = 4096;
inline constexpr int kAnswerBytesMax = 64 << 20;
inline constexpr std::size_t kForeignTextBytesMax = 200;  // of what etcd says, in our errors

static_assert(kTimeoutMax < kOwnerLeaseTtlMax, "one call is over long before an owner's lease");

}  // namespace cadastre::coord::etcd
