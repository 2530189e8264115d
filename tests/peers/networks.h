// The networks that the transport suite runs on: in memory, and gRPC on loopback.
//
// Nodes 1, 2 and 3 know each other. A node can be away and come back as a new process; the way from one node to another
// can be cut.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "log/peer_lane.h"
#include "tests/peers/grpc_nodes.h"
#include "tests/peers/recorder.h"

namespace cadastre::peers {

class Network {
 public:
  Network() = default;
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;
  virtual ~Network() = default;

  [[nodiscard]] virtual log::Transport& transport(log::NodeId node) = 0;
  [[nodiscard]] virtual Recorder& recorder(log::NodeId node) = 0;
  virtual void go_away(log::NodeId node) = 0;
  virtual void come_back(log::NodeId node) = 0;  // Its recorder is a new one.
  virtual void cut(log::NodeId from, log::NodeId to) = 0;
  // Lets frames travel until it is so. False: it was not, for so long.
  [[nodiscard]] virtual bool run_until(log::NodeId node,
                                       const std::function<bool(const Recorder::Seen&)>& is_so,
                                       std::chrono::nanoseconds patience) = 0;
};

// Frames travel when the network is told to run, a batch of a lane at a time, in turns.
class MemoryNetwork final : public Network {
 public:
  MemoryNetwork() {
    for (const std::uint64_t id : {1U, 2U, 3U})
      nodes_.emplace(log::NodeId{id}, std::make_unique<Node>(*this, log::NodeId{id}));
  }

  [[nodiscard]] log::Transport& transport(log::NodeId node) override {
    return nodes_.at(node)->end;
  }
  [[nodiscard]] Recorder& recorder(log::NodeId node) override { return nodes_.at(node)->recorder; }
  void go_away(log::NodeId node) override {
    nodes_.erase(node);
    std::erase_if(lanes_, [&](const auto& lane) {
      return std::get<0>(lane.first) == node || std::get<1>(lane.first) == node;
    });
  }
  void come_back(log::NodeId node) override {
    nodes_.emplace(node, std::make_unique<Node>(*this, node));
  }
  void cut(log::NodeId from, log::NodeId to) override { cut_.emplace(from, to); }
  [[nodiscard]] bool run_until(log::NodeId node,
                               const std::function<bool(const Recorder::Seen&)>& is_so,
                               std::chrono::nanoseconds /*patience*/) override {
    while (!is_so(recorder(node).seen())) {
      if (!step()) return false;
    }
    return true;
  }

 private:
  struct End final : log::Transport {
    End(MemoryNetwork& network, log::NodeId from) : network(network), from(from) {}
    void send(log::NodeId to, log::Lane lane, std::vector<log::Frame> frames) override {
      network.send(from, to, lane, std::move(frames));
    }
    void send_snapshot_report(log::NodeId to,
                              log::GroupId group,
                              const log::SnapshotReport& report) override {
      if (const auto node = network.nodes_.find(to); node != network.nodes_.end())
        node->second->recorder.on_snapshot_report(from, group, report);
    }
    void disconnect(log::NodeId /*peer*/) override {}
    MemoryNetwork& network;
    const log::NodeId from;
  };
  struct Node {
    Node(MemoryNetwork& network, log::NodeId id) : end(network, id) {}
    End end;
    Recorder recorder;
  };
  using Way = std::tuple<log::NodeId, log::NodeId, log::Lane>;

  void send(log::NodeId from, log::NodeId to, log::Lane lane, std::vector<log::Frame> frames) {
    std::size_t dropped = 0;
    const bool away = !nodes_.contains(to) || cut_.contains({from, to});
    for (log::Frame& frame : frames) {
      if (away) {
        ++dropped;
        continue;
      }
      log::PeerLane& queue = lanes_.try_emplace({from, to, lane}, lane).first->second;
      dropped += queue.add({.kind = log::FrameKind::kMessage,
                            .group = frame.group,
                            .from = frame.from,
                            .to = frame.to,
                            .body = std::move(frame.body)});
    }
    if (dropped != 0) nodes_.at(from)->recorder.on_unreachable(to);
  }
  bool step() {
    bool moved = false;
    for (auto& [way, queue] : lanes_) {
      std::vector<log::Frame> frames;
      for (const log::LaneFrame& frame : queue.take()) {
        const log::LaneMessage& message = frame.message;
        if (frame.index + 1 == log::frames_for(message.body.size()))
          frames.push_back({message.group, message.from, message.to, message.body});
        moved = true;
      }
      if (!frames.empty())
        nodes_.at(std::get<1>(way))->recorder.on_frames(std::get<0>(way), std::move(frames));
    }
    return moved;
  }

  std::map<log::NodeId, std::unique_ptr<Node>> nodes_;
  std::map<Way, log::PeerLane> lanes_;
  std::set<std::pair<log::NodeId, log::NodeId>> cut_;
};

class GrpcNetwork final : public Network {
 public:
  GrpcNetwork() {
    for (const std::uint64_t id : {1U, 2U, 3U})
      nodes_.emplace(log::NodeId{id}, std::make_unique<GrpcNode>(GrpcNode::How{log::NodeId{id}}));
    for (const auto& [id, node] : nodes_)
      addresses_[id] = node->address();
    for (const auto& [id, node] : nodes_)
      node->knows(addresses_);
  }

  [[nodiscard]] log::Transport& transport(log::NodeId node) override {
    return nodes_.at(node)->transport();
  }
  [[nodiscard]] Recorder& recorder(log::NodeId node) override {
    return nodes_.at(node)->recorder();
  }
  void go_away(log::NodeId node) override {
    ports_[node] = nodes_.at(node)->port();
    nodes_.erase(node);
  }
  void come_back(log::NodeId node) override {
    nodes_.emplace(node, std::make_unique<GrpcNode>(
                             GrpcNode::How{.id = node,
                                           .incarnation = log::PeerIncarnation{++incarnation_},
                                           .port = ports_.at(node)}));
    nodes_.at(node)->knows(addresses_);
  }
  void cut(log::NodeId from, log::NodeId to) override {
    auto addresses = addresses_;
    addresses[to] = "127.0.0.1:1";  // Where nobody listens.
    nodes_.at(from)->knows(addresses);
  }
  [[nodiscard]] bool run_until(log::NodeId node,
                               const std::function<bool(const Recorder::Seen&)>& is_so,
                               std::chrono::nanoseconds patience) override {
    return recorder(node).wait_until(is_so, patience);
  }

 private:
  std::map<log::NodeId, std::unique_ptr<GrpcNode>> nodes_;
  std::map<log::NodeId, std::string> addresses_;
  std::map<log::NodeId, std::uint16_t> ports_;
  std::uint64_t incarnation_ = 1;
};

}  // namespace cadastre::peers
