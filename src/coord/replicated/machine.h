// Machine: the coordination state machine on a log group. Commands come in by entries, answers go out as
// results, snapshots go to a store.
//
//   auto machine = CAD_TRY(Machine::open({store, background, logger}, seed));
//   log::Group& group = *CAD_TRY(host.open_group({.group = id, .machine = *machine}));
//
// Invariants
//   1. durable() is the position of the snapshot that the store has synced, never a later one.
//   2. Readers see the state between two rounds, never within one.
//
// A snapshot's bytes are made on the applier, for about a microsecond for each shard; they are hashed,
// written and synced in the background, one snapshot at a time. A disk that refuses leaves durable() where
// it was: the log keeps what is above, and the next request tries again.
//
// Threads: the log's functions on the group's applier; the rest from any. The lock is held for a round, a
// read or the making of a snapshot's bytes.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/attributes.h"
#include "base/bytes.h"
#include "base/logger.h"
#include "base/mutex.h"
#include "base/result.h"
#include "coord/identity.h"
#include "coord/memory/memory_backend.h"
#include "coord/replicated/settings.h"
#include "coord/replicated/snapshot_store.h"
#include "coord/replicated/state.h"
#include "log/entry.h"
#include "log/state_machine.h"
#include "log/types.h"

namespace cadastre::coord::replicated {

// Who runs what may take long, one task after the other, in order.
class Background {
 public:
  Background() = default;
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;
  virtual ~Background() = default;

  virtual void run(std::move_only_function<void()> task) = 0;
};

enum class OpenError : std::uint8_t {
  kCannotRead,  // The disk refuses: `detail` has its reason.
  kNewer,       // Written by a newer release: start that one.
  kDamaged,     // The snapshot is not what was written: `detail` says where. Restore a backup.
};

// All of them outlive the machine; the background has run its last task by then.
struct MachineParts {
  SnapshotStore& store;
  Background& background;
  const base::Logger& logger;
};

class Machine final : public log::StateMachine {
 public:
  // Loads the newest snapshot and verifies every record of it.
  [[nodiscard]] static base::Result<std::unique_ptr<Machine>, OpenError> open(
      const MachineParts& parts, std::uint64_t hash_seed);

  [[nodiscard]] log::Position applied() const override CAD_EXCLUDES(mutex_);
  [[nodiscard]] log::Position durable() const override CAD_EXCLUDES(flush_mutex_);
  [[nodiscard]] base::Result<void, log::ApplyError> apply(std::span<const log::EntryView> round,
                                                          log::ResultSink& results) override
      CAD_EXCLUDES(mutex_);
  void request_flush() override CAD_EXCLUDES(mutex_, flush_mutex_);
  // The directory gets one file, which a store can load.
  [[nodiscard]] base::Result<log::Position, log::CheckpointError> checkpoint(
      const log::CheckpointTarget& to) override CAD_EXCLUDES(mutex_);
  // Reads such a directory as open() reads the store: every record of it.
  [[nodiscard]] base::Result<void, log::InstallError> check(
      const log::StagedCheckpoint& staged) const override;
  // Takes such a directory, and keeps its file in the store.
  [[nodiscard]] base::Result<void, log::InstallError> install(
      const log::StagedCheckpoint& from) override CAD_EXCLUDES(mutex_, flush_mutex_, save_mutex_);

  // Calls with the records as one round left them.
  template <class Read>
  auto read(const Read& read) CAD_EXCLUDES(mutex_) {
    const base::MutexLock lock(mutex_);
    return read(state_->records());
  }

  [[nodiscard]] bool configured() const CAD_EXCLUDES(mutex_);
  [[nodiscard]] Settings settings() const CAD_EXCLUDES(mutex_);
  // The largest `now` that was applied for this tenant; 0: none yet.
  [[nodiscard]] LogicalTime largest_now(const TenantId& tenant) const CAD_EXCLUDES(mutex_);

  // The first tenants of which a run ended so long before their own largest `now`, and the time before which
  // their runs are to be forgotten (coord/retention.h).
  struct Collectable {
    TenantId tenant;
    LogicalTime completed_before;
  };
  [[nodiscard]] std::vector<Collectable> collectable(std::uint64_t retention,
                                                     std::size_t limit) const CAD_EXCLUDES(mutex_);

  // Aborts unless every record, index and counter agrees.
  void verify() const CAD_EXCLUDES(mutex_);

 private:
  Machine(const MachineParts& parts,
          std::uint64_t hash_seed,
          std::unique_ptr<State> state,
          log::Position applied);

  struct Image {
    base::Bytes bytes;
    log::Position at;
  };
  [[nodiscard]] Image make_image() const CAD_EXCLUDES(mutex_);
  void write_image(Image image) CAD_EXCLUDES(flush_mutex_, save_mutex_);
  [[nodiscard]] base::Result<void, FileError> save(const Image& image) CAD_EXCLUDES(flush_mutex_)
      CAD_REQUIRES(save_mutex_);

  const MachineParts parts_;
  const std::uint64_t hash_seed_;

  mutable base::Mutex mutex_;
  std::unique_ptr<State> state_ CAD_GUARDED_BY(mutex_);
  log::Position applied_ CAD_GUARDED_BY(mutex_);

  base::Mutex save_mutex_;  // The store's one caller: the background, or an install.

  mutable base::Mutex flush_mutex_;
  log::Position durable_ CAD_GUARDED_BY(flush_mutex_);
  bool flushing_ CAD_GUARDED_BY(flush_mutex_) = false;
};

}  // namespace cadastre::coord::replicated
