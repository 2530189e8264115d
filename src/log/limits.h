// The bounds of the log (spec L-8, L-10, L-18, L-47) and how they hang together.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace cadastre::log {

inline constexpr std::size_t kKiB = 1024;
inline constexpr std::size_t kMiB = 1024 * kKiB;
inline constexpr std::uint64_t kGiB = 1024 * std::uint64_t{kMiB};

// One entry: a batch of commands, or one large command.
inline constexpr std::size_t kBodyHeaderBytes = 16;
inline constexpr std::size_t kBodySlotBytes = 8;
inline constexpr std::size_t kEntryBytesMax = 32 * kMiB + 64 * kKiB;
inline constexpr std::size_t kBatchCommandsMax = 1024;
inline constexpr std::size_t kBatchBytes =
    512 * kKiB;  // A batch closes here; one command may be larger.
inline constexpr std::size_t kCommandBytesMax = kEntryBytesMax - kBodyHeaderBytes - kBodySlotBytes;
static_assert(kBatchCommandsMax <= 0xffff, "the count of a body has two bytes");
static_assert(kBatchBytes + kBodyHeaderBytes + kBatchCommandsMax * kBodySlotBytes < kEntryBytesMax,
              "a full batch of small commands is an entry");

// Commands that wait for the log thread. Full: kOverloaded.
inline constexpr std::size_t kQueueCommandsMax = 16'384;
inline constexpr std::size_t kQueueBytesMax = 8 * kMiB;
inline constexpr std::size_t kSystemCommandsMax = 1'024;  // On top of the above.
inline constexpr std::size_t kSystemBytesMax = 8 * kMiB;
// Accepted and not yet applied. Full: kOverloaded.
inline constexpr std::size_t kUnappliedCommandsMax = 65'536;
inline constexpr std::size_t kUnappliedBytesMax = 32 * kMiB;
static_assert(kQueueCommandsMax + kSystemCommandsMax <= kUnappliedCommandsMax, "a queue can drain");
static_assert(kBatchCommandsMax <= kQueueCommandsMax, "a batch fits its queue");
// Read barriers of a group. Full: kOverloaded.
inline constexpr std::size_t kReadBarriersMax = 65'536;

// One pass of the log thread.
inline constexpr std::size_t kPassBatchesMax = 64;  // Of one group.
inline constexpr std::size_t kPassBytesMax = kMiB;
// One write set. Full: outputs wait for the next pass.
inline constexpr std::size_t kSetBytesMax = 8 * kMiB;
static_assert(kPassBytesMax <= kSetBytesMax, "one group's pass fits a set");
// What a set can take in the file: nearly full, then one large entry, and the records of every group.
inline constexpr std::size_t kSetBytesHard = kSetBytesMax + kEntryBytesMax + 4 * kMiB;
// One round of an applier.
inline constexpr std::size_t kRoundEntriesMax = 256;
inline constexpr std::size_t kRoundBytesMax = 4 * kMiB;
// What one read of the log returns at most, unless its first entry alone is larger.
inline constexpr std::size_t kReadBytesMax = 4 * kMiB;

inline constexpr std::size_t kGroupsMax = 4'096;  // Of a node.

// A configuration: each of its lists, and what its proposer says along with it.
inline constexpr std::size_t kMembersMax = 64;
inline constexpr std::size_t kConfContextBytesMax = 16 * kKiB;

// Truncation: rarely, and only for a gain (L-26).
inline constexpr std::chrono::seconds kTruncateEvery{10};
inline constexpr std::uint64_t kTruncateBytesMin = 16 * kMiB;
inline constexpr std::uint64_t kTruncateEntriesMin = 10'000;
// A flush of the state is asked for when so much would have to be replayed (L-26, S-70).
inline constexpr std::uint64_t kUnflushedBytesMax = 256 * kMiB;
inline constexpr std::chrono::seconds kUnflushedAgeMax{60};
inline constexpr std::uint64_t kLogBytesMax = 4 * kGiB;        // Of a node.
inline constexpr std::uint64_t kGroupLogBytesHard = 8 * kGiB;  // User commands are refused (L-47).
static_assert(kTruncateBytesMin < kUnflushedBytesMax, "a flush frees enough to truncate");

// A sync that has not returned (L-51).
inline constexpr std::chrono::seconds kSyncLate{5};
inline constexpr std::chrono::seconds kSyncHung{30};
static_assert(kSyncLate < kSyncHung, "a late sync is reported before it ends the process");

// The longest that commands wait for those that answered callers are about to send (handover.h).
inline constexpr std::chrono::microseconds kHandoverWaitMax{100};

inline constexpr std::chrono::seconds kHousekeepingEvery{1};

// Replicated groups (5.3).
inline constexpr std::chrono::milliseconds kTick{50};
inline constexpr std::uint32_t kHeartbeatTicks = 2;
inline constexpr std::uint32_t kElectionTicks = 20;
static_assert(2 * kHeartbeatTicks < kElectionTicks, "a lost heartbeat starts no election");
inline constexpr std::size_t kMessageBytesMax = kMiB;  // Of an append; one entry may be larger.
inline constexpr std::uint32_t kInflightMax = 32;      // Appends on their way to a peer.
inline constexpr std::size_t kUncommittedBytesMax =
    kUnappliedBytesMax + kSystemBytesMax + kEntryBytesMax;
static_assert(kUncommittedBytesMax >= kUnappliedBytesMax + kSystemBytesMax,
              "admission refuses before raft-rs does");
inline constexpr std::size_t kCommittedBytesPerOutput = kMiB;
// Entries of a group that stay in memory below what is applied (L-38).
inline constexpr std::size_t kCacheBytesMax = 8 * kMiB;
inline constexpr std::size_t kFetchBytesMax = kMiB;  // Of old entries for a slow peer, at a time.

// Frames that wait for the log thread, of all peers. Full: they are dropped, as a network drops (L-9).
inline constexpr std::size_t kInboundBytesMax = 64 * kMiB;
inline constexpr std::size_t kPassMessagesMax = 1'024;
// Committed entries that wait for an applier. Full: a follower drops appends (L-9).
inline constexpr std::size_t kApplyQueueEntriesMax = 16'384;
inline constexpr std::size_t kApplyQueueBytesMax = 64 * kMiB;
static_assert(kUnappliedBytesMax < kApplyQueueBytesMax, "a leader's own commands fit");

inline constexpr std::size_t kReadRoundsMax = 4;  // Of a group, on their way at once (L-80).
inline constexpr int kReadAttemptsMax = 4;        // Of a round; then its readers get kUnavailable.
// Commands whose leader is gone wait so many election timeouts for their outcome (1.5).
inline constexpr int kOutcomeWaitTimeouts = 2;

}  // namespace cadastre::log
