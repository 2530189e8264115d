#include "log/member_watch.h"

#include <algorithm>

#include "log/frame_limits.h"
#include "log/membership.h"

namespace cadastre::log {

void MemberWatch::heard(NodeId node, base::Elapsed now) {
  const auto found = nodes_.find(node);
  if (found != nodes_.end()) {
    found->second.heard = now;
  } else if (nodes_.size() < kPeersMax) {
    nodes_[node].heard = now;
  }
}

// Nobody is remembered for being asked: strangers are none, and members are by the next heartbeat.
void MemberWatch::asked(NodeId node, base::Elapsed now) {
  const auto found = nodes_.find(node);
  if (found != nodes_.end()) found->second.trip.asked(now);
}

void MemberWatch::answered(NodeId node, base::Elapsed now) {
  const auto found = nodes_.find(node);
  if (found != nodes_.end()) found->second.trip.answered(now);
}

void MemberWatch::on_heartbeat(const Heartbeat& heartbeat) {
  std::erase_if(nodes_, [&](const auto& seen) { return !heartbeat.conf.has(seen.first); });
  for (const PeerProgress& peer : heartbeat.progress) {
    if (!heartbeat.conf.has(peer.node)) continue;
    Seen& seen = nodes_[peer.node];
    // One that is probed may have everything: in a quiet group nothing is sent that would make it more than that.
    const bool fed = peer.match != Index{0} && peer.state != PeerState::kSnapshot;
    const bool near = peer.match >= heartbeat.committed ||
                      entries_between(peer.match, heartbeat.committed) <= kLagMax;
    const bool present = seen.heard && heartbeat.now - *seen.heard <= heartbeat.silence_max;
    seen.close = fed && near && present ? std::min(seen.close + 1, kCaughtUpHeartbeats) : 0;
  }
}

void MemberWatch::on_lost() {
  for (auto& [node, seen] : nodes_) {
    seen.close = 0;
    seen.trip = {};
  }
}

std::optional<base::Elapsed> MemberWatch::last_heard(NodeId node) const {
  const auto found = nodes_.find(node);
  return found == nodes_.end() ? std::nullopt : found->second.heard;
}

bool MemberWatch::heard_since(NodeId node, base::Elapsed since) const {
  const auto heard = last_heard(node);
  return heard && *heard >= since;
}

bool MemberWatch::caught_up(NodeId node) const {
  const auto found = nodes_.find(node);
  return found != nodes_.end() && found->second.close >= kCaughtUpHeartbeats;
}

std::optional<base::Elapsed> MemberWatch::round_trip(NodeId node) const {
  const auto found = nodes_.find(node);
  return found == nodes_.end() ? std::nullopt : found->second.trip.last();
}

}  // namespace cadastre::log
