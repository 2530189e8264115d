// MemorySnapshotter: checkpoints between nodes without files, for tests and simulation, on a CheckpointShelf: the
// directories of a node, which outlive its processes as a disk does.
//
// Nothing happens by itself: step() seals, fetches or finishes one checkpoint, so that whoever drives it decides what comes
// before what, and where a crash falls. A state machine puts the bytes of a checkpoint on the shelf and finds them there.
//
// One thread.

#pragma once

#include <cstddef>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/clock.h"
#include "log/snapshotter.h"

namespace cadastre::log {

class CheckpointShelf {
 public:
  // A state machine's side. False: something is there already.
  [[nodiscard]] bool put(const std::filesystem::path& directory, base::Bytes content);
  // Nothing if there is no such directory.
  [[nodiscard]] const base::Bytes* find(const std::filesystem::path& directory) const;

  // The power fails: whatever is not complete is there or not, as is said of each.
  void crash(const std::function<bool()>& survives);
  [[nodiscard]] std::size_t size() const noexcept { return volumes_.size(); }

 private:
  friend class MemorySnapshotter;
  struct Volume {
    base::Bytes content;
    std::optional<CheckpointManifest> manifest;  // Written last: without it, it is no checkpoint.
  };
  std::map<std::string, Volume> volumes_;
};

class MemorySnapshotter final : public Snapshotter {
 public:
  // The bytes of another node's checkpoint; nothing: it does not answer, or has it no longer.
  using Fetch = std::function<std::optional<base::Bytes>(const CheckpointName&)>;

  MemorySnapshotter(CheckpointShelf& shelf, const base::Clock& clock, Fetch fetch)
      : shelf_(shelf), clock_(clock), fetch_(std::move(fetch)) {}
  ~MemorySnapshotter() override;

  [[nodiscard]] CheckpointTarget place(const CheckpointName& name) override;
  void seal(const CheckpointFacts& facts, SealDone done) override;
  [[nodiscard]] std::optional<base::Elapsed> last_read(const CheckpointName& name) const override;
  void release(const CheckpointName& name) override;
  void stage(const CheckpointManifest& manifest, StageDone done) override;
  [[nodiscard]] std::optional<StagedCheckpoint> find_staged(const CheckpointName& name) override;
  void release_staged(const CheckpointName& name) override;
  void sweep(std::span<const CheckpointName> wanted) override;

  // One step of what waits. False: nothing does.
  bool step();
  // Another node fetches.
  [[nodiscard]] std::optional<base::Bytes> read(const CheckpointName& name);

 private:
  struct Sealing {
    CheckpointFacts facts;
    SealDone done;
  };
  struct Staging {
    CheckpointManifest manifest;
    StageDone done;
    bool fetched = false;
  };

  void finish(Sealing task);
  [[nodiscard]] std::optional<SnapshotError> fetch(const Staging& task);
  void step_staging();

  CheckpointShelf& shelf_;
  const base::Clock& clock_;
  const Fetch fetch_;
  std::deque<Sealing> sealing_;
  std::deque<Staging> staging_;
  std::map<CheckpointName, base::Elapsed> read_at_;
};

}  // namespace cadastre::log
