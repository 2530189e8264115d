// CheckpointCarrier: the log's Snapshotter in a simulated world. Checkpoints travel piece by piece over the simulated
// network, with its delays, losses and cuts; hashing and syncing take simulated time, may hang and may fail.
//
//   sender     place() ─► seal(): a while later it has a manifest, and its pieces are given to whoever asks
//   receiver   stage(): a piece is asked for, again and again, then the next ─► all are hashed ─► pieces synced
//              ─► manifest written ─► manifest synced ─► done
//
// One process of a node has one carrier; what lies on the shelf outlives it. What waits when it ends is told so.
//
// One thread.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>

#include "base/clock.h"
#include "base/random.h"
#include "log/snapshotter.h"
#include "sim/log/messages.h"
#include "sim/log/piece_shelf.h"
#include "sim/schedule/scheduler.h"

namespace cadastre::sim {

class CheckpointCarrier final : public log::Snapshotter {
 public:
  // All borrowed.
  struct Parts {
    NodeId self;
    Scheduler& scheduler;
    PieceShelf& shelf;
    const base::Clock& clock;
    base::Random& random;
    std::function<void(NodeId to, const PieceRequest&)> ask;
    std::function<void(NodeId to, const PieceAnswer&)> answer;
  };
  explicit CheckpointCarrier(Parts parts) : parts_(std::move(parts)) {}
  ~CheckpointCarrier() override;

  // log::Snapshotter
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

  // From other nodes.
  void on_request(NodeId from, const PieceRequest& request);
  void on_answer(const PieceAnswer& answer);

  // Faults: the next hashing or syncing lasts so long, or fails.
  void slow_next(std::chrono::nanoseconds lasts) { slow_ = lasts; }
  void fail_next() { fails_ = true; }
  void forget_faults() noexcept {
    slow_.reset();
    fails_ = false;
  }

  [[nodiscard]] std::size_t staging() const noexcept { return staging_.size(); }
  // Whether a checkpoint at this very index is staged and was not released: the log may begin at it before
  // the state does.
  [[nodiscard]] bool holds(log::GroupId group, log::Index at) const;

 private:
  struct Sealing {
    log::CheckpointFacts facts;
    log::SealDone done;
  };
  struct Staging {
    log::CheckpointManifest manifest;
    log::StageDone done;
    SimTime progress;                                     // When the last piece came.
    std::optional<std::uint64_t> awaited = std::nullopt;  // Which piece was asked for.
    TaskId timer = {};
  };

  void finish_seal(const log::CheckpointName& name);
  void ask_next(const log::CheckpointName& name);
  void verify(const log::CheckpointName& name);
  void sync_pieces(const log::CheckpointName& name);
  void write_manifest(const log::CheckpointName& name);
  void finish_stage(const log::CheckpointName& name);
  void fail_stage(const log::CheckpointName& name, log::SnapshotError error, std::string_view why);
  void work(Task task);
  [[nodiscard]] bool fails_now() noexcept { return std::exchange(fails_, false); }

  const Parts parts_;
  std::map<log::CheckpointName, Sealing> sealing_;
  std::map<log::CheckpointName, Staging> staging_;
  std::map<log::CheckpointName, base::Elapsed> read_at_;
  std::optional<std::chrono::nanoseconds> slow_;
  bool fails_ = false;
};

}  // namespace cadastre::sim
