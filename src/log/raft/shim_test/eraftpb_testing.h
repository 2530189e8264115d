// Eraftpb messages by hand, for tests: what a peer could send, well formed or not.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "log/raft/shim_test/cluster_testing.h"
#include "log/raft/shim_test/raft_node_testing.h"

namespace cadastre::log {

// Fields of one protobuf message, in the order they are added.
class Wire {
 public:
  Wire& number(std::uint64_t field, std::uint64_t value) {
    varint(field << 3U);
    varint(value);
    return *this;
  }
  Wire& bytes(std::uint64_t field, std::string_view value) {
    varint(field << 3U | 2U);
    varint(value.size());
    out_ += value;
    return *this;
  }
  [[nodiscard]] const std::string& done() const { return out_; }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80U; value >>= 7U)
      out_ += static_cast<char>(value | 0x80U);
    out_ += static_cast<char>(value);
  }

  std::string out_;
};

struct Envelope {
  std::uint32_t type = 0;
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::uint64_t term = 0;
};

inline Wire message(const Envelope& envelope) {
  Wire wire;
  wire.number(1, envelope.type).number(2, envelope.to).number(3, envelope.from);
  wire.number(4, envelope.term);
  return wire;
}

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
