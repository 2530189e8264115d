// The benchmark's program as a node of a cluster: it says its port in its first line, and then answers each line of its
// input with one line, until the input ends.
//
//   peers ID=ADDRESS …                              ok       where the nodes are
//   leads                                           N        groups that are led here
//   give ID                                         ok       that node leads where this one did
//   load GROUPS OUTSTANDING COMMANDS BYTES SECONDS  RATE SETS P50 P99   commands/s, sets/s, us
//   read OUTSTANDING SECONDS                        RATE     linearizable reads of group 1
//   fill BYTES COMMAND_BYTES                        ok       so many bytes of commands are applied in group 1
//   door log|bare                                   ADDRESS  group 1, or nothing, behind gRPC
//   applied                                         INDEX    of group 1
//   await INDEX                                     SECONDS  group 1 is applied so far, after so long
//   write ID                                        written  a command of this node was answered; node ID is gone
//                                                   another  another node leads
//   cpu                                             SECONDS  of processor time so far

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/raft_node.h"

namespace cadastre::bench {

inline constexpr std::string_view kNodeWord =
    "--raft-node";  // The first argument of such a process.

// The arguments behind it.
[[nodiscard]] std::vector<std::string> node_arguments(const RaftNodePlan& plan);
// The exit status.
[[nodiscard]] int run_raft_node(const std::vector<std::string>& arguments);

}  // namespace cadastre::bench
