// Peers: the log thread's side towards other nodes: when to tick, what of a peer's frames reaches an engine,
// and what engines send, gathered by peer and lane until the pass flushes it (L-11, L-60, L-61).
//
// Belongs to the log thread.

#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "log/group_log.h"
#include "log/metrics.h"
#include "log/settings.h"
#include "log/transport.h"
#include "log/types.h"

namespace cadastre::log {

class Peers {
 public:
  // Without a transport whatever is sent is dropped.
  Peers(NodeId self, Transport* transport, const RaftSettings& settings, NodeMetrics& metrics)
      : self_(self), transport_(transport), settings_(settings), metrics_(metrics) {}

  // Whether a tick is due. Never faster than real time and never in bursts: ticks that were missed are
  // gone (L-60).
  [[nodiscard]] bool tick_due(base::Elapsed now) noexcept;
  [[nodiscard]] base::Elapsed next_tick() const noexcept { return next_tick_; }

  // Lets the group's engine see the frame, unless a rule stops it.
  enum class Received : std::uint8_t {
    kDropped,
    kStepped,
    kSnapshot,  // It waits for its files (L-74).
  };
  [[nodiscard]] Received receive(GroupLog& group, const Frame& frame, base::Elapsed now);
  // A snapshot whose files are here, or are not needed.
  void step_snapshot(GroupLog& group, const Frame& frame, base::Elapsed now);

  // What the peer sent is no message of ours: counted, and its streams end.
  void distrust(NodeId peer);

  // No entries are taken from leaders while the disk has no room for them (L-50); heartbeats and votes are.
  void refuse_appends(bool refuse) noexcept { refusing_ = refuse; }

  void send(const GroupLog& group, std::vector<PeerMessage> messages);
  void flush();

 private:
  [[nodiscard]] static bool is_strangers(const GroupLog& group, const MessageHead& head);
  [[nodiscard]] bool admits(GroupLog& group,
                            const MessageHead& head,
                            std::size_t frame_bytes,
                            base::Elapsed now);
  [[nodiscard]] bool step(GroupLog& group,
                          const MessageHead& head,
                          const Frame& frame,
                          base::Elapsed now);

  const NodeId self_;
  Transport* const transport_;
  const RaftSettings& settings_;
  NodeMetrics& metrics_;
  base::Elapsed next_tick_{};
  bool refusing_ = false;
  std::map<std::pair<NodeId, Lane>, std::vector<Frame>> outgoing_;
};

}  // namespace cadastre::log
