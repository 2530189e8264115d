// Messages of raft-rs by hand, for tests: what a peer could send, well formed or not.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cadastre::log {

// Kinds of eraftpb messages that tests name.
inline constexpr std::uint32_t kMsgPropose = 2;
inline constexpr std::uint32_t kMsgAppend = 3;
inline constexpr std::uint32_t kMsgAppendResponse = 4;
inline constexpr std::uint32_t kMsgRequestVote = 5;
inline constexpr std::uint32_t kMsgRequestVoteResponse = 6;
inline constexpr std::uint32_t kMsgSnapshot = 7;
inline constexpr std::uint32_t kMsgHeartbeat = 8;
inline constexpr std::uint32_t kMsgHeartbeatResponse = 9;
inline constexpr std::uint32_t kMsgTransferLeader = 13;
inline constexpr std::uint32_t kMsgTimeoutNow = 14;
inline constexpr std::uint32_t kMsgReadIndex = 15;
inline constexpr std::uint32_t kMsgReadIndexResp = 16;
inline constexpr std::uint32_t kMsgRequestPreVote = 17;
inline constexpr std::uint32_t kMsgRequestPreVoteResponse = 18;

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

// The entry that carries the context of a read.
inline std::string wire_context(std::string_view context) {
  return Wire().bytes(4, context).done();
}

}  // namespace cadastre::log
