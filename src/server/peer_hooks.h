// PeerHooks: what the transport asks and tells its node beside the engines' messages.

#pragma once

#include <optional>

#include "log/frame_bodies.h"
#include "log/types.h"

namespace cadastre::server {

// Called on transport threads; must not block.
class PeerHooks {
 public:
  PeerHooks() = default;
  PeerHooks(const PeerHooks&) = delete;
  PeerHooks& operator=(const PeerHooks&) = delete;
  virtual ~PeerHooks() = default;

  // Of any other group no node of this cluster has anything to say here.
  [[nodiscard]] virtual bool has_group(log::GroupId group) const = 0;
  // Nothing: frames of the group from that node are wanted. Else they are dropped, and the node is told that it has
  // no business here, with the newest configuration known here; 0: none (L-68).
  [[nodiscard]] virtual std::optional<log::Index> not_here(log::GroupId group,
                                                           log::NodeId from) const = 0;
  // A peer has no business with this node in that group, by that configuration (L-90).
  virtual void on_not_here(log::NodeId from, log::GroupId group, log::Index configuration) = 0;
  virtual void on_snapshot_report(log::NodeId from,
                                  log::GroupId group,
                                  const log::SnapshotReport& report) = 0;
  virtual void on_address_hint(log::NodeId from, const log::NodeAddress& address) = 0;
};

}  // namespace cadastre::server
