// What an operator who cannot leave a group alone asks for next: a pure function of its members and luck.
//
// Voters become learners and come back, one at a time or several by a joint configuration; strangers join as learners,
// and now and then a voter is removed for good. At least three members stay, and of voters as many as is said: a group
// whose members may lose their disks needs one more than it can do without.
//
// And what one asks for who puts a new node in the place of one that is gone.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "log/conf_state.h"
#include "log/replica.h"

namespace cadastre::sim {

// Strangers are nodes that never belonged to the group. Nothing: there is nothing to ask for now.
[[nodiscard]] std::optional<log::ConfChange> next_change(const log::ConfState& conf,
                                                         log::NodeId leader,
                                                         std::span<const log::NodeId> strangers,
                                                         std::uint64_t luck,
                                                         std::size_t voters_min = 2);

// `fresh` joins as a learner, is promoted, and `lost` is removed: the next step of it. None: it is done, or a joint
// configuration is left first.
[[nodiscard]] std::vector<log::ConfStep> next_replacement(const log::ConfState& conf,
                                                          log::NodeId lost,
                                                          log::NodeId fresh);

}  // namespace cadastre::sim
