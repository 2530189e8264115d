// LogStorage: the logs of all groups of a node, on one disk. One write set is one atomic, synced write.
//
//   recover()  once, at start, before anything else: what a crash left, checked (L-52)
//   write()    the writer's thread; sets in order of their numbers
//   read()     any thread, inside [first, last] of a group
//
// A write that fails is the end: nobody knows what is on the disk, and a failed sync is never retried
// (L-49). The caller stops the process.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "log/checkpoint.h"
#include "log/conf_state.h"
#include "log/engine.h"
#include "log/entry.h"
#include "log/types.h"

namespace cadastre::log {

enum class EngineKind : std::uint8_t {  // Reaches the disk.
  kLocal = 1,
  kRaft = 2,
  kTombstone = 3,  // Of the incarnation after the last: the node was removed from the group.
};

// Entries from `first` on are of `term`, until the next run.
struct TermRun {
  Index first;
  Term term;

  friend bool operator==(const TermRun&, const TermRun&) noexcept = default;
};

// A staged checkpoint that takes the place of the state, and whose position the log already begins at (7.3).
struct PendingInstall {
  NodeId source;            // Who made the checkpoint,
  CheckpointId checkpoint;  // which one of its own,
  FileHash list_hash{};     // with these files.
  Position at;

  friend bool operator==(const PendingInstall&, const PendingInstall&) noexcept = default;
};

// What the disk says of a group. `last` equals `truncated` if there is no entry.
struct GroupImage {
  GroupId group;
  Incarnation incarnation;
  EngineKind engine = EngineKind::kLocal;
  bool removed = false;  // A tombstone lies above it: the group does nothing any more (L-90).
  HardState state;
  Position truncated;
  Position last;
  std::vector<TermRun> terms;                // Of (truncated, last].
  std::uint64_t entry_bytes = 0;             // Of all of them.
  std::vector<ConfRecord> confs;             // By index; of a replicated group.
  std::optional<PendingInstall> installing;  // Its position is `truncated`.
};

// Part of a set: one group's changes, in the order in which they are written (L-42).
struct GroupWrite {
  GroupId group;
  Incarnation incarnation;
  std::optional<EngineKind> created;  // The group's record: with its first write only.
  std::optional<Position> truncated;  // Entries up to here are deleted.
  Index truncated_before;             // Where the log began until now.
  // A checkpoint in place of the whole log: `truncated` is its position, and every entry that was there goes (L-58).
  std::optional<PendingInstall> installs;
  bool installed = false;            // The state machine has switched: nothing is pending any more.
  std::vector<ConfRecord> confs;     // Each beside those that are there.
  std::vector<Index> confs_dropped;  // They are older than what truncation needs.
  std::vector<Entry> entries;        // They replace what the log has from the first on.
  Index last_before;  // The log's last index until now, to delete what is overwritten.
  std::optional<HardState> state;
  Position last;  // After this write.
};

struct WriteSet {
  SetNumber number;
  std::vector<GroupWrite> groups;
  std::size_t bytes = 0;  // Of bodies.

  [[nodiscard]] bool empty() const noexcept { return groups.empty(); }
};

enum class OpenError : std::uint8_t {
  kCannotOpen,  // The operating system refuses: `detail` has its reason.
  kLocked,      // Another process has the directory: `detail` names it.
  kForeign,  // The directory holds something else, which stays as it is: choose another directory.
  kNewer,    // Written by a newer release: start that one.
  kDamaged,  // Synced bytes are missing or changed. Remove the node from its groups, wipe, join anew.
};

enum class WriteError : std::uint8_t {
  kFailed,    // Written or not: nobody knows. Stop the process.
  kDiskFull,  // The same, and why.
};

enum class LogReadError : std::uint8_t {
  kDamaged,  // What was written is not there: stop the process.
  kFailed,   // The disk did not answer: stop the process.
  kGone,     // Truncated, or never written: ask inside [first, last].
};

struct StorageUsage {
  std::uint64_t disk_bytes = 0;  // Files of the log, as far as known.
};

class LogStorage {
 public:
  LogStorage() = default;
  LogStorage(const LogStorage&) = delete;
  LogStorage& operator=(const LogStorage&) = delete;
  virtual ~LogStorage() = default;

  // Every group, by id; the number of the last set.
  struct Recovered {
    std::vector<GroupImage> groups;
    SetNumber last_set;
  };
  [[nodiscard]] virtual base::Result<Recovered, OpenError> recover() = 0;

  // Synced when it returns.
  [[nodiscard]] virtual base::Result<void, WriteError> write(const WriteSet& set) = 0;

  // Entries from `low` to `high`, both included: at least one, then until `bytes_max`.
  [[nodiscard]] virtual base::Result<std::vector<Entry>, LogReadError> read(
      GroupId group, Incarnation incarnation, Index low, Index high, std::size_t bytes_max) = 0;

  [[nodiscard]] virtual StorageUsage usage() const = 0;
};

}  // namespace cadastre::log
