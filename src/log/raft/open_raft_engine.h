// The door to the `raft` engine: raft-rs behind its shim, as an Engine.
//
// Everything that decides who leads and what is committed is raft-rs's; the engine translates, keeps
// the bytes of an output alive as long as somebody refers to them, and knows where its term began. A
// build without the shim has the same door, and says why it leads nowhere (L-29).

#pragma once

#include <cstdint>
#include <memory>

#include "base/logger.h"
#include "base/result.h"
#include "log/crash_notes.h"
#include "log/engine.h"
#include "log/metrics.h"
#include "log/runner.h"
#include "log/settings.h"
#include "log/storage.h"
#include "log/types.h"

namespace cadastre::log {

struct RaftParts {
  const GroupImage& image;  // Its commit index at least at `applied` (L-53).
  NodeId self;
  Index applied;           // Of the state machine.
  std::uint64_t seed = 0;  // Of election timeouts (L-34).
  const RaftSettings& settings;
  LogStorage& storage;  // For entries that are no longer in memory; outlives the engine.
  Runner& runner;  // Told of a read that failed, after which there is no going on (L-48); the same.
  const base::Logger* logger = nullptr;
  Counter* sync_reads = nullptr;     // Counts reads that the log thread waits for; the same.
  CrashListener* crashes = nullptr;  // Outlives the engine.
};

// Whether this build has it (L-28).
[[nodiscard]] bool has_raft_engine() noexcept;

// A lone voter campaigns at once (5.3).
[[nodiscard]] base::Result<std::unique_ptr<Engine>, OpenError> open_raft_engine(
    const RaftParts& parts);

}  // namespace cadastre::log
