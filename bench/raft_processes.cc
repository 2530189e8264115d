#include "bench/raft_processes.h"

#include <chrono>
#include <sstream>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "base/signal.h"
#include "bench/raft_node.h"
#include "bench/raft_node_main.h"

namespace cadastre::bench {

RaftProcesses::RaftProcesses(const ClusterPlan& plan)
    : plan_(plan), directory_("raft"), nodes_(plan.voters) {
  for (std::size_t id = 1; id <= nodes_.size(); ++id)
    start(id);
  introduce();
  elect();
}

void RaftProcesses::start(std::size_t id) {
  Node& node = nodes_[id - 1];
  std::vector<std::string> arguments{std::string(kNodeWord)};
  for (std::string& argument : node_arguments({.directory = directory_.path() / std::to_string(id),
                                               .id = log::NodeId{id},
                                               .start = ++node.starts,
                                               .voters = plan_.voters,
                                               .groups = plan_.groups,
                                               .flushes = plan_.flushes,
                                               .raft = {.lease_reads = plan_.lease_reads}}))
    arguments.push_back(std::move(argument));
  node.process = std::make_unique<NodeProcess>(arguments);
  node.address = "127.0.0.1:" + node.process->hear();
}

void RaftProcesses::introduce() {
  std::string line = "peers";
  for (std::size_t id = 1; id <= nodes_.size(); ++id)
    line += fmt::format(" {}={}", id, nodes_[id - 1].address);
  for (const Node& node : nodes_)
    CAD_CHECK(node.process->ask(line) == "ok", "a node takes the addresses");
}

void RaftProcesses::restart(std::size_t id) {
  start(id);
  introduce();
}

void RaftProcesses::elect() {
  constexpr int kTries = 300;
  for (int tries = 0; tries < kTries; ++tries) {
    std::size_t led = 0;
    for (std::size_t id = 1; id <= nodes_.size(); ++id) {
      if (plan_.leaders == Leaders::kFirstNode && id != 1)
        CAD_CHECK(node(id).ask("give 1") == "ok", "a node gives what it leads");
      if (plan_.leaders == Leaders::kAsElected || id == 1) led += std::stoul(node(id).ask("leads"));
    }
    if (led == plan_.groups) return;
    base::Signal().wait_for(std::chrono::milliseconds(100));
  }
  CAD_CHECK(false, "every group has its leader within half a minute");
}

LoadResult RaftProcesses::load(const LoadPlan& plan) {
  std::istringstream said(
      node(1).ask(fmt::format("load {} {} {} {} {}", plan.groups, plan.outstanding, plan.commands,
                              plan.command_bytes, plan.seconds)));
  LoadResult result;
  said >> result.commands_per_second >> result.sets_per_second >> result.p50_us >> result.p99_us >>
      result.cpu_us_per_command;
  CAD_CHECK(!said.fail(), "a load is answered with its figures");
  return result;
}

double RaftProcesses::read(std::size_t outstanding, double seconds) {
  return std::stod(node(1).ask(fmt::format("read {} {}", outstanding, seconds)));
}

GuardedReads RaftProcesses::read_guarded(double seconds) {
  std::istringstream said(node(1).ask(fmt::format("read-guarded {}", seconds)));
  GuardedReads result;
  said >> result.guarded >> result.unguarded >> result.by_lease;
  CAD_CHECK(!said.fail(), "readers are answered with their figures");
  return result;
}

}  // namespace cadastre::bench
