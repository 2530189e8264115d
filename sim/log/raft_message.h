// What a message between voters says, as far as oracles ask: a few numbers of an eraftpb.Message.
//
// Read from the bytes that leave a node, and not from the code that made them.

#pragma once

#include <cstdint>
#include <optional>

#include "base/bytes.h"

namespace cadastre::sim {

enum class RaftMessageType : std::uint64_t {  // eraftpb.MessageType, those that promise something
  kAppend = 3,
  kAppendResponse = 4,
  kRequestVote = 5,
  kRequestVoteResponse = 6,
  kHeartbeat = 8,
  kTimeoutNow = 14,
  kReadIndex = 15,
  kRequestPreVote = 17,
  kRequestPreVoteResponse = 18,
};

struct RaftMessage {
  RaftMessageType type{};
  std::uint64_t to = 0;
  std::uint64_t term = 0;
  std::uint64_t index = 0;
  bool reject = false;
};

// Nothing if the bytes do not read as fields of protobuf.
[[nodiscard]] std::optional<RaftMessage> read_raft_message(base::ByteView bytes);

}  // namespace cadastre::sim
