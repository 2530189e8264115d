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
// The same of a replicated group, whose large sets go one behind the other without waiting for each other's commit: while the
// followers' disks have the first half of what callers sent, the leader's has the second.
inline constexpr std::size_t kReplicatedPassBytesMax = 320 * kKiB;
inline constexpr std::size_t kWaitsForCommitBytesMax = 128 * kKiB;  // More does not wait.
static_assert(kWaitsForCommitBytesMax < kReplicatedPassBytesMax,
              "what a pass leaves behind can go on");
// One write set. Full: outputs wait for the next pass.
inline constexpr std::size_t kSetBytesMax = 8 * kMiB;
static_assert(kReplicatedPassBytesMax <= kPassBytesMax && kPassBytesMax <= kSetBytesMax,
              "one group's pass fits a set");
// What a leader's messages may bring while the engine's outputs wait for the disk, with so much for each entry's own record. More
// is dropped, like any append that comes too fast (L-9), but for a message that comes alone.
inline constexpr std::size_t kUntakenBytesMax = 32 * kMiB;
inline constexpr std::size_t kEntryRecordBytes = 64;
// What a set can take in the file: nearly full, then one large entry or all that came meanwhile, and the records of every
// group. A crash may tear as much; more is damage (decision 0004).
inline constexpr std::size_t kSetBytesHard = kSetBytesMax + kEntryBytesMax + 4 * kMiB;
static_assert(kUntakenBytesMax <= kEntryBytesMax,
              "an output of many entries is no larger than one of a large one");
// One round of an applier.
inline constexpr std::size_t kRoundEntriesMax = 256;
inline constexpr std::size_t kRoundBytesMax = 4 * kMiB;
// What one read of the log returns at most, unless its first entry alone is larger.
inline constexpr std::size_t kReadBytesMax = 4 * kMiB;

inline constexpr std::size_t kGroupsMax = 4'096;  // Of a node.

// A configuration: each of its lists, and what its proposer says along with it.
inline constexpr std::size_t kMembersMax = 64;
inline constexpr std::size_t kConfContextBytesMax = 16 * kKiB;
// Words of peers that this node is no member, that wait for the log thread. More are not heard: they are repeated.
inline constexpr std::size_t kNotWantedMax = 256;

// Truncation: rarely, and only for a gain (L-26).
inline constexpr std::chrono::seconds kTruncateEvery{10};
inline constexpr std::uint64_t kTruncateBytesMin = 16 * kMiB;
inline constexpr std::uint64_t kTruncateEntriesMin = 10'000;
// A flush of the state is asked for when so much would have to be replayed (L-26, S-70).
inline constexpr std::uint64_t kUnflushedBytesMax = 256 * kMiB;
inline constexpr std::chrono::seconds kUnflushedAgeMax{60};
inline constexpr std::uint64_t kLogBytesMax = 4 * kGiB;  // Of a node.
inline constexpr std::uint64_t kGroupLogBytesSoft =
    kGiB;  // An operator is told, and the state flushed.
inline constexpr std::uint64_t kGroupLogBytesHard = 8 * kGiB;  // User commands are refused (L-47).
static_assert(kUnflushedBytesMax < kGroupLogBytesSoft && kGroupLogBytesSoft < kGroupLogBytesHard,
              "whoever is told has time to act");
static_assert(kTruncateBytesMin < kUnflushedBytesMax, "a flush frees enough to truncate");

// What a replica keeps of its log for peers that are behind (L-78), and for one that fetches a snapshot (L-73).
inline constexpr std::uint64_t kLeaderTrailBytes = 64 * kMiB;
inline constexpr std::uint64_t kLeaderTrailEntries = 100'000;
inline constexpr std::uint64_t kFollowerTrailBytes = 16 * kMiB;
inline constexpr std::chrono::minutes kPeerSilentAfter{10};
inline constexpr std::uint64_t kFetchKeptBytesMax = kGiB;
static_assert(kFollowerTrailBytes < kLeaderTrailBytes && kLeaderTrailBytes < kFetchKeptBytesMax,
              "a fetch is worth more than a guess");
static_assert(kFetchKeptBytesMax < kGroupLogBytesHard, "a slow fetch stops nobody's commands");

// A heartbeat that was not answered for so long was lost (round_trip.h).
inline constexpr std::chrono::seconds kRoundTripForgotten{10};

// Snapshots (section 7).
inline constexpr std::chrono::seconds kCheckpointReusedFor{60};
inline constexpr std::chrono::minutes kSnapshotReportWait{10};
inline constexpr std::chrono::seconds kSnapshotRetryAfter{1};
inline constexpr std::uint32_t kSnapshotRetryDoublings =
    4;  // After failures one after the other: 16 s at most.
inline constexpr std::chrono::seconds kSnapshotTakenWithin{
    10};  // From the offer to the first peer that takes it.
inline constexpr std::size_t kCheckpointsMakingMax = 2;  // Of a node, at once.

// A sync that has not returned (L-51).
inline constexpr std::chrono::seconds kSyncLate{5};
inline constexpr std::chrono::seconds kSyncHung{30};
static_assert(kSyncLate < kSyncHung, "a late sync is reported before it ends the process");

// Panics of a group after which it is not opened any more, and what is remembered of them (crash_notes.h, L-36).
inline constexpr std::size_t kCrashesMax = 3;
inline constexpr std::chrono::minutes kCrashWindow{10};
inline constexpr std::size_t kCrashNotesMax = 32;
inline constexpr std::size_t kCrashMessageBytesMax = 512;
inline constexpr std::size_t kCrashNotesBytesMax = 32 * kKiB;
static_assert(kCrashNotesMax * (kCrashMessageBytesMax + 128) < kCrashNotesBytesMax,
              "the notes of a node fit its file");
