#include "log/raft/shim_test/cluster_testing.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "log/raft/shim_test/raft_node_testing.h"

namespace cadastre::log {

Cluster::Cluster(const std::vector<std::uint64_t>& voters, const TestSettings& settings)
    : settings_(settings) {
  for (const std::uint64_t id : voters)
    add(id, founding_disk(voters));
}

void Cluster::add(std::uint64_t id, const TestDisk& disk) {
  nodes_[id] = std::make_unique<RaftNode>(id, settings_, disk);
}

void Cluster::collect() {
  for (const auto& [id, node] : nodes_) {
    for (Mail& letter : node->take_mail()) {
      if (passes(letter)) mail.push_back(std::move(letter));
    }
  }
}

void Cluster::settle() {
  constexpr int kLettersMax = 100'000;
  collect();
  for (int i = 0; !mail.empty(); ++i) {
    CAD_CHECK(i < kLettersMax, "the nodes come to rest");
    const Mail letter = std::move(mail.front());
    mail.pop_front();
    const auto node = nodes_.find(letter.to);
    if (node == nodes_.end() || node->second->raft() == nullptr) continue;
    (void)node->second->step(letter.bytes);
    collect();
  }
}

void Cluster::tick(int times) {
  for (int i = 0; i < times; ++i) {
    for (const auto& [id, node] : nodes_) {
      if (node->raft() != nullptr) node->tick();
    }
    settle();
  }
}

void Cluster::elect(std::uint64_t candidate, const std::vector<std::uint64_t>& voters) {
  std::vector<std::uint64_t> ids = voters;
  ids.push_back(candidate);
  for (const std::uint64_t id : ids)
    at(id).crash_and_restart();
  mail.clear();
  const Filter between = only_between(ids);
  const Filter usual = std::exchange(passes, [between](const Mail& letter) {
    const bool election = letter.type == kMsgRequestVote || letter.type == kMsgRequestPreVote ||
                          letter.type == kMsgRequestVoteResponse ||
                          letter.type == kMsgRequestPreVoteResponse;
    return election && between(letter);
  });
  at(candidate).campaign();
  settle();
  passes = usual;
  CAD_CHECK(at(candidate).leads(), "a candidate with a majority wins");
}

void Cluster::establish(std::uint64_t candidate, const std::vector<std::uint64_t>& voters) {
  elect(candidate, voters);
  tick(static_cast<int>(settings_.heartbeat_tick) * 2);
}

RaftNode* Cluster::leader() {
  RaftNode* found = nullptr;
  for (const auto& [id, node] : nodes_) {
    if (!node->leads()) continue;
    if (found == nullptr || node->status().term > found->status().term) found = node.get();
  }
  return found;
}

Cluster::Filter only_between(std::vector<std::uint64_t> ids) {
  return [ids = std::move(ids)](const Mail& letter) {
    return std::ranges::find(ids, letter.from) != ids.end() &&
           std::ranges::find(ids, letter.to) != ids.end();
  };
}

std::string different_states(const std::vector<Replica>& replicas) {
  std::map<std::uint64_t, std::pair<std::uint64_t, std::string>> first;
  const auto difference = [&first](const Replica& replica) -> std::string {
    for (const auto& [index, value] : *replica.state) {
      const auto& [id, other] = first.try_emplace(index, replica.id, value).first->second;
      if (other == value) continue;
      return fmt::format("index {}: node {} applied '{}', node {} applied '{}'", index, id, other,
                         replica.id, value);
    }
    return {};
  };
  for (const Replica& replica : replicas) {
    if (std::string found = difference(replica); !found.empty()) return found;
  }
  return {};
}

std::string match_beyond_log(std::uint64_t match,
                             std::uint64_t from,
                             const std::function<std::uint64_t(std::uint64_t)>& leader_term,
                             const std::function<std::uint64_t(std::uint64_t)>& peer_term) {
  for (std::uint64_t index = from; index <= match; ++index) {
    if (leader_term(index) != peer_term(index)) {
      return fmt::format("match is {}, but the logs differ at {}: terms {} and {}", match, index,
                         leader_term(index), peer_term(index));
    }
  }
  return {};
}

}  // namespace cadastre::log
