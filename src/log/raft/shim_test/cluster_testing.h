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

namespace cadastre::log {

// Kinds of eraftpb messages that tests name.
inline constexpr std::uint32_t kMsgPropose = 2;
inline constexpr std::uint32_t kMsgAppend = 3;
inline constexpr std::uint32_t kMsgAppendResponse = 4;
inline constexpr std::uint32_t kMsgRequestVote = 5;
inline constexpr std::uint32_t kMsgRequestVoteResponse = 6;
inline constexpr std::uint32_t kMsgSnapshot = 7;
inline constexpr std::uint32_t kMsgHeartbeat = 8;
inline constexpr std::uint32_t kMsgHeartbeatResponse = 9;
inline constexpr std::uint32_t kMsgTransferLeader = 13;
inline constexpr std::uint32_t kMsgTimeoutNow = 14;
inline constexpr std::uint32_t kMsgReadIndex = 15;
inline constexpr std::uint32_t kMsgReadIndexResp = 16;
inline constexpr std::uint32_t kMsgRequestPreVote = 17;
inline constexpr std::uint32_t kMsgRequestPreVoteResponse = 18;

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
