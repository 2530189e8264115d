// SnapshotMail: what appliers, the bulk pool and peers tell the log thread of checkpoints. Whoever may still have
// something to tell when the log is gone shares it; then nobody listens. Safe from any thread; take() is the log
// thread's.

#pragma once

#include <map>
#include <optional>
#include <string>
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
    CheckpointName name;
    base::Result<CheckpointManifest, SnapshotError> manifest;
  };
  struct Staged {
    CheckpointName name;
    base::Result<StagedCheckpoint, SnapshotError> checkpoint;
  };
  struct Checked {
    CheckpointName name;
    std::optional<std::string> refused;  // Why; nothing: the state machine would take it.
  };
  struct Switched {  // The state machine is at the checkpoint that it was given.
    GroupId group;
  };
  struct Reported {
    NodeId from;
    GroupId group;
    SnapshotReport report;
  };
  using Letter = std::variant<Made,
                              Staged,
                              Checked,
                              Switched,
                              Reported>;  // But for reports, one for each work begun.

  explicit SnapshotMail(Runner& runner) noexcept : runner_(&runner) {}

  void post(Letter letter) CAD_EXCLUDES(mutex_);
  void post_made(const CheckpointName& name,
                 base::Result<CheckpointManifest, SnapshotError>&& manifest) CAD_EXCLUDES(mutex_);
  // A peer may report as often as it likes: the last one of a peer on a group counts, and kSnapshotReportsMax are kept.
  void post_report(const Reported& letter) CAD_EXCLUDES(mutex_);
  [[nodiscard]] std::vector<Letter> take() CAD_EXCLUDES(mutex_);
  // Nobody listens from now on.
  void close() CAD_EXCLUDES(mutex_);

 private:
  base::Mutex mutex_;
  Runner* runner_ CAD_GUARDED_BY(mutex_);
  std::vector<Letter> letters_ CAD_GUARDED_BY(mutex_);
  std::map<std::pair<NodeId, GroupId>, SnapshotReport> reports_ CAD_GUARDED_BY(mutex_);
};

}  // namespace cadastre::log
