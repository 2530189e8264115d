// RaftOracle: the promises of replicated groups (log.md, section 12), checked as they are made.
//
//   election safety           one leader for each term and group
//   log matching              the same position has the same body and the same entry before it
//   leader completeness       what was committed before is in the log of a later leader
//   state-machine safety      an index is executed with one term on all replicas
//   committed prefix durable  what is executed or answered lies on a majority of the voters' synced disks
//   promises kept             a term, a vote or an acknowledged entry is synced before a message says it, and a
//                             snapshot is not acknowledged before the state has switched to it, durably
//   configuration             an index has one configuration, neighbours' quorums intersect, what a disk has of
//                             it never goes back, and a snapshot brings the one that was in force at its index
//
// It believes disks and messages, not the code that writes them. One thread.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "log/storage.h"
#include "log/transport.h"
#include "sim/log/conf_history.h"
#include "sim/log/disk_shadow.h"
#include "sim/log/raft_message.h"
#include "sim/schedule/node_id.h"

namespace cadastre::sim {

class RaftOracle {
 public:
  // Reports to `violations`, which it borrows.
  RaftOracle(std::vector<log::NodeId> founders, std::vector<std::string>& violations)
      : founders_(std::move(founders)), violations_(violations) {}

  // Of disks.
  void synced(NodeId node, const log::WriteSet& set);
  void restarted(NodeId node, log::LogStorage& storage, const log::LogStorage::Recovered& found);

  // Of a node, after a step.
  void leads(NodeId node, log::GroupId group, log::Term term);
  void executed(NodeId node, log::GroupId group, log::Position upto);
  void answered(NodeId node, log::GroupId group, log::Position at);
  void sends(NodeId node, const log::Frame& frame, log::Index state_durable);

  // Whether the newest configuration that some disk has lacks the node.
  [[nodiscard]] bool removed(NodeId node, log::GroupId group);

  [[nodiscard]] std::uint64_t elections() const noexcept { return elections_; }
  [[nodiscard]] std::uint64_t replaced() const noexcept { return replaced_; }
  [[nodiscard]] std::uint64_t configurations() const noexcept;  // Beyond the first.

 private:
  struct Group {
    std::map<NodeId, DiskShadow> disks;
    ConfHistory confs;
    std::map<NodeId, log::Index> conf_on_disk;
    std::map<log::Term, NodeId> leaders;
    std::map<log::Index, log::Term> executed;
    std::map<log::Term, log::Index> committed;  // The highest index that was executed, by its term.
    // By position: the body's digest, and the term of the entry before it.
    std::map<std::pair<log::Index, log::Term>, std::pair<std::uint64_t, log::Term>> written;
  };

  void check_written(NodeId node, log::GroupId id, const log::GroupWrite& write);
  [[nodiscard]] Group& group_of(log::GroupId id);
  void check_confs(NodeId node, log::GroupId id, const std::vector<log::ConfRecord>& confs);
  void check_install(NodeId node, log::GroupId id, const std::vector<log::ConfRecord>& confs);
  void check_durable(NodeId node, log::GroupId id, log::Position at);
  void violate(NodeId node, log::GroupId group, const std::string& what);

  const std::vector<log::NodeId> founders_;
  std::vector<std::string>& violations_;
  std::map<log::GroupId, Group> groups_;
  std::uint64_t elections_ = 0;
  std::uint64_t replaced_ = 0;  // Entries that another leader's replaced.
};

}  // namespace cadastre::sim
