// Snapshotter: the files of checkpoints on their way between nodes (spec section 7). Making, sealing,
// fetching and verifying them takes long and happens elsewhere, on a bulk pool; nothing here blocks.
//
//   sender     place() ─► the state machine writes there ─► seal() ─► peers may fetch ─► release()
//   receiver   stage() fetches and verifies ─► StateMachine::check, install ─► release_staged()
//
// A staged checkpoint is complete and synced before `done` is called, so that an install cannot fail for
// lack of bytes, also after a crash (L-76). Any thread; every `done` is called exactly once, on any thread.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "base/clock.h"
#include "base/result.h"
#include "log/checkpoint.h"
#include "log/checkpoint_files.h"
#include "log/state_machine.h"
#include "log/types.h"

namespace cadastre::log {

enum class SnapshotError : std::uint8_t {
  kStorage,      // This node's disk refused: look at `detail`.
  kUnreachable,  // The source does not answer, or has it no longer: a newer one will be offered.
  kDamaged,      // What arrived is not what the manifest promises: it was thrown away.
  kStopped,      // The node is going down.
};

// A checkpoint is named by who made it: ids are unique on a node only.
struct CheckpointName {
  GroupId group = {};
  NodeId node = {};
  CheckpointId id = {};

  friend auto operator<=>(const CheckpointName&, const CheckpointName&) noexcept = default;
};

using SealDone = std::move_only_function<void(base::Result<CheckpointManifest, SnapshotError>)>;
using StageDone = std::move_only_function<void(base::Result<StagedCheckpoint, SnapshotError>)>;

class Snapshotter {
 public:
  Snapshotter() = default;
  Snapshotter(const Snapshotter&) = delete;
  Snapshotter& operator=(const Snapshotter&) = delete;
  virtual ~Snapshotter() = default;

  // Where this node's state machine writes the checkpoint of that name.
  [[nodiscard]] virtual CheckpointTarget place(const CheckpointName& name) = 0;
  // It was written: hashes and lists its files, and lets peers fetch them.
  virtual void seal(const CheckpointFacts& facts, SealDone done) = 0;
  // When a peer last read of it; nothing: never, or it is gone (L-73).
  [[nodiscard]] virtual std::optional<base::Elapsed> last_read(
      const CheckpointName& name) const = 0;
  virtual void release(const CheckpointName& name) = 0;

  // Fetches from the manifest's node, by ranges, going on where an earlier attempt ended; verifies every
  // hash. Gives up after a minute without progress (L-75).
  virtual void stage(const CheckpointManifest& manifest, StageDone done) = 0;
  // What an earlier process staged completely; nothing: not here (L-76). At start only: reads the disk.
  [[nodiscard]] virtual std::optional<StagedCheckpoint> find_staged(const CheckpointName& name) = 0;
  virtual void release_staged(const CheckpointName& name) = 0;
  // At start: deletes every checkpoint and staged file but these.
  virtual void sweep(std::span<const CheckpointName> wanted) = 0;
};

}  // namespace cadastre::log
