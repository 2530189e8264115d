// What clients and nodes of the log's world say to each other. Never damaged on the way, so that decoding
// checks nothing but lengths. What nodes say to each other are letters: a preamble (log/frame_codec.h), a PeerKind, the rest.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "base/endian.h"
#include "log/propose.h"
#include "log/snapshotter.h"
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
  log::ReadMode mode = log::ReadMode::kLinearizable;  // Of a read.
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
  out[42] = static_cast<std::byte>(request.mode);
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
  request.mode = static_cast<log::ReadMode>(bytes[42]);
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

enum class PeerKind : std::uint8_t {
  kFrames,
  kReport,
  kPieceRequest,
  kPieceAnswer,
  kNotHere,
};

// Of peers: what kind it is, and the rest.
struct PeerLetter {
  PeerKind kind = PeerKind::kFrames;
  base::ByteView body;
};
[[nodiscard]] inline PeerLetter open_letter(base::ByteView bytes) {
  CAD_CHECK(!bytes.empty(), "frames arrive whole");
  return {static_cast<PeerKind>(bytes[0]), bytes.subspan(1)};
}

// What became of a snapshot: group, index, 1 or 0.
struct ReportLetter {
  log::GroupId group;
  log::SnapshotReport report;
};
[[nodiscard]] inline base::Bytes encode(const ReportLetter& letter) {
  base::Bytes out(18);
  out[0] = static_cast<std::byte>(PeerKind::kReport);
  base::store_le(out.data() + 1, letter.group.value());
  base::store_le(out.data() + 9, letter.report.index.value());
  out[17] = std::byte{letter.report.installed};
  return out;
}
[[nodiscard]] inline ReportLetter decode_report(base::ByteView body) {
  CAD_CHECK(body.size() == 17, "frames arrive whole");
  return {log::GroupId{base::load_le<std::uint64_t>(body.data())},
          {log::Index{base::load_le<std::uint64_t>(body.data() + 8)}, body[16] != std::byte{0}}};
}

// The receiver has no business in the group, by that configuration: group, index.
struct NotHereLetter {
  log::GroupId group;
  log::Index configuration;
};
[[nodiscard]] inline base::Bytes encode(const NotHereLetter& letter) {
  base::Bytes out(17);
  out[0] = static_cast<std::byte>(PeerKind::kNotHere);
  base::store_le(out.data() + 1, letter.group.value());
  base::store_le(out.data() + 9, letter.configuration.value());
  return out;
}
[[nodiscard]] inline NotHereLetter decode_not_here(base::ByteView body) {
  CAD_CHECK(body.size() == 16, "frames arrive whole");
  return {log::GroupId{base::load_le<std::uint64_t>(body.data())},
          log::Index{base::load_le<std::uint64_t>(body.data() + 8)}};
}

// A piece of a checkpoint (piece_shelf.h), asked for and given: group, node, id, piece; of an answer also whether
// it is there, and its bytes.
struct PieceRequest {
  log::CheckpointName name;
  std::uint64_t piece = 0;
};
struct PieceAnswer {
  PieceRequest request;
  std::optional<base::Bytes> bytes;  // Nothing: there is no such checkpoint any more.
};
inline constexpr std::size_t kPieceRequestBytes = 33;
[[nodiscard]] inline base::Bytes encode(const PieceRequest& request) {
  base::Bytes out(kPieceRequestBytes);
  out[0] = static_cast<std::byte>(PeerKind::kPieceRequest);
  base::store_le(out.data() + 1, request.name.group.value());
  base::store_le(out.data() + 9, request.name.node.value());
  base::store_le(out.data() + 17, request.name.id.value());
  base::store_le(out.data() + 25, request.piece);
  return out;
}
[[nodiscard]] inline PieceRequest decode_piece_request(base::ByteView body) {
  CAD_CHECK(body.size() + 1 >= kPieceRequestBytes, "frames arrive whole");
  return {.name = {log::GroupId{base::load_le<std::uint64_t>(body.data())},
                   log::NodeId{base::load_le<std::uint64_t>(body.data() + 8)},
                   log::CheckpointId{base::load_le<std::uint64_t>(body.data() + 16)}},
          .piece = base::load_le<std::uint64_t>(body.data() + 24)};
}
[[nodiscard]] inline base::Bytes encode(const PieceAnswer& answer) {
  base::Bytes out = encode(answer.request);
  out[0] = static_cast<std::byte>(PeerKind::kPieceAnswer);
  out.push_back(std::byte{answer.bytes.has_value()});
  if (answer.bytes) out.insert(out.end(), answer.bytes->begin(), answer.bytes->end());
  return out;
}
[[nodiscard]] inline PieceAnswer decode_piece_answer(base::ByteView body) {
  PieceAnswer answer{decode_piece_request(body), std::nullopt};
  body = body.subspan(kPieceRequestBytes - 1);
  if (body[0] != std::byte{0}) answer.bytes.emplace(body.begin() + 1, body.end());
  return answer;
}

// Frames of one call, one behind the other: group, from, to, u64 bytes, body.
[[nodiscard]] inline base::Bytes encode_frames(std::span<const log::Frame> frames) {
  base::Bytes out{static_cast<std::byte>(PeerKind::kFrames)};
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
