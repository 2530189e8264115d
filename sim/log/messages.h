// What clients and nodes of the log's world say to each other. Never damaged on the way, so that decoding
// checks nothing but lengths.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "base/endian.h"
#include "log/transport.h"
#include "sim/checkers/history.h"

namespace cadastre::sim {

struct LogRequest {
  std::uint64_t number = 0;  // Of the operation, unique in the world.
  std::uint64_t group = 0;
  checkers::OpKind kind = checkers::OpKind::kRead;
  std::uint64_t key = 0;
  checkers::Value expected;
  std::uint64_t argument = 0;
  bool anywhere = false;  // A read that any replica may serve.
};

enum class LogOutcome : std::uint8_t {
  kOk,
  kRefused,
  kUnknown
};

struct LogReply {
  std::uint64_t number = 0;
  LogOutcome outcome = LogOutcome::kUnknown;
  checkers::Value value;
};

[[nodiscard]] inline base::Bytes encode(const LogRequest& request) {
  base::Bytes out(43);
  base::store_le(out.data(), request.number);
  base::store_le(out.data() + 8, request.group);
  out[16] = static_cast<std::byte>(request.kind);
  base::store_le(out.data() + 17, request.key);
  out[25] = std::byte{request.expected.has_value()};
  base::store_le(out.data() + 26, request.expected.value_or(0));
  base::store_le(out.data() + 34, request.argument);
  out[42] = std::byte{request.anywhere};
  return out;
}

[[nodiscard]] inline LogRequest decode_request(base::ByteView bytes) {
  CAD_CHECK(bytes.size() == 43, "frames arrive whole");
  LogRequest request;
  request.number = base::load_le<std::uint64_t>(bytes.data());
  request.group = base::load_le<std::uint64_t>(bytes.data() + 8);
  request.kind = static_cast<checkers::OpKind>(bytes[16]);
  request.key = base::load_le<std::uint64_t>(bytes.data() + 17);
  if (bytes[25] != std::byte{0}) request.expected = base::load_le<std::uint64_t>(bytes.data() + 26);
  request.argument = base::load_le<std::uint64_t>(bytes.data() + 34);
  request.anywhere = bytes[42] != std::byte{0};
  return request;
}

[[nodiscard]] inline base::Bytes encode(const LogReply& reply) {
  base::Bytes out(18);
  base::store_le(out.data(), reply.number);
  out[8] = static_cast<std::byte>(reply.outcome);
  out[9] = std::byte{reply.value.has_value()};
  base::store_le(out.data() + 10, reply.value.value_or(0));
  return out;
}

[[nodiscard]] inline LogReply decode_reply(base::ByteView bytes) {
  CAD_CHECK(bytes.size() == 18, "frames arrive whole");
  LogReply reply;
  reply.number = base::load_le<std::uint64_t>(bytes.data());
  reply.outcome = static_cast<LogOutcome>(bytes[8]);
  if (bytes[9] != std::byte{0}) reply.value = base::load_le<std::uint64_t>(bytes.data() + 10);
  return reply;
}

// Frames of one call, one behind the other: group, from, to, u64 bytes, body.
[[nodiscard]] inline base::Bytes encode_frames(std::span<const log::Frame> frames) {
  base::Bytes out;
  for (const log::Frame& frame : frames) {
    const std::size_t at = out.size();
    out.resize(at + 32);
    base::store_le(out.data() + at, frame.group.value());
    base::store_le(out.data() + at + 8, frame.from.value());
    base::store_le(out.data() + at + 16, frame.to.value());
    base::store_le(out.data() + at + 24, std::uint64_t{frame.body.size()});
    const base::ByteView body = frame.body.bytes();
    out.insert(out.end(), body.begin(), body.end());
  }
  return out;
}

[[nodiscard]] inline std::vector<log::Frame> decode_frames(base::ByteView bytes) {
  std::vector<log::Frame> frames;
  while (!bytes.empty()) {
    const std::size_t size = base::load_le<std::uint64_t>(bytes.data() + 24);
    frames.push_back({log::GroupId{base::load_le<std::uint64_t>(bytes.data())},
                      log::NodeId{base::load_le<std::uint64_t>(bytes.data() + 8)},
                      log::NodeId{base::load_le<std::uint64_t>(bytes.data() + 16)},
                      log::Body::copy_of(bytes.subspan(32, size))});
    bytes = bytes.subspan(32 + size);
  }
  return frames;
}

}  // namespace cadastre::sim
