// Cluster: several RaftNodes and the mail between them, for tests. Nothing moves by itself: a test
// ticks, delivers, loses and crashes.

#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "log/raft/shim_test/raft_node_testing.h"
#include "log/raft/wire_testing.h"

namespace cadastre::log {

class Cluster {
 public:
  using Filter = std::function<bool(const Mail&)>;

  explicit Cluster(const std::vector<std::uint64_t>& voters, const TestSettings& settings = {});

  [[nodiscard]] RaftNode& at(std::uint64_t id) { return *nodes_.at(id); }
  void add(std::uint64_t id, const TestDisk& disk);
  // Takes what the nodes have sent, and loses what `passes` refuses, now and until it is changed.
  void collect();
  // Delivers in order until nobody has anything to say.
  void settle();
  // Ticks every node once, then settles.
  void tick(int times = 1);
  // Restarts the candidate and those who shall vote for it, which ends what they promised to a
  // former leader; only their mail of the election passes. The candidate leads afterwards.
  void elect(std::uint64_t candidate, const std::vector<std::uint64_t>& voters);
  // The same, then lets the leader's first entry reach everyone.
  void establish(std::uint64_t candidate, const std::vector<std::uint64_t>& voters);
  // The one that leads in the highest term, or null.
  [[nodiscard]] RaftNode* leader();

  Filter passes = [](const Mail&) {
    return true;
  };
  std::deque<Mail> mail;

 private:
  TestSettings settings_;
  std::map<std::uint64_t, std::unique_ptr<RaftNode>> nodes_;
};

[[nodiscard]] Cluster::Filter only_between(std::vector<std::uint64_t> ids);

// What the checkers need to know of a replica.
struct Replica {
  std::uint64_t id = 0;
  const std::map<std::uint64_t, std::string>* state = nullptr;  // applied entries by index
};

// Empty if no two replicas have applied different entries at one index, else where.
[[nodiscard]] std::string different_states(const std::vector<Replica>& replicas);

// Empty if the peer's log has what the leader believes it has, else the first index that it lacks.
// `leader_term` and `peer_term` say the term at an index, 0 for none.
[[nodiscard]] std::string match_beyond_log(
    std::uint64_t match,
    std::uint64_t from,
    const std::function<std::uint64_t(std::uint64_t)>& leader_term,
    const std::function<std::uint64_t(std::uint64_t)>& peer_term);

}  // namespace cadastre::log
