// What travels between nodes: the preamble of a stream, and frames (L-64). Integers are little-endian.
//
//   preamble, version 1
//   offset  size  field
//        0     4  magic        "CDRP"
//        4     2  version      1
//        6     2  lane         1 control, 2 bulk
//        8     8  cluster
//       16     8  from
//       24     8  to
//       32     8  incarnation  of `from`: its process, higher with every start
//       40     4  crc32c       of bytes 0..39
//
//   frame, version 1
//        0     4  magic        "CDRF"
//        4     2  version      1
//        6     2  kind         1 message of an engine, 2 snapshot report, 3 fragment, 4 address hint, 5 not here
//        8     8  group
//       16     8  from
//       24     8  to
//       32     4  body_bytes   at most kFrameBodyBytesMax
//       36     4  fragment     index << 16 | count; 0 for every kind but 3
//       40     4  crc32c       of bytes 0..39 and the body
//       44     4  zero
//       48     n  body
//
// A message above kFrameBodyBytesMax goes as consecutive fragments, all but the last of them full. A message of
// a stream is one frame or several; no frame spans two. A reader rejects an unknown version or kind and every
// length it does not expect; what it rejects says that the peer is broken or hostile.
//
// Pure functions.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "log/engine.h"
#include "log/frame_limits.h"
#include "log/types.h"

namespace cadastre::log {

using PeerIncarnation = base::Strong<struct PeerIncarnationTag>;

// Reaches the wire.
enum class FrameKind : std::uint16_t {
  kMessage = 1,         // Bytes of an engine.
  kSnapshotReport = 2,  // Body: frame_bodies.h, and so on.
  kFragment = 3,        // A piece of a message of an engine.
  kAddressHint = 4,
  kNotHere = 5,
};

struct Preamble {
  Lane lane = Lane::kControl;
  ClusterId cluster = {};
  NodeId from = {};
  NodeId to = {};
  PeerIncarnation incarnation = {};

  friend bool operator==(const Preamble&, const Preamble&) noexcept = default;
};

// Which piece of how many. {0, 0}: a whole message.
struct FragmentPlace {
  std::uint16_t index = 0;
  std::uint16_t count = 0;

  friend bool operator==(FragmentPlace, FragmentPlace) noexcept = default;
};

// A frame whose body lies elsewhere.
struct FrameView {
  FrameKind kind = FrameKind::kMessage;
  GroupId group = {};
  NodeId from = {};
  NodeId to = {};
  FragmentPlace fragment = {};
  base::ByteView body = {};
};

enum class FrameError : std::uint8_t {
  kDamaged,   // Other bytes than a peer of ours sends, or a sum that does not match.
  kVersion,   // Of another release.
  kKind,      // No kind that is known, or no lane.
  kTooLong,   // A body above the limit.
  kCutShort,  // It ends before its frame does.
  kFragment,  // A place that no fragment has.
};

[[nodiscard]] base::Bytes encode_preamble(const Preamble& preamble);
[[nodiscard]] base::Result<Preamble, FrameError> decode_preamble(base::ByteView bytes);

[[nodiscard]] constexpr std::size_t frame_bytes(std::size_t body_bytes) noexcept {
  return kFrameHeadBytes + body_bytes;
}
// Writes a frame that decode_frames accepts into exactly frame_bytes(body.size()) bytes.
void encode_frame(const FrameView& frame, std::span<std::byte> to);

// The frames of one message of a stream, at least one; their bodies lie in `bytes`.
[[nodiscard]] base::Result<std::vector<FrameView>, FrameError> decode_frames(base::ByteView bytes);

// How many frames a message of so many bytes takes: 1, or that many fragments.
[[nodiscard]] constexpr std::uint32_t frames_for(std::size_t message_bytes) noexcept {
  if (message_bytes <= kFrameBodyBytesMax) return 1;
  return static_cast<std::uint32_t>((message_bytes + kFrameBodyBytesMax - 1) / kFrameBodyBytesMax);
}
// The `index`-th of them; `whole` is not itself a fragment.
[[nodiscard]] FrameView frame_of(const FrameView& whole, std::uint32_t index);

}  // namespace cadastre::log
