// The page /debug/log: every group of the node, one line of JSON each (log.md section 11).
//
//   {"group":1,"node":2,"role":"leader","term":4,"leader":2,"last":17,…,"voters":[1,2,3],"halted":""}

#pragma once

#include <string>

#include "log/group_status.h"
#include "log/types.h"

namespace cadastre::node {

// With a line's end. `node` is 0 on a server of its own.
[[nodiscard]] std::string group_line(log::GroupId group,
                                     log::NodeId node,
                                     const log::GroupStatus& status);

}  // namespace cadastre::node
