#include "log/frame_codec.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/check.h"
#include "base/crc32c.h"
#include "base/endian.h"

namespace cadastre::log {
namespace {

constexpr std::string_view kPreambleMagic = "CDRP";
constexpr std::string_view kFrameMagic = "CDRF";
constexpr std::size_t kMagicBytes = 4;
constexpr std::uint16_t kVersion = 1;
constexpr std::uint16_t kControlNumber = 1;
constexpr std::uint16_t kBulkNumber = 2;

// Offsets of both.
constexpr std::size_t kVersionAt = 4;
constexpr std::size_t kKindAt = 6;
constexpr std::size_t kSumAt = 40;
// Of a preamble.
constexpr std::size_t kClusterAt = 8;
constexpr std::size_t kPreambleFromAt = 16;
constexpr std::size_t kPreambleToAt = 24;
constexpr std::size_t kIncarnationAt = 32;
// Of a frame.
constexpr std::size_t kGroupAt = 8;
constexpr std::size_t kFromAt = 16;
constexpr std::size_t kToAt = 24;
constexpr std::size_t kBodyBytesAt = 32;
constexpr std::size_t kFragmentAt = 36;
constexpr std::size_t kZeroAt = 44;
constexpr std::uint32_t kPlaceBits = 16;
constexpr std::uint32_t kPlaceMask = 0xffff;

void begin(std::byte* out, std::string_view magic, std::uint16_t kind) noexcept {
  std::memcpy(out, magic.data(), kMagicBytes);
  base::store_le(out + kVersionAt, kVersion);
  base::store_le(out + kKindAt, kind);
}

bool begins_with(base::ByteView bytes, std::string_view magic) noexcept {
  return base::as_text(bytes.first(kMagicBytes)) == magic;
}

std::optional<Lane> lane_of(std::uint16_t number) noexcept {
  if (number == kControlNumber) return Lane::kControl;
  if (number == kBulkNumber) return Lane::kBulk;
  return std::nullopt;
}

bool is_kind(std::uint16_t number) noexcept {
  return number >= static_cast<std::uint16_t>(FrameKind::kMessage) &&
         number <= static_cast<std::uint16_t>(FrameKind::kNotHere);
}

bool has_a_place(const FrameView& frame) noexcept {
  const auto [index, count] = frame.fragment;
  if (frame.kind != FrameKind::kFragment) return index == 0 && count == 0;
  if (count < 2 || count > kFragmentsMax || index >= count || frame.body.empty()) return false;
  return index + 1 == count || frame.body.size() == kFrameBodyBytesMax;
}

std::uint32_t sum_of(const std::byte* head, base::ByteView body) noexcept {
  return base::crc32c_extend(base::crc32c({head, kSumAt}), body);
}

// The frame with which the bytes begin.
base::Result<FrameView, FrameError> decode_first(base::ByteView bytes) {
  if (bytes.size() < kFrameHeadBytes) return base::fail(FrameError::kCutShort);
  const std::byte* const head = bytes.data();
  if (!begins_with(bytes, kFrameMagic)) return base::fail(FrameError::kDamaged, "no frame");
  if (base::load_le<std::uint16_t>(head + kVersionAt) != kVersion)
    return base::fail(FrameError::kVersion);
  const auto kind = base::load_le<std::uint16_t>(head + kKindAt);
  if (!is_kind(kind)) return base::fail(FrameError::kKind);
  const auto body_bytes = base::load_le<std::uint32_t>(head + kBodyBytesAt);
  if (body_bytes > kFrameBodyBytesMax) return base::fail(FrameError::kTooLong);
  if (body_bytes > bytes.size() - kFrameHeadBytes) return base::fail(FrameError::kCutShort);
  if (base::load_le<std::uint32_t>(head + kZeroAt) != 0)
    return base::fail(FrameError::kDamaged, "bytes that are zero are not");
  const base::ByteView body = bytes.subspan(kFrameHeadBytes, body_bytes);
  if (sum_of(head, body) != base::load_le<std::uint32_t>(head + kSumAt))
    return base::fail(FrameError::kDamaged, "it does not match its sum");
  const auto fragment = base::load_le<std::uint32_t>(head + kFragmentAt);
  const FrameView frame{.kind = static_cast<FrameKind>(kind),
                        .group = GroupId{base::load_le<std::uint64_t>(head + kGroupAt)},
                        .from = NodeId{base::load_le<std::uint64_t>(head + kFromAt)},
                        .to = NodeId{base::load_le<std::uint64_t>(head + kToAt)},
                        .fragment = {static_cast<std::uint16_t>(fragment >> kPlaceBits),
                                     static_cast<std::uint16_t>(fragment & kPlaceMask)},
                        .body = body};
  if (!has_a_place(frame)) return base::fail(FrameError::kFragment);
  return frame;
}

}  // namespace

base::Bytes encode_preamble(const Preamble& preamble) {
  base::Bytes out(kPreambleBytes);
  begin(out.data(), kPreambleMagic, preamble.lane == Lane::kControl ? kControlNumber : kBulkNumber);
  base::store_le(out.data() + kClusterAt, preamble.cluster.value());
  base::store_le(out.data() + kPreambleFromAt, preamble.from.value());
  base::store_le(out.data() + kPreambleToAt, preamble.to.value());
  base::store_le(out.data() + kIncarnationAt, preamble.incarnation.value());
  base::store_le(out.data() + kSumAt, base::crc32c({out.data(), kSumAt}));
  return out;
}

base::Result<Preamble, FrameError> decode_preamble(base::ByteView bytes) {
  if (bytes.size() < kPreambleBytes) return base::fail(FrameError::kCutShort);
  if (!begins_with(bytes, kPreambleMagic)) return base::fail(FrameError::kDamaged, "no preamble");
  const std::byte* const at = bytes.data();
  if (base::load_le<std::uint16_t>(at + kVersionAt) != kVersion)
    return base::fail(FrameError::kVersion);
  if (bytes.size() > kPreambleBytes) return base::fail(FrameError::kTooLong);
  if (base::crc32c(bytes.first(kSumAt)) != base::load_le<std::uint32_t>(at + kSumAt))
    return base::fail(FrameError::kDamaged, "it does not match its sum");
  const auto lane = lane_of(base::load_le<std::uint16_t>(at + kKindAt));
  if (!lane) return base::fail(FrameError::kKind);
  return Preamble{
      .lane = *lane,
      .cluster = ClusterId{base::load_le<std::uint64_t>(at + kClusterAt)},
      .from = NodeId{base::load_le<std::uint64_t>(at + kPreambleFromAt)},
      .to = NodeId{base::load_le<std::uint64_t>(at + kPreambleToAt)},
      .incarnation = PeerIncarnation{base::load_le<std::uint64_t>(at + kIncarnationAt)}};
}

void encode_frame(const FrameView& frame, std::span<std::byte> to) {
  CAD_CHECK(frame.body.size() <= kFrameBodyBytesMax, "a longer message goes as fragments");
  CAD_CHECK(to.size() == frame_bytes(frame.body.size()), "room for the frame and no more");
  CAD_CHECK(has_a_place(frame), "a fragment knows its place, and nothing else has one");
  std::byte* const head = to.data();
  begin(head, kFrameMagic, static_cast<std::uint16_t>(frame.kind));
  base::store_le(head + kGroupAt, frame.group.value());
  base::store_le(head + kFromAt, frame.from.value());
  base::store_le(head + kToAt, frame.to.value());
  base::store_le(head + kBodyBytesAt, static_cast<std::uint32_t>(frame.body.size()));
  base::store_le(head + kFragmentAt,
                 std::uint32_t{frame.fragment.index} << kPlaceBits | frame.fragment.count);
  base::store_le(head + kSumAt, sum_of(head, frame.body));
  base::store_le(head + kZeroAt, std::uint32_t{0});
  if (!frame.body.empty())
    std::memcpy(head + kFrameHeadBytes, frame.body.data(), frame.body.size());
}

base::Result<std::vector<FrameView>, FrameError> decode_frames(base::ByteView bytes) {
  std::vector<FrameView> frames;
  do {
    frames.push_back(CAD_TRY(decode_first(bytes)));
    bytes = bytes.subspan(frame_bytes(frames.back().body.size()));
  } while (!bytes.empty());
  return frames;
}

FrameView frame_of(const FrameView& whole, std::uint32_t index) {
  const std::uint32_t count = frames_for(whole.body.size());
  CAD_CHECK(count <= kFragmentsMax && index < count, "a message has so many frames");
  if (count == 1) return whole;
  CAD_CHECK(whole.kind == FrameKind::kMessage, "only an engine's messages are that long");
  FrameView piece = whole;
  piece.kind = FrameKind::kFragment;
  piece.fragment = {static_cast<std::uint16_t>(index), static_cast<std::uint16_t>(count)};
  const std::size_t at = index * kFrameBodyBytesMax;
  piece.body = whole.body.subspan(at, std::min(kFrameBodyBytesMax, whole.body.size() - at));
  return piece;
}

}  // namespace cadastre::log
