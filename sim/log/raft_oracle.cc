#include "sim/log/raft_oracle.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include <fmt/format.h>

namespace cadastre::sim {

void RaftOracle::violate(NodeId node, log::GroupId group, const std::string& what) {
  violations_.push_back(fmt::format("node {}, group {}: {}", node.value(), group.value(), what));
}

RaftOracle::Group& RaftOracle::group_of(log::GroupId id) {
  const auto [place, added] = groups_.try_emplace(id);
  if (added) (void)place->second.confs.add(log::kFounding.index, {.voters = founders_});
  return place->second;
}

bool RaftOracle::removed(NodeId node, log::GroupId id) {
  return !group_of(id).confs.all().rbegin()->second.has(log::NodeId{node.value()});
}

std::uint64_t RaftOracle::configurations() const noexcept {
  std::uint64_t count = 0;
  for (const auto& [id, group] : groups_)
    count += group.confs.all().size() - 1;
  return count;
}

void RaftOracle::check_confs(NodeId node,
                             log::GroupId id,
                             const std::vector<log::ConfRecord>& confs) {
  Group& group = group_of(id);
  for (const log::ConfRecord& record : confs) {
    if (record.conf == log::ConfState{}) continue;  // A joiner's, who knows nobody yet.
    if (const auto wrong = group.confs.add(record.index, record.conf))
      violate(node, id, "configuration: " + *wrong);
  }
  log::Index& newest = group.conf_on_disk[node];
  if (confs.empty()) return;
  if (confs.back().index < newest) {
    violate(node, id,
            fmt::format("configuration: the disk had {} and has {}", newest.value(),
                        confs.back().index.value()));
  }
  newest = confs.back().index;
}

// The log begins at a snapshot now: what it says of members is what the others have at that index.
void RaftOracle::check_install(NodeId node,
                               log::GroupId id,
                               const std::vector<log::ConfRecord>& confs) {
  const Group& group = group_of(id);
  if (confs.empty()) return violate(node, id, "configuration: a snapshot brings none");
  if (!group.confs.in_force(confs.front().index, confs.front().conf)) {
    violate(node, id,
            fmt::format("configuration: a snapshot at {} brings another one than was in force",
                        confs.front().index.value()));
  }
}

void RaftOracle::synced(NodeId node, const log::WriteSet& set) {
  for (const log::GroupWrite& write : set.groups) {
    DiskShadow& disk = group_of(write.group).disks[node];
    if (!write.entries.empty() && write.entries.front().at.index <= disk.last()) {
      replaced_ += 1 + log::entries_between(write.entries.front().at.index, disk.last());
    }
    disk.apply(write);
    if (write.installs) check_install(node, write.group, write.confs);
    check_confs(node, write.group, write.confs);
    check_written(node, write.group, write);
  }
}

void RaftOracle::check_written(NodeId node, log::GroupId id, const log::GroupWrite& write) {
  Group& group = group_of(id);
  const DiskShadow& disk = group.disks[node];
  for (const log::Entry& entry : write.entries) {
    const DiskShadow::Slot* slot = disk.at(entry.at.index);
    if (slot == nullptr) continue;  // Replaced within the set.
    const log::Index before{entry.at.index.value() - 1};
    const DiskShadow::Slot* previous = disk.at(before);
    const log::Term term = previous != nullptr ? previous->term : disk.truncated().term;
    const auto [known, added] =
        group.written.try_emplace({entry.at.index, slot->term}, std::pair{slot->digest, term});
    if (!added && known->second != std::pair{slot->digest, term})
      violate(node, id, fmt::format("log matching: another entry at {}", to_string(entry.at)));
  }
}

void RaftOracle::restarted(NodeId node,
                           log::LogStorage& storage,
                           const log::LogStorage::Recovered& found) {
  for (const log::GroupImage& image : found.groups) {
    std::vector<log::Entry> entries;
    if (image.last.index > image.truncated.index) {
      auto read = storage.read(image.group, image.incarnation, image.truncated.index + 1,
                               image.last.index, std::numeric_limits<std::size_t>::max());
      if (!read) return violate(node, image.group, "its log does not read: " + read.error().detail);
      entries = std::move(*read);
    }
    group_of(image.group).disks[node].restore(image, entries);
    if (image.installing) check_install(node, image.group, image.confs);
    check_confs(node, image.group, image.confs);
  }
}

void RaftOracle::leads(NodeId node, log::GroupId id, log::Term term) {
  Group& group = group_of(id);
  const auto [known, first] = group.leaders.try_emplace(term, node);
  if (!first) {
    if (known->second != node) {
      violate(node, id,
              fmt::format("election safety: node {} leads in term {} too", known->second.value(),
                          term.value()));
    }
    return;
  }
  ++elections_;
  const auto later = group.committed.lower_bound(term);
  if (later == group.committed.begin()) return;
  const auto [committed_term, index] = *std::prev(later);
  if (!group.disks[node].has({committed_term, index})) {
    violate(node, id,
            fmt::format("leader completeness: the leader of term {} lacks {}/{}", term.value(),
                        committed_term.value(), index.value()));
  }
}

void RaftOracle::executed(NodeId node, log::GroupId id, log::Position upto) {
  Group& group = group_of(id);
  const auto [known, first] = group.executed.try_emplace(upto.index, upto.term);
  if (!first && known->second != upto.term) {
    violate(node, id,
            fmt::format("state-machine safety: it executed {}, another one {}/{}", to_string(upto),
                        known->second.value(), upto.index.value()));
  }
  if (!first) return;
  log::Index& highest = group.committed[upto.term];
  highest = std::max(highest, upto.index);
  check_durable(node, id, upto);
}

void RaftOracle::answered(NodeId node, log::GroupId id, log::Position at) {
  check_durable(node, id, at);
}

void RaftOracle::check_durable(NodeId node, log::GroupId id, log::Position at) {
  const Group& group = group_of(id);
  const auto has = [&](log::NodeId voter) {
    const auto disk = group.disks.find(NodeId{voter.value()});
    return disk != group.disks.end() && disk->second.has(at);
  };
  if (group.confs.may_be_committed(at.index, has)) return;
  violate(node, id,
          fmt::format("committed prefix durable: {} is on no majority's disks", to_string(at)));
}

void RaftOracle::sends(NodeId node, const log::Frame& frame, log::Index state_durable) {
  const auto message = read_raft_message(frame.body.bytes());
  if (!message) return violate(node, frame.group, "it sends what is no message");
  const DiskShadow& disk = group_of(frame.group).disks[node];
  const log::HardState& hard = disk.hard();
  const log::Term term{message->term};
  const auto broken = [&](const char* what) {
    violate(node, frame.group,
            fmt::format("promises kept: it says {} (type {}, term {}, index {}) and its disk has "
                        "term {}, vote {}, last {}",
                        what, static_cast<std::uint64_t>(message->type), message->term,
                        message->index, hard.term.value(), hard.vote.value(), disk.last().value()));
  };
  switch (message->type) {
    case RaftMessageType::kRequestPreVote:
    case RaftMessageType::kRequestPreVoteResponse: return;  // Of a term that nobody has begun.
    case RaftMessageType::kAppendResponse:
      // Of an earlier term than the disk's it may come late: the leader of a later one has replaced the entries.
      if (!message->reject && hard.term == term && disk.last() < log::Index{message->index})
        broken("an acknowledgement");
      if (!message->reject && disk.installing() && state_durable < *disk.installing() &&
          *disk.installing() <= log::Index{message->index})
        broken("an acknowledgement of a snapshot");
      break;
    case RaftMessageType::kRequestVote:
      if (hard.term == term && hard.vote.value() != node.value()) broken("a vote for itself");
      break;
    case RaftMessageType::kRequestVoteResponse:
      if (!message->reject && hard.term == term && hard.vote.value() != message->to)
        broken("a vote");
      break;
    default: break;
  }
  if (hard.term < term) broken("a term");
}

}  // namespace cadastre::sim
