// Environments of the engine suite with the raft engine: a lone voter, and three of them in one process.

#pragma once

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "log/conformance/engine_suite_testing.h"
#include "log/conformance/environments_testing.h"
#include "log/host.h"
#include "log/ledger_testing.h"
#include "log/steps_testing.h"
#include "log/storage/memory_storage.h"
#include "log/transport.h"

namespace cadastre::log::conformance {

// Frames between voters of one process, delivered one batch at a time and in order.
class HandNetwork {
 public:
  class End final : public Transport {
   public:
    End(HandNetwork& network, NodeId from) noexcept : network_(network), from_(from) {}
    void send(NodeId to, Lane /*lane*/, std::vector<Frame> frames) override {
      network_.mail_.push_back({from_, to, std::move(frames), {}});
    }
    void send_snapshot_report(NodeId to, GroupId group, const SnapshotReport& report) override {
      network_.mail_.push_back({from_, to, {}, std::pair{group, report}});
    }
    void disconnect(NodeId /*peer*/) override {}

   private:
    HandNetwork& network_;
    const NodeId from_;
  };

  // Nothing: what is sent to the node is lost.
  void set_sink(NodeId node, TransportSink* sink) { sinks_[node] = sink; }
  bool step() {
    if (mail_.empty()) return false;
    Mail mail = std::move(mail_.front());
    mail_.pop_front();
    TransportSink* const sink = sinks_[mail.to];
    if (sink == nullptr) return true;
    if (mail.report) sink->on_snapshot_report(mail.from, mail.report->first, mail.report->second);
    if (!mail.frames.empty()) sink->on_frames(mail.from, std::move(mail.frames));
    return true;
  }

 private:
  struct Mail {
    NodeId from;
    NodeId to;
    std::vector<Frame> frames;
    std::optional<std::pair<GroupId, SnapshotReport>> report;
  };
  std::deque<Mail> mail_;
  std::map<NodeId, TransportSink*> sinks_;
};

// One voter beside the node, which never fails.
class Voter {
 public:
  Voter(NodeId id, HandNetwork& network, base::ManualClock& clock)
      : id_(id), storage_(disk_, {kIdentity.cluster, id}), end_(network, id) {
    const HostReplication replication{.self = id, .run = 1, .transport = &end_};
    auto opened = Host::open({storage_, runner_, clock, {}, replication});
    CAD_CHECK(opened.has_value(), "an empty disk opens");
    host_ = std::move(*opened);
    network.set_sink(id, host_.get());
  }

  void open(GroupId group, const ReplicaOptions& options) {
    if (groups_.contains(group)) return;
    Hosted& hosted = groups_[group];
    auto opened =
        host_->open_group({.group = group, .machine = hosted.machine, .replicated = options});
    CAD_CHECK(opened.has_value(), "a new group opens");
    hosted.face = *opened;
  }
  bool step() {
    return runner_.step_log(*host_) || runner_.step_writer(*host_) || runner_.step_reader(*host_) ||
           runner_.step_applier(*host_);
  }
  void look_at_clock() {
    (void)host_->run_log();
    for (auto& [id, hosted] : groups_) {
      if (hosted.face->status().role == Role::kLeader)
        hosted.face->transfer_leadership(kIdentity.node, {.force = true}, [](const auto&) {});
    }
  }

 private:
  struct Hosted {
    LedgerDisk disk = {};
    LedgerMachine machine{disk};
    Group* face = nullptr;
  };

  const NodeId id_;
  MemoryDisk disk_;
  MemoryStorage storage_;
  StepRunner runner_;
  HandNetwork::End end_;
  std::map<GroupId, Hosted> groups_;
  std::unique_ptr<Host> host_;
};

inline constexpr std::array kVoters{NodeId{1}, kIdentity.node, NodeId{3}};

class TwoMore final : public Neighbours {
 public:
  explicit TwoMore(base::ManualClock& clock)
      : end_(network_, kIdentity.node),
        one_(kVoters[0], network_, clock),
        three_(kVoters[2], network_, clock) {}

  [[nodiscard]] Transport& transport() override { return end_; }
  void meet(Host* node, const std::vector<GroupId>& groups) override {
    network_.set_sink(kIdentity.node, node);
    for (const GroupId group : groups) {
      one_.open(group, options());
      three_.open(group, options());
    }
  }
  bool step() override { return network_.step() || one_.step() || three_.step(); }
  void look_at_clock() override {
    one_.look_at_clock();
    three_.look_at_clock();
  }
  [[nodiscard]] static ReplicaOptions options() {
    return {.founders = {kVoters.begin(), kVoters.end()}, .seed = 1};
  }

 private:
  HandNetwork network_;
  HandNetwork::End end_;
  Voter one_;
  Voter three_;
};

[[nodiscard]] inline GroupWrite first_raft_write(GroupId group, Body body) {
  GroupWrite write;
  write.group = group;
  write.incarnation = Incarnation{1};
  write.created = EngineKind::kRaft;
  write.truncated = kFounding;
  write.confs.push_back({kFounding.index, {.voters = {kIdentity.node}}});
  write.last_before = kFounding.index;
  write.last = {kFounding.term, kFounding.index + 1};
  write.entries.push_back({write.last, EntryType::kNormal, std::move(body)});
  write.state = HardState{.term = kFounding.term, .vote = {}, .commit = write.last.index};
  return write;
}

[[nodiscard]] inline base::Result<Group*, OpenError> open_alone(Host& host, GroupOptions options) {
  options.replicated = ReplicaOptions{.founders = {kIdentity.node}, .seed = 1};
  return host.open_group(options);
}
[[nodiscard]] inline base::Result<Group*, OpenError> open_with_two_more(Host& host,
                                                                        GroupOptions options) {
  options.replicated = TwoMore::options();
  return host.open_group(options);
}

[[nodiscard]] inline Environment raft_alone_on_memory() {
  return {.name = "raft_alone_on_memory",
          .make_disk = [] { return std::make_unique<MemoryEngineDisk>(); },
          .open_group = open_alone,
          .first_write = first_raft_write,
          .committed = Committed::kKnownByElection};
}
[[nodiscard]] inline Environment raft_of_three_on_memory() {
  return {
      .name = "raft_of_three_on_memory",
      .make_disk = [] { return std::make_unique<MemoryEngineDisk>(); },
      .open_group = open_with_two_more,
      .first_write = first_raft_write,
      .make_neighbours = [](base::ManualClock& clock) { return std::make_unique<TwoMore>(clock); },
      .committed = Committed::kKnownByElection};
}

}  // namespace cadastre::log::conformance
