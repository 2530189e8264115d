// ConfState: who belongs to a replicated group, and ConfRecord: since which entry.
//
// Lists are ascending and their ids are not 0. While `voters_outgoing` is not empty the configuration
// is joint: a majority of both voter lists decides. An empty ConfState is a joiner's, who knows nobody
// yet. Pure values.

#pragma once

#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

#include "base/bytes.h"
#include "log/limits.h"
#include "log/types.h"

namespace cadastre::log {

struct ConfState {
  std::vector<NodeId> voters = {};
  std::vector<NodeId> learners = {};
  std::vector<NodeId> voters_outgoing = {};
  std::vector<NodeId> learners_next = {};

  [[nodiscard]] bool joint() const noexcept { return !voters_outgoing.empty(); }
  [[nodiscard]] bool votes(NodeId node) const noexcept {
    return in(voters, node) || in(voters_outgoing, node);
  }
  [[nodiscard]] bool has(NodeId node) const noexcept {
    return votes(node) || in(learners, node) || in(learners_next, node);
  }

  friend bool operator==(const ConfState&, const ConfState&) noexcept = default;

 private:
  [[nodiscard]] static bool in(const std::vector<NodeId>& list, NodeId node) noexcept {
    return std::ranges::find(list, node) != list.end();
  }
};

// The configuration that took effect with the entry at `index`.
struct ConfRecord {
  Index index;
  ConfState conf;
  base::Bytes context = {};  // What its proposer said along with it, such as addresses.

  friend bool operator==(const ConfRecord&, const ConfRecord&) noexcept = default;
};

// Whether it can be kept: no list is longer than kMembersMax, nor the context than kConfContextBytesMax.
[[nodiscard]] inline bool fits_record(const ConfRecord& record) noexcept {
  const std::array lists{&record.conf.voters, &record.conf.learners, &record.conf.voters_outgoing,
                         &record.conf.learners_next};
  return record.context.size() <= kConfContextBytesMax &&
         std::ranges::all_of(lists, [](const auto* list) { return list->size() <= kMembersMax; });
}

// Of a history in ascending order: the record in force at `index`; nothing if all are above it (L-72).
[[nodiscard]] inline const ConfRecord* conf_at(const std::vector<ConfRecord>& history,
                                               Index index) noexcept {
  const auto behind = std::ranges::upper_bound(history, index, {}, &ConfRecord::index);
  return behind == history.begin() ? nullptr : &*std::prev(behind);
}

}  // namespace cadastre::log
