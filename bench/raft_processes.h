// RaftProcesses: a cluster on this machine: a process for each node (raft_node_main.h), one disk, loopback. When it is
// there, every group has a leader.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/lease_reads.h"
#include "bench/log_callers.h"
#include "bench/log_machine.h"
#include "bench/node_process.h"
#include "bench/scratch_directory.h"

namespace cadastre::bench {

enum class Leaders : std::uint8_t {
  kFirstNode,  // Of every group.
  kAsElected,  // Some of the groups each, by chance.
};

struct ClusterPlan {
  std::size_t voters = 3;
  std::size_t groups = 1;
  Leaders leaders = Leaders::kFirstNode;
  Flushes flushes = Flushes::kAtOnce;
  bool lease_reads = false;
};

class RaftProcesses {
 public:
  explicit RaftProcesses(const ClusterPlan& plan);

  // By its id, from 1.
  [[nodiscard]] NodeProcess& node(std::size_t id) { return *nodes_[id - 1].process; }
  [[nodiscard]] std::size_t size() const noexcept { return nodes_.size(); }

  [[nodiscard]] LoadResult load(const LoadPlan& plan);
  [[nodiscard]] double read(std::size_t outstanding, double seconds);
  [[nodiscard]] GuardedReads read_guarded(double seconds);

  void kill(std::size_t id) { node(id).kill(); }
  // On what it left behind, on another port, which all of them are told.
  void restart(std::size_t id);

 private:
  struct Node {
    std::unique_ptr<NodeProcess> process;
    std::string address;
    std::uint64_t starts = 0;
  };

  void start(std::size_t id);
  void introduce();
  void elect();

  const ClusterPlan plan_;
  const ScratchDirectory directory_;
  std::vector<Node> nodes_;
};

}  // namespace cadastre::bench
