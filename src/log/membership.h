// Membership: the rules by which a leader lets the members of its group change (spec section 9).
//
//   a change names the configuration that its caller saw                                      L-87
//   a node joins as a learner, with its address; it becomes a voter once it has caught up     L-86, L-91
//   the leader is not removed or demoted: another one leads first                             L-88
//   what remains after a removal has a quorum that was heard from lately                      L-90
//   an id that was removed is never added again                                               L-90
//   one step is a simple change, several are one joint change                                 L-87
//
// Everything here is a pure function of what a leader sees.

#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "log/address_book.h"
#include "log/conf_context.h"
#include "log/conf_state.h"
#include "log/replica.h"
#include "log/types.h"

namespace cadastre::log {

// Entries that a learner may lack when it is promoted, and the receiver of a transfer when it takes over (L-86, L-92).
inline constexpr std::uint64_t kLagMax = 64;
// For so many heartbeats in a row a learner must be that close.
inline constexpr std::uint32_t kCaughtUpHeartbeats = 3;
// A member that was not heard for so many election timeouts counts as away.
inline constexpr int kAwayTimeouts = 2;

// A change of membership as its caller asks for it.
struct MembershipChange {
  std::vector<ConfStep> steps = {};
  std::vector<PeerAddress> addresses = {};  // Of every node that joins.
  Index expected_conf_index = {};           // Of the configuration that the caller saw.
  Index min_match = {};                     // What a learner must have to be promoted (S-22).
  bool force = false;                       // Though it is behind, or those who remain are away.
};

// A member as its leader sees it.
struct MemberSight {
  NodeId node = {};
  Index match = {};
  bool heard = false;      // Within kAwayTimeouts.
  bool caught_up = false;  // It was fed, and close behind for kCaughtUpHeartbeats.
};

struct MembershipView {
  const ConfRecord& record;  // In force.
  NodeId self = {};
  Index last = {};
  std::vector<MemberSight> members = {};  // Whoever is missing was never heard.
};

// The change as it enters the log, with the whole context (conf_context.h); or why it does not. kNotLeader: the leader
// itself is concerned, and somebody else has to lead first.
[[nodiscard]] base::Result<ConfChange, ConfError> plan_change(const MembershipView& view,
                                                              const MembershipChange& change);

// Who should lead so that the change can be made: the voter that lacks least, of those that stay, were heard and
// lack at most kLagMax. kNoNode: there is none.
[[nodiscard]] NodeId successor_of(const MembershipView& view, const MembershipChange& change);

// What leaves a joint configuration: no step, and the context as it is.
[[nodiscard]] ConfChange leaving(const ConfRecord& record);

// A peer says that this node has no business in a group, by its newest configuration.
struct NotWanted {
  GroupId group;
  NodeId by;
  Index configuration;
};

// Whether a node whose newest configuration is `own` learns by it that it was removed. Ids do not come back, so a later
// configuration without it is the end; a joiner that was no member yet is only not known to everybody. Nobody but a member,
// as far as is known here, ends a replica by a word (L-90).
[[nodiscard]] bool learns_removal(const ConfRecord& own,
                                  NodeId self,
                                  const NotWanted& told) noexcept;

}  // namespace cadastre::log
