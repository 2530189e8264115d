// Every limit of the client and of the wire, and the relations between them.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "coord/limits.h"
#include "shard/limits.h"

namespace cadastre::client {

inline constexpr std::size_t kTenantBytes = 32;

// Of one message. More is refused by gRPC before anyone looks at it; a larger manifest is registered
// with smaller metadata.
inline constexpr std::size_t kMessageBytesMax = std::size_t{33} << 20;
static_assert(kMessageBytesMax >=
                  coord::kMaxSplitChildren * (3 * coord::kMaxKeySize + coord::kMaxMetadataSize) +
                      (std::size_t{1} << 20),
              "a split of as many children as there may be fits, with large keys");

inline constexpr std::uint32_t kListLimitMax = static_cast<std::uint32_t>(coord::kListLimitDefault);
inline constexpr std::uint32_t kStreamGrantsMax = 1024;  // of one claim stream
static_assert(kStreamGrantsMax <= coord::kRenewManyMax, "what one stream grants, one call renews");

// The protocol's own limits have their own errors; a request this far beyond them is no request.
inline constexpr int kRequestShardsMax = 2 * static_cast<int>(coord::kMaxInitialShards);
inline constexpr int kRequestLeasesMax = 2 * static_cast<int>(coord::kRenewManyMax);

// Calls of one client under way; one more ends at once with kTransient and is not sent.
inline constexpr std::size_t kCallsMaxDefault = 1024;

inline constexpr std::size_t kErrorTextMax = 1024;  // of a detail, in bytes

// Servers of one cluster that a client knows. More are no address.
inline constexpr std::size_t kAddressesMax = 16;

}  // namespace cadastre::client
