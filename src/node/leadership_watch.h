// LeadershipWatch: what a node does when the leadership of its replicated coordination comes and goes.
//
// The settings that a state begins with are written by its first leader, as a command like any other (coordination.md
// 10.8, "limits"): a leader that finds none proposes them, and if it loses its place before they are committed, the next
// one does. When leadership is lost, whoever serves callers is told.
//
// Safe from any thread; what is told must not block.

#pragma once

#include <functional>
#include <utility>

#include "base/attributes.h"
#include "base/mutex.h"
#include "coord/replicated/machine.h"
#include "coord/replicated/replicated_backend.h"
#include "coord/replicated/settings.h"
#include "log/group_status.h"
#include "log/types.h"

namespace cadastre::node {

class LeadershipWatch final : public log::LeadershipListener {
 public:
  LeadershipWatch(const coord::replicated::Machine& machine CAD_LIFETIMEBOUND,
                  const coord::replicated::Settings& settings)
      : machine_(machine), settings_(settings) {}

  // Leadership may have come before there was a backend to write with.
  void attach(coord::replicated::ReplicatedBackend& backend) CAD_EXCLUDES(mutex_) {
    {
      const base::MutexLock lock(mutex_);
      backend_ = &backend;
      if (!leads_) return;
    }
    write(backend);
  }
  // Called at every loss from now on, one call at a time; an empty one ends that, and no call is under way then.
  void on_loss(std::function<void()> told) CAD_EXCLUDES(told_mutex_) {
    const base::MutexLock lock(told_mutex_);
    told_ = std::move(told);
  }

  void acquired(log::Term /*term*/, log::Index /*index*/) override CAD_EXCLUDES(mutex_) {
    coord::replicated::ReplicatedBackend* backend = nullptr;
    {
      const base::MutexLock lock(mutex_);
      leads_ = true;
      backend = backend_;
    }
    if (backend != nullptr) write(*backend);
  }
  void lost(log::Term /*term*/) override CAD_EXCLUDES(mutex_, told_mutex_) {
    {
      const base::MutexLock lock(mutex_);
      leads_ = false;
    }
    const base::MutexLock lock(told_mutex_);
    if (told_) told_();
  }

 private:
  void write(coord::replicated::ReplicatedBackend& backend) const {
    if (!machine_.configured()) backend.configure(settings_, [](const auto& /*answer*/) {});
  }

  const coord::replicated::Machine& machine_;
  const coord::replicated::Settings settings_;
  base::Mutex mutex_;
  coord::replicated::ReplicatedBackend* backend_ CAD_GUARDED_BY(mutex_) = nullptr;
  bool leads_ CAD_GUARDED_BY(mutex_) = false;
  base::Mutex told_mutex_;
  std::function<void()> told_ CAD_GUARDED_BY(told_mutex_);
};

}  // namespace cadastre::node
