// What a group is doing here, as one value.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "log/conf_state.h"
#include "log/engine.h"
#include "log/types.h"

namespace cadastre::log {

struct GroupStatus {
  Role role = Role::kFollower;  // kLeader only once the entry that opened the term is applied.
  Term term;
  NodeId leader;     // 0: not known, or the group is not replicated.
  Index term_start;  // The entry that opened `term`, if this node leads in it.
  Index last;
  Index persisted;
  Index committed;
  Index applied;
  Index durable;
  Index truncated;
  std::shared_ptr<const ConfRecord> conf;  // In force; nothing: the group is not replicated.
  std::uint64_t log_bytes = 0;             // Bodies of entries that the log still has, about.
  std::string halted;                      // Why the group does no more here; empty: it does.
};

// Told of the group's leadership on its applier, in order, terms rising (L-94). `lost` is advice: safety
// is by term (Group::propose_if_term). Must not block.
class LeadershipListener {
 public:
  LeadershipListener() = default;
  LeadershipListener(const LeadershipListener&) = delete;
  LeadershipListener& operator=(const LeadershipListener&) = delete;
  virtual ~LeadershipListener() = default;

  // This node leads in `term`, and the entry that opened it, at `index`, is applied here.
  virtual void acquired(Term term, Index index) = 0;
  virtual void lost(Term term) = 0;
};

}  // namespace cadastre::log
