#include "sim/log/raft_oracle.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include <fmt/format.h>

namespace cadastre::sim {

void RaftOracle::violate(NodeId node, log::GroupId group, const std::string& what) {
  violations_.push_back(fmt::format("node {}, group {}: {}", node.value(), group.value(), what));
}

void RaftOracle::synced(NodeId node, const log::WriteSet& set) {
  for (const log::GroupWrite& write : set.groups) {
    DiskShadow& disk = groups_[write.group].disks[node];
    if (!write.entries.empty() && write.entries.front().at.index <= disk.last()) {
      replaced_ += 1 + log::entries_between(write.entries.front().at.index, disk.last());
    }
    disk.apply(write);
    check_written(node, write.group, write);
  }
}

void RaftOracle::check_written(NodeId node, log::GroupId id, const log::GroupWrite& write) {
  Group& group = groups_[id];
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
    groups_[image.group].disks[node].restore(image, entries);
  }
}

void RaftOracle::leads(NodeId node, log::GroupId id, log::Term term) {
  Group& group = groups_[id];
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
  Group& group = groups_[id];
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
  const auto& disks = groups_[id].disks;
  const auto have =
      std::ranges::count_if(disks, [&](const auto& disk) { return disk.second.has(at); });
  if (static_cast<std::uint64_t>(have) > voters_ / 2) return;
  violate(node, id,
          fmt::format("committed prefix durable: {} is on {} of {} disks", to_string(at), have,
                      voters_));
}

void RaftOracle::sends(NodeId node, const log::Frame& frame) {
  const auto message = read_raft_message(frame.body.bytes());
  if (!message) return violate(node, frame.group, "it sends what is no message");
  const DiskShadow& disk = groups_[frame.group].disks[node];
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
      if (!message->reject && disk.last() < log::Index{message->index})
        broken("an acknowledgement");
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
