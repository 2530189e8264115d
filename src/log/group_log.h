// GroupLog: everything a node has of one group. Queue, applier and status are for many threads; engine,
// waiters and positions are the log thread's own.

#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "log/applier.h"
#include "log/command_queue.h"
#include "log/engine.h"
#include "log/group_status.h"
#include "log/metrics.h"
#include "log/retention.h"
#include "log/storage.h"
#include "log/waiters.h"

namespace cadastre::log {

// What the log thread last said of a group; what its applier says is added by whoever reads it.
class StatusBoard {
 public:
  void publish(GroupStatus status) CAD_EXCLUDES(mutex_) {
    const base::MutexLock lock(mutex_);
    status_ = std::move(status);
  }
  [[nodiscard]] GroupStatus read() const CAD_EXCLUDES(mutex_) {
    const base::MutexLock lock(mutex_);
    return status_;
  }

 private:
  mutable base::Mutex mutex_;
  GroupStatus status_ CAD_GUARDED_BY(mutex_);
};

struct GroupLog {
  GroupLog(const GroupImage& image,
           std::unique_ptr<Engine> group_engine,
           const ApplierParts& parts,
           Intake& intake,
           const RetentionSettings& retention_settings)
      : id(image.group),
        incarnation(image.incarnation),
        queue(image.group, intake),
        applier(parts, queue, metrics),
        engine(std::move(group_engine)),
        last(image.last),
        retention(retention_settings,
                  {image.truncated.index, image.last.index, image.entry_bytes}) {}

  const GroupId id;
  const Incarnation incarnation;
  GroupMetrics metrics;
  CommandQueue queue;
  Applier applier;
  StatusBoard board;
  std::atomic<std::size_t> readers{0};  // Barriers that were not answered yet.

  // The log thread's own.
  std::unique_ptr<Engine> engine;
  std::optional<EngineKind> created;  // To be written with the group's first set.
  Waiters waiters;
  Position last;  // Of the log, with what is in the filling set.
  Retention retention;
  Index applied;        // What the engine was told.
  bool halted = false;  // The applier has; seen.
};

}  // namespace cadastre::log
