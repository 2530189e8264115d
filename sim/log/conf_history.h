// ConfHistory: the configurations of one group, as disks have them: whether they agree, whether neighbours'
// quorums intersect, and which majorities can have committed an entry.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "log/conf_state.h"
#include "log/types.h"

namespace cadastre::sim {

// Whether some majority of the configuration, of both its lists while it is joint, is among them.
[[nodiscard]] bool has_quorum(const log::ConfState& conf,
                              const std::function<bool(log::NodeId)>& among);

// Whether every quorum of the one has a member of every quorum of the other. For a dozen members at most.
[[nodiscard]] bool quorums_intersect(const log::ConfState& one, const log::ConfState& other);

class ConfHistory {
 public:
  // What is wrong with it beside those that are known; nothing: all is well. One that changes nothing is that of a
  // snapshot, and not kept.
  [[nodiscard]] std::optional<std::string> add(log::Index index, const log::ConfState& conf);
  // Whether a snapshot at `index` may say so.
  [[nodiscard]] bool in_force(log::Index index, const log::ConfState& conf) const;

  // Whether an entry that all of these have may be committed. An entry is counted by the configuration that
  // its leader has applied: the newest one below it, or the one before if that was not applied yet.
  [[nodiscard]] bool may_be_committed(log::Index index,
                                      const std::function<bool(log::NodeId)>& has) const;

  [[nodiscard]] const std::map<log::Index, log::ConfState>& all() const noexcept { return confs_; }

 private:
  std::map<log::Index, log::ConfState> confs_;
};

}  // namespace cadastre::sim
