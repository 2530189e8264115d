// CheckpointStore: log::Snapshotter on a directory, with ranges of other nodes' checkpoints from a CheckpointSource.
//
//   DIR/made/gG-nN-cI/     checkpoints of this node: written by a state machine, sealed, read by peers
//   DIR/staged/gG-nN-cI/   those of other nodes: on their way, or complete and not yet installed
//
// A directory is a checkpoint once it has its manifest (log/checkpoint_files.h). Peers get ranges at a pace, all of them
// together, so that who catches up leaves the group its disk; one that asks while too many ranges are under way is told
// to come back.
//
// Threads: files are touched on the pool, but by the calls that say so. Waiting for the source or for the pace holds no
// thread: two nodes that fetch from each other do not wait for each other's pools. Everything is safe from any
// thread; stop() ends what is under way and must have returned before the store goes.

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "base/byte_pace.h"
#include "base/clock.h"
#include "base/gate.h"
#include "base/logger.h"
#include "base/mutex.h"
#include "base/result.h"
#include "client/timer.h"
#include "log/disk_space.h"
#include "log/peer_pacing.h"
#include "log/snapshotter.h"
#include "server/bulk_pool.h"
#include "server/checkpoint_counters.h"
#include "server/checkpoint_shelf.h"
#include "server/checkpoint_source.h"
#include "server/checkpoint_staging.h"
#include "server/limits.h"
#include "server/peer_limits.h"

namespace cadastre::server {

// All of it outlives the store.
struct CheckpointParts {
  BulkPool& pool;
  CheckpointSource& source;
  client::Timer& timer;
  const base::Clock& clock;
  const base::Logger* logger = nullptr;
};

struct CheckpointOptions {
  std::filesystem::path directory;
  std::uint64_t bytes_per_second = kFetchPaceDefault;  // To all peers together.
  log::SpaceSettings space = {};                       // What staging leaves free.
};

using RangeDone = std::move_only_function<void(base::Result<base::Bytes, RangeError>)>;

class CheckpointStore final : public log::Snapshotter {
 public:
  // Makes the directories.
  [[nodiscard]] static base::Result<std::unique_ptr<CheckpointStore>, log::SnapshotError> open(
      const CheckpointOptions& options, const CheckpointParts& parts);
  ~CheckpointStore() override { stop(); }

  // ---- log/snapshotter.h ---------------------------------------------------------------------------

  [[nodiscard]] log::CheckpointTarget place(const log::CheckpointName& name) override;
  void seal(const log::CheckpointFacts& facts, log::SealDone done) override;
  [[nodiscard]] std::optional<base::Elapsed> last_read(
      const log::CheckpointName& name) const override;
  void release(const log::CheckpointName& name) override;
  void stage(const log::CheckpointManifest& manifest, log::StageDone done) override;
  [[nodiscard]] std::optional<log::StagedCheckpoint> find_staged(
      const log::CheckpointName& name) override;
  void release_staged(const log::CheckpointName& name) override;
  void sweep(std::span<const log::CheckpointName> wanted) override;

  // ---- for peers -----------------------------------------------------------------------------------

  // A range of a checkpoint of this node. `done` is called exactly once, on any thread, when the pace allows.
  void read(const log::CheckpointName& name, const FileRange& range, RangeDone done)
      CAD_EXCLUDES(mutex_);

  // From now on everything ends with kStopped, what is under way soon.
  void request_stop();
  // The same; when it returns, no `done` is called any more.
  void stop();

  [[nodiscard]] std::uint64_t pinned_bytes() const { return shelf_.bytes(); }
  [[nodiscard]] const CheckpointCounters& counters() const noexcept { return counters_; }

 private:
  class Fetching;  // One staging under way.

  CheckpointStore(const CheckpointOptions& options, const CheckpointParts& parts);

  [[nodiscard]] std::filesystem::path made(const log::CheckpointName& name) const;
  [[nodiscard]] std::filesystem::path staged(const log::CheckpointName& name) const;
  void remove_later(std::filesystem::path directory) CAD_EXCLUDES(mutex_);
  [[nodiscard]] bool is_being_removed(const std::filesystem::path& directory) CAD_EXCLUDES(mutex_);
  void remove(const std::filesystem::path& directory) const;
  [[nodiscard]] base::Result<log::CheckpointManifest, log::SnapshotError> seal_now(
      const log::CheckpointFacts& facts);
  // Of an answer to a peer, which it counts.
  [[nodiscard]] base::Elapsed delay_of(const base::Result<base::Bytes, RangeError>& bytes)
      CAD_EXCLUDES(mutex_);
  void warn_not_staged(const log::CheckpointName& name, const base::Error<log::SnapshotError>& why)
      CAD_EXCLUDES(mutex_);
  // Earlier attempts at the group's checkpoints that were given up: a newer one is wanted now.
  [[nodiscard]] std::vector<std::filesystem::path> begun_but(const log::CheckpointName& name) const;

  const std::filesystem::path directory_;
  const CheckpointParts parts_;
  const StagingRoom room_;
  CheckpointCounters counters_;
  CheckpointShelf shelf_;
  base::Gate gate_;  // Calls whose `done` is still to come.

  std::atomic<bool> stopping_{false};
  base::Mutex mutex_;
  base::BytePace pace_ CAD_GUARDED_BY(mutex_);
  std::size_t reading_ CAD_GUARDED_BY(mutex_) = 0;
  log::Pacer<log::GroupId> warnings_ CAD_GUARDED_BY(mutex_){kNotFetchedLineEvery, log::kGroupsMax};
  std::multiset<std::filesystem::path> removing_ CAD_GUARDED_BY(mutex_);
};

}  // namespace cadastre::server
