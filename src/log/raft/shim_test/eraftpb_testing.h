// Messages with entries by hand, for tests through the header.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "log/raft/shim_test/cluster_testing.h"
#include "log/raft/shim_test/raft_node_testing.h"
#include "log/raft/wire_testing.h"

namespace cadastre::log {

inline std::string wire_entry(const TestEntry& entry) {
  Wire wire;
  wire.number(1, entry.type).number(2, entry.term).number(3, entry.index).bytes(4, entry.data);
  return wire.done();
}

inline std::string append_message(const Envelope& to,
                                  std::uint64_t index,
                                  std::uint64_t log_term,
                                  const std::vector<TestEntry>& entries,
                                  std::uint64_t commit) {
  Wire wire = message({kMsgAppend, to.from, to.to, to.term});
  wire.number(5, log_term).number(6, index);
  for (const TestEntry& entry : entries)
    wire.bytes(7, wire_entry(entry));
  return wire.number(8, commit).done();
}

inline std::string heartbeat_message(const Envelope& to, std::uint64_t commit) {
  return message({kMsgHeartbeat, to.from, to.to, to.term}).number(8, commit).done();
}

}  // namespace cadastre::log
