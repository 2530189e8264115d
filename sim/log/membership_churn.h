// What an operator who cannot leave a group alone asks for next: a pure function of its members and luck.
//
// Voters become learners and come back, one at a time or several by a joint configuration; strangers join as learners,
// and now and then a voter is removed for good. At least two voters stay, and at least three members.

#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "log/conf_state.h"
#include "log/replica.h"

namespace cadastre::sim {

// Strangers are nodes that never belonged to the group. Nothing: there is nothing to ask for now.
[[nodiscard]] std::optional<log::ConfChange> next_change(const log::ConfState& conf,
                                                         log::NodeId leader,
                                                         std::span<const log::NodeId> strangers,
                                                         std::uint64_t luck);

}  // namespace cadastre::sim
