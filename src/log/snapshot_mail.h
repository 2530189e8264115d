// SnapshotMail: what appliers, the bulk pool and peers tell the log thread of checkpoints. Whoever may still have
// something to tell when the log is gone shares it; then nobody listens. Safe from any thread; take() is the log
// thread's.

#pragma once

#include <utility>
#include <variant>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "log/checkpoint.h"
#include "log/frame_bodies.h"
#include "log/runner.h"
#include "log/snapshotter.h"
#include "log/state_machine.h"
#include "log/types.h"

namespace cadastre::log {

class SnapshotMail {
 public:
  struct Made {
    GroupId group;
    base::Result<CheckpointManifest, SnapshotError> manifest;
  };
  struct Staged {
    CheckpointName name;
    base::Result<StagedCheckpoint, SnapshotError> checkpoint;
  };
  struct Switched {  // The state machine is at the checkpoint that it was given.
    GroupId group;
  };
  struct Reported {
    NodeId from;
    GroupId group;
    SnapshotReport report;
  };
  using Letter = std::variant<Made, Staged, Switched, Reported>;

  explicit SnapshotMail(Runner& runner) noexcept : runner_(&runner) {}

  void post(Letter letter) CAD_EXCLUDES(mutex_) {
    const base::MutexLock lock(mutex_);
    if (runner_ == nullptr) return;
    letters_.push_back(std::move(letter));
    runner_->wake_log();
  }
  [[nodiscard]] std::vector<Letter> take() CAD_EXCLUDES(mutex_) {
    const base::MutexLock lock(mutex_);
    return std::exchange(letters_, {});
  }
  // Nobody listens from now on.
  void close() CAD_EXCLUDES(mutex_) {
    const base::MutexLock lock(mutex_);
    runner_ = nullptr;
    letters_.clear();
  }

 private:
  base::Mutex mutex_;
  Runner* runner_ CAD_GUARDED_BY(mutex_);
  std::vector<Letter> letters_ CAD_GUARDED_BY(mutex_);
};

}  // namespace cadastre::log
