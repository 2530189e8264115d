// Runner: who gives the log its threads. In production `node` does, in the simulator a scheduler.
//
// The log itself starts no thread and waits for nothing: it says which part has work, and the runner
// calls that part again (Host::run_log, run_writer, run_reader, run_applier). Calls of wake_… are cheap, may come from
// any thread, with locks held and more often than needed: they note it, and never run a part themselves. Only help_log may.

#pragma once

#include <span>
#include <string_view>

#include "log/types.h"

namespace cadastre::log {

class Runner {
 public:
  Runner() = default;
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;
  virtual ~Runner() = default;

  virtual void wake_log() = 0;
  // The same, said by a thread that holds no lock and may well run the pass itself.
  virtual void help_log() { wake_log(); }
  virtual void wake_writer() = 0;
  virtual void wake_reader() = 0;
  virtual void wake_applier(GroupId group) = 0;
  // Several at once, said in a pass.
  virtual void wake_appliers(std::span<const GroupId> groups) {
    for (const GroupId group : groups)
      wake_applier(group);
  }

  // The disk can no longer be trusted: the process ends here, before anyone is told anything (L-48,
  // L-49). If it returns, as in a simulator, the host does nothing any more.
  virtual void fail_stop(std::string_view reason) = 0;
};

}  // namespace cadastre::log
