// Every bound of the server, and what happens when it is reached.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "coord/limits.h"
#include "log/limits.h"
#include "shard/limits.h"

namespace cadastre::server {

// One request. A longer one is RESOURCE_EXHAUSTED before it is parsed. A manifest as large as a log
// entry fits.
inline constexpr std::size_t kRequestBytesMax = std::size_t{33} << 20;

// Calls under way, of all connections. One more is RESOURCE_EXHAUSTED: try later.
inline constexpr std::size_t kCallsMax = 16'384;
// Calls of one connection; a client waits for room.
inline constexpr int kCallsPerConnectionMax = 4'096;
// What gRPC may hold in buffers; connections are refused above it.
inline constexpr std::size_t kGrpcBufferBytesMax = std::size_t{512} << 20;

// What gRPC reads ahead of a stream between nodes. Fixed: to find a size by itself it sends a ping behind whatever arrives,
// which doubles the packets of a conversation of small messages.
inline constexpr int kPeerWindowBytes = 4 << 20;

// Streams on a connection of another node: one lane, and files that it fetches; it waits for room.
inline constexpr int kStreamsPerPeerConnectionMax = 16;

// Checkpoints between nodes. A range of a file; a longer one is refused.
inline constexpr std::size_t kFetchBytesMax = std::size_t{256} << 10;
// Ranges being read for peers. One more is told to come back.
inline constexpr std::size_t kRangesUnderWayMax = 8;
// What peers get of this node's checkpoints in a second, all of them together, unless the operator says otherwise: a
// follower that catches up must leave the group its disk and its processors.
inline constexpr std::uint64_t kFetchPaceDefault = std::uint64_t{64} << 20;
inline constexpr std::uint64_t kFetchPaceMin = std::uint64_t{1} << 20;
inline constexpr std::uint64_t kFetchPaceMax = std::uint64_t{1} << 40;
// A staging without progress for so long is given up (L-75).
inline constexpr std::chrono::seconds kStageStallMax{60};
inline constexpr std::chrono::milliseconds kFetchAgainAfter{200};
inline constexpr std::chrono::seconds kFetchDeadline{10};
static_assert(kRangesUnderWayMax * kFetchBytesMax / kFetchPaceMin <
                  static_cast<std::uint64_t>(kFetchDeadline.count()),
              "a range is not called late because of the pace");

// Claim streams that are open. One more is RESOURCE_EXHAUSTED: try later.
inline constexpr std::size_t kClaimStreamsMax = 16'384;
inline constexpr std::size_t kClaimStreamsPerTenantMax = 8'192;
// Claims under way for the streams of one run; the others wait their turn.
inline constexpr std::size_t kClaimsPerRunMax = 16;
// Grants that one stream asks for; more is a bad request.
inline constexpr std::uint32_t kGrantsPerStreamMax = 1'000'000;
// A claim that found nothing is not repeated before this, whatever the deadlines say.
inline constexpr std::chrono::milliseconds kClaimAgainMin{5};

// A page of a list; a request may ask for less.
inline constexpr std::uint32_t kPageMax = 1'000;

// Tokens. A larger file is refused.
inline constexpr std::size_t kTokenFileBytesMax = std::size_t{1} << 20;
inline constexpr std::size_t kTokensMax = 4'096;
inline constexpr std::size_t kTenantsPerTokenMax = 256;
inline constexpr std::size_t kTokenBytesMin = 16;  // a shorter one can be guessed
inline constexpr std::size_t kTokenBytesMax = 512;

// A certificate or a key; a larger file is refused.
inline constexpr std::size_t kPemFileBytesMax = std::size_t{1} << 20;

// A topology file; a larger one, or one with more in it, is refused.
inline constexpr std::size_t kTopologyBytesMax = std::size_t{1} << 20;
inline constexpr std::size_t kTopologyNodesMax = 64;
inline constexpr std::size_t kTopologyRangesMax = 4'096;
inline constexpr int kTopologyDepthMax = 4;
inline constexpr std::size_t kNodeNameBytesMax = 64;
inline constexpr std::size_t kNodeAddressBytesMax = 255;
static_assert(kTopologyNodesMax <= log::kMembersMax, "every node may be a member of a group");

// Nodes that calls are forwarded to, over the life of a process. One more is not forwarded to: no leader is known.
inline constexpr std::size_t kForwardAddressesMax = 1'024;

// HTTP: connections wait for one of the threads; what is longer or slower is closed.
inline constexpr std::size_t kHttpThreads = 2;
inline constexpr std::size_t kHttpRequestBytesMax = std::size_t{16} << 10;
inline constexpr std::chrono::seconds kHttpTimeout{5};
inline constexpr std::size_t kHttpRequestsPerConnectionMax = 100;

static_assert(kClaimStreamsPerTenantMax * 2 <= kClaimStreamsMax,
              "one tenant leaves room for another");
static_assert(kCallsMax >= kClaimsPerRunMax);
static_assert(coord::kMaxSplitChildren *
                      (3 * shard::kMaxKeySize + shard::kMaxMetadataSize + shard::kMaxTokenSize) <
                  kRequestBytesMax,
              "the largest legal split fits one request");
static_assert(kTokensMax * (kTokenBytesMin + 1) < kTokenFileBytesMax,
              "a full table of short tokens fits its file");

}  // namespace cadastre::server
