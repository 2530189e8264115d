// Messages of a stream: whatever reads, writes itself back to the same bytes; fragments are joined within their
// bound; bodies that are no engine's have one form. A first byte that is odd puts the sum of the first frame
// right, so that the fuzzer gets behind it.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "base/check.h"
#include "base/crc32c.h"
#include "base/endian.h"
#include "fuzz/target.h"
#include "log/fragment_joiner.h"
#include "log/frame_bodies.h"
#include "log/frame_codec.h"

namespace cadastre::fuzz {
namespace {

constexpr std::size_t kBodyBytesAt = 32;
constexpr std::size_t kSumAt = 40;

void put_right(base::Bytes& bytes) {
  const std::size_t body =
      std::min<std::size_t>(base::load_le<std::uint32_t>(bytes.data() + kBodyBytesAt),
                            bytes.size() - log::kFrameHeadBytes);
  const base::ByteView view{bytes};
  base::store_le(bytes.data() + kSumAt,
                 base::crc32c_extend(base::crc32c(view.first(kSumAt)),
                                     view.subspan(log::kFrameHeadBytes, body)));
}

void check_body(const log::FrameView& frame) {
  if (const auto report = log::decode_snapshot_report(frame.body))
    CAD_CHECK(base::equal(log::encode_snapshot_report(*report), frame.body), "one form");
  if (const auto hint = log::decode_address_hint(frame.body))
    CAD_CHECK(base::equal(log::encode_address_hint(*hint), frame.body), "one form");
  if (const auto index = log::decode_not_here(frame.body))
    CAD_CHECK(base::equal(log::encode_not_here(*index), frame.body), "one form");
}

}  // namespace

void run_one(base::ByteView input) {
  if (input.size() < 1 + log::kFrameHeadBytes) return;
  base::Bytes bytes = base::to_owned(input.subspan(1));
  if ((input[0] & std::byte{1}) != std::byte{0}) put_right(bytes);
  const auto frames = log::decode_frames(bytes);
  if (!frames) return;
  log::FragmentJoiner joiner;
  base::Bytes again;
  for (const log::FrameView& frame : *frames) {
    const std::size_t at = again.size();
    again.resize(at + log::frame_bytes(frame.body.size()));
    log::encode_frame(frame, std::span(again).subspan(at));
    check_body(frame);
    if (frame.kind == log::FrameKind::kFragment) {
      (void)joiner.add(frame);
    } else {
      joiner.interrupt();
    }
    CAD_CHECK(joiner.held_bytes() <= log::kPeerMessageBytesMax, "what is held is bounded");
  }
  CAD_CHECK(base::equal(again, bytes), "frames have one form");
}

}  // namespace cadastre::fuzz
