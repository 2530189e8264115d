// What a group is doing here, as one value.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "log/conf_state.h"
#include "log/engine.h"
#include "log/replica.h"
#include "log/types.h"

namespace cadastre::log {

// A member as its leader saw it at its last heartbeat.
struct MemberStatus {
  NodeId node = {};
  Index match = {};
  std::uint64_t behind = 0;  // Entries of the leader's log that it lacks.
  PeerState state = PeerState::kProbe;
  std::optional<base::Elapsed> silent_for = std::nullopt;  // Nothing: it was never heard.
  std::optional<base::Elapsed> round_trip = std::nullopt;  // Nothing: none was measured yet.
  bool caught_up = false;                                  // A learner that may be promoted.
};

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
  bool lease_valid = false;                // Reads are served without asking anybody (8.3).
  bool conf_pending = false;               // A change of it is under way here.
  std::shared_ptr<const std::vector<MemberStatus>> members;  // Nothing: this node does not lead.
  std::uint64_t log_bytes = 0;  // Bodies of entries that the log still has, about.
  std::string halted;           // Why the group does no more here; empty: it does.
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

// Told who belongs to each replicated group: when it opens, and whenever another configuration is in force here. On
// the log thread: must not block.
class MembershipListener {
 public:
  MembershipListener() = default;
  MembershipListener(const MembershipListener&) = delete;
  MembershipListener& operator=(const MembershipListener&) = delete;
  virtual ~MembershipListener() = default;

  virtual void on_membership(GroupId group, const std::shared_ptr<const ConfRecord>& conf) = 0;
};

}  // namespace cadastre::log
