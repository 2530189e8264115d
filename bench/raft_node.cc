#include "bench/raft_node.h"

#include <algorithm>
#include <chrono>
#include <latch>

#include "base/check.h"
#include "log/engine.h"
#include "log/group_status.h"
#include "server/grpc/peer_core.h"

namespace cadastre::bench {
namespace {

constexpr log::ClusterId kCluster{1};

std::vector<log::NodeId> first_nodes(std::size_t count) {
  std::vector<log::NodeId> ids;
  for (std::size_t i = 1; i <= count; ++i)
    ids.emplace_back(i);
  return ids;
}

}  // namespace

RaftNode::RaftNode(const RaftNodePlan& plan)
    : sink_(base::stderr_log_sink()), logger_(*sink_, clock_, base::LogForm::kText) {
  transport_ = std::make_unique<server::GrpcPeerTransport>(
      server::PeerParts{.self = {kCluster, plan.id},
                        .incarnation = log::PeerIncarnation{plan.start},
                        .clock = clock_,
                        .random = random_,
                        .timer = timer_});
  base::OsSeededRandom seeds;
  auto opened =
      node::LocalLog::open({.directory = plan.directory,
                            .identity = {kCluster, plan.id},
                            .settings = {.retention = {}, .snapshots = {}, .raft = plan.raft},
                            .replication = {.self = plan.id,
                                            .run = plan.start,
                                            .transport = transport_.get(),
                                            .boot_clock = &boot_clock_}},
                           clock_, logger_);
  CAD_CHECK(opened.has_value(), "the directory takes a log, or has this node's");
  log_ = std::move(*opened);
  for (std::size_t i = 1; i <= plan.groups; ++i) {
    machines_.push_back(std::make_unique<CountingMachine>(plan.flushes));
    auto group = log_->host().open_group(
        {.group = log::GroupId{i},
         .machine = *machines_.back(),
         .replicated =
             log::ReplicaOptions{.founders = first_nodes(plan.voters), .seed = seeds.next_u64()}});
    CAD_CHECK(group.has_value(), "a group opens");
    groups_.push_back(*group);
  }
  CAD_CHECK(transport_->start({.address = {}}, log_->host(), *this).has_value(),
            "loopback has free ports");
}

RaftNode::~RaftNode() {
  (void)log_->stop(std::chrono::seconds(1));
  transport_->stop();
}

std::size_t RaftNode::groups_led() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      groups_, [](const log::Group* group) { return group->status().role == log::Role::kLeader; }));
}

void RaftNode::give_leadership(log::NodeId to) {
  std::vector<log::Group*> led;
  for (log::Group* const group : groups_) {
    if (group->status().role == log::Role::kLeader) led.push_back(group);
  }
  std::latch told(static_cast<std::ptrdiff_t>(led.size()));
  for (log::Group* const group : led) {
    group->transfer_leadership(
        to, {},
        [&told](const base::Result<void, log::TransferError>& /*done*/) { told.count_down(); });
  }
  told.wait();
}

}  // namespace cadastre::bench