static_assert(kCrashesMax <= kCrashNotesMax, "what quarantines a group is remembered");

// Room on the disk (disk_space.h, L-50).
inline constexpr std::uint64_t kSpaceLowBytes = 2 * kGiB;
inline constexpr std::uint64_t kSpaceLowPercent = 5;
inline constexpr std::uint64_t kSpaceCriticalBytes = kGiB;
inline constexpr std::uint64_t kSpaceMarginPart = 8;  // A level is left an eighth above its bound.
inline constexpr std::uint64_t kBallastBytes = 256 * std::uint64_t{kMiB};
static_assert(kSpaceCriticalBytes < kSpaceLowBytes, "users are refused before leaders are");
static_assert(kBallastBytes < kSpaceCriticalBytes,
              "giving the ballast away leaves the node critical");
static_assert(kSetBytesHard * 2 < kBallastBytes, "the ballast holds both sets of the writer");

// The longest that commands wait for those that answered callers are about to send (handover.h).
inline constexpr std::chrono::microseconds kHandoverWaitMax{100};
// The longest that they wait, after a sync, for the commit of those before them.
inline constexpr std::chrono::microseconds kCommitWaitMax{5'000};
static_assert(kHandoverWaitMax < kCommitWaitMax, "a commit takes longer than callers to come back");

inline constexpr std::chrono::seconds kHousekeepingEvery{1};
inline constexpr std::chrono::seconds kSyncUnwatchedMax{
    2};  // Counts between two looks (sync_age.h).
static_assert(kSyncUnwatchedMax > kHousekeepingEvery, "all the time of a node that runs counts");
static_assert(kSyncUnwatchedMax < kSyncLate, "one look after a pause blames no disk");

// Looks into a group that wait for the log thread, and entries that one look lists. More: nothing, and the first ones.
inline constexpr std::size_t kInspectionsMax = 16;
inline constexpr std::size_t kEntriesListedMax = 1'000;

// Lines for an operator, of each kind (line_pace.h). More are counted and left out.
inline constexpr std::uint64_t kLinesPerWindow = 20;
inline constexpr std::chrono::seconds kLineWindow{60};
inline constexpr std::uint64_t kTruncationTold = kGiB;  // So much at once is told.
static_assert(kTruncationTold > kTruncateBytesMin, "ordinary truncation is no news");

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
inline constexpr std::size_t kNodeCacheBytesMax = 256 * kMiB;  // Of all groups together.
inline constexpr std::size_t kCachedEntryOverhead = 96;        // Of an entry beyond its body.
static_assert(kNodeCacheBytesMax >= kCacheBytesMax, "one group has all that it may");
// Old entries for a slow peer: what one read brings, and less where others wait for the reader. A read sorts what is not
// flushed yet: many small ones would cost commands more than the entries do.
inline constexpr std::size_t kFetchBytesMax = 16 * kMiB;
inline constexpr std::size_t kFetchBytesMin = kMiB;
inline constexpr std::size_t kFetchPieceBytes = kMiB;  // To an engine at once; or one entry.
inline constexpr std::size_t kFetchRestsBytesMax = 64 * kMiB;  // Read, and not asked for yet.
static_assert(kFetchPieceBytes <= kFetchBytesMin, "a read is a piece at least");
static_assert(kFetchRestsBytesMax >= 2 * kFetchBytesMax, "two peers of a group keep what was read");
// Old entries of all groups and peers while commands are under way (old_entries.h): a quarter of a core and of a disk
// is theirs. A node is busy for so long after its last command.
inline constexpr std::uint64_t kCatchUpBytesPerSecond = 32 * kMiB;
inline constexpr std::chrono::milliseconds kCatchUpBusyFor{50};
inline constexpr std::size_t kCatchUpPieceBytes = 256 * kKiB;  // At once, then.
static_assert(kCatchUpPieceBytes < kFetchPieceBytes, "beside commands less goes at once");
static_assert(kFetchPieceBytes * 4 < kCatchUpBytesPerSecond,
              "a slow peer hears of its leader several times a second");

// Frames that wait for the log thread, of all peers. Full: they are dropped, as a network drops (L-9).
inline constexpr std::size_t kInboundBytesMax = 64 * kMiB;
inline constexpr std::size_t kPassMessagesMax = 1'024;
// Committed entries that wait for an applier. Full: a follower drops appends (L-9).
inline constexpr std::size_t kApplyQueueEntriesMax = 16'384;
inline constexpr std::size_t kApplyQueueBytesMax = 64 * kMiB;
static_assert(kUnappliedBytesMax < kApplyQueueBytesMax, "a leader's own commands fit");

inline constexpr std::size_t kReadRoundsMax = 4;  // Of a group, on their way at once (L-80).
inline constexpr int kReadAttemptsMax = 4;        // Of a round; then its readers get kUnavailable.
// Lease reads (8.3): how wrong clocks may be, what is taken off besides, and to what the rest is rounded down.
inline constexpr int kLeaseDriftPerMille = 10;
inline constexpr std::chrono::milliseconds kLeaseMargin{200};
inline constexpr std::chrono::milliseconds kLeaseStep{100};
static_assert(kTick * (kElectionTicks - 1) > 2 * kLeaseMargin,
              "the defaults leave room for a lease");
// Commands whose leader is gone wait so many election timeouts for their outcome (1.5).
inline constexpr int kOutcomeWaitTimeouts = 2;

}  // namespace cadastre::log
