// The bounds of what travels between nodes (spec 1.3, section 6) and how they hang together.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "log/limits.h"

namespace cadastre::log {

inline constexpr std::size_t kPreambleBytes = 44;
inline constexpr std::size_t kFrameHeadBytes = 48;
inline constexpr std::size_t kFrameBodyBytesMax = kMiB;
// A message of an engine: the longest entry with what the engine puts around it. A longer one is never sent.
inline constexpr std::size_t kPeerMessageBytesMax = kEntryBytesMax + kMessageBytesMax;
inline constexpr std::uint32_t kFragmentsMax =
    (kPeerMessageBytesMax + kFrameBodyBytesMax - 1) / kFrameBodyBytesMax;
static_assert(kFragmentsMax <= 0xffff, "a fragment's place and count have two bytes each");

// One message of a stream: frames that gathered during the write before it (L-65). One frame always fits.
inline constexpr std::size_t kStreamBatchBytes = kMiB;
inline constexpr std::size_t kStreamMessageBytesMax = kFrameHeadBytes + kFrameBodyBytesMax;
static_assert(kStreamBatchBytes <= kStreamMessageBytesMax, "a receiver takes every batch");

// What waits for a peer. Full: the newest append is dropped, or the oldest message of the control lane.
inline constexpr std::size_t kBulkLaneBytesMax = 32 * kMiB;
inline constexpr std::size_t kControlLaneBytesMax = kMiB;
// Frames of a peer's lane that were read and not yet taken. Full: its stream is not read.
inline constexpr std::size_t kPeerInboundBytesMax = 16 * kMiB;
static_assert(kStreamMessageBytesMax <= kPeerInboundBytesMax, "a stream can be read at all");

// A peer that cannot be reached is reported so often at most (L-66).
inline constexpr std::chrono::milliseconds kUnreachableEvery{100};
// "Not here" for a group and a peer (L-68).
inline constexpr std::chrono::seconds kNotHereEvery{1};
inline constexpr std::size_t kNotHereKeptMax = 4'096;

// Between attempts to connect (L-67).
inline constexpr std::chrono::milliseconds kReconnectMin{50};
inline constexpr std::chrono::milliseconds kReconnectMax{5'000};

inline constexpr std::size_t kPeersMax = 256;         // Of a node. More are not connected to.
inline constexpr std::size_t kAddressBytesMax = 261;  // A host name of 255, a colon, a port.

}  // namespace cadastre::log
