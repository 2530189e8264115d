// Transport: carries frames to other nodes, and TransportSink: where they arrive.
//
// Fire and forget: a transport may drop, duplicate and delay, and reorder between lanes; it never blocks
// and never damages (a sum is its own affair). It keeps to its bounds by dropping, and says so.

#pragma once

#include <span>
#include <vector>

#include "log/body.h"
#include "log/engine.h"
#include "log/frame_bodies.h"
#include "log/types.h"

namespace cadastre::log {

// One message of an engine on its way.
struct Frame {
  GroupId group;
  NodeId from;
  NodeId to;
  Body body;
};

class Transport {
 public:
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  // The log thread.
  virtual void send(NodeId to, Lane lane, std::vector<Frame> frames) = 0;
  // What became of a snapshot, to the node that sent its files (L-75).
  virtual void send_snapshot_report(NodeId to, GroupId group, const SnapshotReport& report) = 0;
  // The peer sent what no node of ours sends: its streams to this node end, and are counted as refused. It may begin others.
  virtual void disconnect(NodeId peer) = 0;
};

// Any thread.
class TransportSink {
 public:
  TransportSink() = default;
  TransportSink(const TransportSink&) = delete;
  TransportSink& operator=(const TransportSink&) = delete;
  virtual ~TransportSink() = default;

  // `from` is who they come from for certain: a frame that says otherwise is dropped.
  virtual void on_frames(NodeId from, std::vector<Frame> frames) = 0;
  // What was sent to it lately may be lost.
  virtual void on_unreachable(NodeId to) = 0;
  virtual void on_snapshot_report(NodeId from, GroupId group, const SnapshotReport& report) = 0;
};

}  // namespace cadastre::log
