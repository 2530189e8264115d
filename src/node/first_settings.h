// FirstSettings: the settings that a replicated state begins with are written by its first leader, as a command
// like any other (coordination.md 10.8, "limits").
//
// A leader that finds none proposes them; if it loses its place before they are committed, the next one does. Safe
// from any thread.

#pragma once

#include "base/attributes.h"
#include "base/mutex.h"
#include "coord/replicated/machine.h"
#include "coord/replicated/replicated_backend.h"
#include "coord/replicated/settings.h"
#include "log/group_status.h"
#include "log/types.h"

namespace cadastre::node {

class FirstSettings final : public log::LeadershipListener {
 public:
  FirstSettings(const coord::replicated::Machine& machine CAD_LIFETIMEBOUND,
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

  void acquired(log::Term /*term*/, log::Index /*index*/) override CAD_EXCLUDES(mutex_) {
    coord::replicated::ReplicatedBackend* backend = nullptr;
    {
      const base::MutexLock lock(mutex_);
      leads_ = true;
      backend = backend_;
    }
    if (backend != nullptr) write(*backend);
  }
  void lost(log::Term /*term*/) override CAD_EXCLUDES(mutex_) {
    const base::MutexLock lock(mutex_);
    leads_ = false;
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
};

}  // namespace cadastre::node
