// MemberWatch: when each member was last heard, how long it takes to answer, and for how many heartbeats each learner was
// close behind (L-86, L-90).
//
// A learner counts as caught up only if it was fed: it has acknowledged entries or a snapshot, and is sent what follows. In
// a short log one that never was fed would seem close, too.
//
// Belongs to the log thread.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>

#include "base/clock.h"
#include "log/conf_state.h"
#include "log/replica.h"
#include "log/round_trip.h"
#include "log/types.h"

namespace cadastre::log {

class MemberWatch {
 public:
  // A message of the node passed.
  void heard(NodeId node, base::Elapsed now);
  // A heartbeat leaves for a member; an answer to one passed.
  void asked(NodeId node, base::Elapsed now);
  void answered(NodeId node, base::Elapsed now);

  struct Heartbeat {
    std::span<const PeerProgress> progress;  // As the leader has it.
    const ConfState& conf;
    Index committed = {};
    base::Elapsed now{};
    base::Elapsed silence_max{};  // Whoever is silent for longer is not close.
  };
  // The leader's heartbeat; forgets whoever is no member.
  void on_heartbeat(const Heartbeat& heartbeat);
  // Another one leads: closeness has to be shown anew, and round trips are measured anew.
  void on_lost();

  [[nodiscard]] std::optional<base::Elapsed> last_heard(NodeId node) const;
  [[nodiscard]] bool heard_since(NodeId node, base::Elapsed since) const;
  [[nodiscard]] bool caught_up(NodeId node) const;
  [[nodiscard]] std::optional<base::Elapsed> round_trip(NodeId node) const;

 private:
  struct Seen {
    std::optional<base::Elapsed> heard;
    std::uint32_t close = 0;  // Heartbeats in a row.
    RoundTrip trip;
  };
  std::map<NodeId, Seen> nodes_;  // At most kPeersMax.
};

}  // namespace cadastre::log
