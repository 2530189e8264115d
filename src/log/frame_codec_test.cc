// The bytes of preambles and frames (L-64), and what a reader says of bytes that are none.

#include "log/frame_codec.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "base/crc32c.h"
#include "base/endian.h"

namespace cadastre::log {
namespace {

const Preamble kPreamble{.lane = Lane::kBulk,
                         .cluster = ClusterId{7},
                         .from = NodeId{1},
                         .to = NodeId{2},
                         .incarnation = PeerIncarnation{9}};

FrameView some_frame(std::string_view body) {
  return {.group = GroupId{5}, .from = NodeId{1}, .to = NodeId{2}, .body = base::as_bytes(body)};
}

base::Bytes encoded(const FrameView& frame) {
  base::Bytes out(frame_bytes(frame.body.size()));
  encode_frame(frame, out);
  return out;
}

// The same bytes with another number at `at` and the sum put right.
template <class T>
base::Bytes with(base::Bytes bytes, std::size_t at, T value) {
  constexpr std::size_t kSumAt = 40;
  base::store_le(bytes.data() + at, value);
  std::uint32_t sum = base::crc32c(base::ByteView{bytes}.first(kSumAt));
  if (bytes.size() > kFrameHeadBytes)
    sum = base::crc32c_extend(sum, base::ByteView{bytes}.subspan(kFrameHeadBytes));
  base::store_le(bytes.data() + kSumAt, sum);
  return bytes;
}

bool same(const FrameView& a, const FrameView& b) {
  return a.kind == b.kind && a.group == b.group && a.from == b.from && a.to == b.to &&
         a.fragment == b.fragment && base::equal(a.body, b.body);
}

TEST(Preamble, HasTheBytesOfItsTable) {  // L-64
  const base::Bytes bytes = encode_preamble(kPreamble);
  EXPECT_EQ(
      base::to_hex(bytes),
      "4344525001000200070000000000000001000000000000000200000000000000090000000000000093ddf1d4");
  const auto read = decode_preamble(bytes);
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, kPreamble);
}

TEST(Preamble, IsRefusedForEachThingThatIsWrong) {  // L-64, L-68
  const base::Bytes good = encode_preamble(kPreamble);
  const auto error = [](base::ByteView bytes) {
    return decode_preamble(bytes).error().code;
  };
  EXPECT_EQ(error({}), FrameError::kCutShort);
  EXPECT_EQ(error(base::ByteView{good}.first(kPreambleBytes - 1)), FrameError::kCutShort);
  base::Bytes longer = good;
  longer.push_back(std::byte{0});
  EXPECT_EQ(error(longer), FrameError::kTooLong);
  EXPECT_EQ(error(with(good, 0, std::uint8_t{'X'})), FrameError::kDamaged);
  EXPECT_EQ(error(with(good, 4, std::uint16_t{2})), FrameError::kVersion);
  EXPECT_EQ(error(with(good, 6, std::uint16_t{0})), FrameError::kKind);
  EXPECT_EQ(error(with(good, 6, std::uint16_t{3})), FrameError::kKind);
  for (std::size_t at = 8; at < good.size(); ++at) {
    base::Bytes spoiled = good;
    spoiled[at] ^= std::byte{1};
    EXPECT_EQ(error(spoiled), FrameError::kDamaged) << at;
  }
}

TEST(Frame, HasTheBytesOfItsTable) {  // L-64
  EXPECT_EQ(base::to_hex(encoded(some_frame("raft"))),
            "43445246010001000500000000000000010000000000000002000000000000000400000000000000840f3b"
            "e70000000072616674");
  FrameView piece = some_frame("end");
  piece.kind = FrameKind::kFragment;
  piece.fragment = {1, 2};
  EXPECT_EQ(base::to_hex(encoded(piece)),
            "4344524601000300050000000000000001000000000000000200000000000000030000000200010027c0eb"
            "b100000000656e64");
}

TEST(Frame, IsRefusedForEachThingThatIsWrong) {  // L-64
  const base::Bytes good = encoded(some_frame("raft"));
  const auto error = [](base::ByteView bytes) {
    return decode_frames(bytes).error().code;
  };
  EXPECT_EQ(error({}), FrameError::kCutShort);
  for (std::size_t size = 1; size < good.size(); ++size)
    EXPECT_EQ(error(base::ByteView{good}.first(size)), FrameError::kCutShort) << size;
  EXPECT_EQ(error(with(good, 0, std::uint8_t{'X'})), FrameError::kDamaged);
  EXPECT_EQ(error(with(good, 4, std::uint16_t{2})), FrameError::kVersion);
  EXPECT_EQ(error(with(good, 6, std::uint16_t{0})), FrameError::kKind);
  EXPECT_EQ(error(with(good, 6, std::uint16_t{6})), FrameError::kKind);
  EXPECT_EQ(error(with(good, 32, std::uint32_t{kFrameBodyBytesMax + 1})), FrameError::kTooLong);
  EXPECT_EQ(error(with(good, 44, std::uint32_t{1})), FrameError::kDamaged);
  EXPECT_EQ(error(with(good, 36, std::uint32_t{2})), FrameError::kFragment);  // Kind 1 has none.
  base::Bytes tail = good;
  tail.push_back(std::byte{0});
  EXPECT_EQ(error(tail), FrameError::kCutShort);
}

TEST(Frame, AFlippedBitIsNoticedWhereverItIs) {  // L-64
  const base::Bytes good = encoded(some_frame("raft"));
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    base::Bytes spoiled = good;
    spoiled[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_FALSE(decode_frames(spoiled)) << bit;
  }
}

TEST(Frame, AFragmentHasAPlaceAmongSeveralAndAllButTheLastAreFull) {  // L-64
  FrameView piece = some_frame("end");
  piece.kind = FrameKind::kFragment;
  piece.fragment = {1, 2};
  const base::Bytes last = encoded(piece);
  ASSERT_TRUE(decode_frames(last));
  const auto place = [&](std::uint32_t index, std::uint32_t count) {
    return decode_frames(with(last, 36, index << 16 | count)).has_value();
  };
  EXPECT_FALSE(place(0, 1));
  EXPECT_FALSE(place(2, 2));
  EXPECT_FALSE(place(0, 0));
  EXPECT_FALSE(place(0, 2));  // Not full.
  EXPECT_TRUE(place(kFragmentsMax - 1, kFragmentsMax));
  EXPECT_FALSE(place(kFragmentsMax, kFragmentsMax + 1));
}

TEST(Frame, TheLongestMessageFitsTheFragmentsThatAreAllowed) {  // L-8
  EXPECT_EQ(frames_for(0), 1U);
  EXPECT_EQ(frames_for(kFrameBodyBytesMax), 1U);
  EXPECT_EQ(frames_for(kFrameBodyBytesMax + 1), 2U);
  EXPECT_EQ(frames_for(kPeerMessageBytesMax), kFragmentsMax);
}

RC_GTEST_PROP(FrameProperty, WhatWasWrittenIsRead, ()) {
  const auto bodies = *rc::gen::nonEmpty<std::vector<std::string>>();
  base::Bytes stream;
  std::vector<FrameView> frames;
  for (const std::string& body : bodies) {
    FrameView frame = some_frame(body);
    frame.kind = *rc::gen::element(FrameKind::kMessage, FrameKind::kSnapshotReport,
                                   FrameKind::kAddressHint, FrameKind::kNotHere);
    frame.group = GroupId{*rc::gen::arbitrary<std::uint64_t>()};
    frame.from = NodeId{*rc::gen::arbitrary<std::uint64_t>()};
    frame.to = NodeId{*rc::gen::arbitrary<std::uint64_t>()};
    frames.push_back(frame);
    const base::Bytes one = encoded(frame);
    stream.insert(stream.end(), one.begin(), one.end());
  }
  const auto read = decode_frames(stream);
  RC_ASSERT(read.has_value());
  RC_ASSERT(std::ranges::equal(*read, frames, same));
}

RC_GTEST_PROP(PreambleProperty, WhatWasWrittenIsRead, ()) {
  const Preamble preamble{.lane = *rc::gen::element(Lane::kControl, Lane::kBulk),
                          .cluster = ClusterId{*rc::gen::arbitrary<std::uint64_t>()},
                          .from = NodeId{*rc::gen::arbitrary<std::uint64_t>()},
                          .to = NodeId{*rc::gen::arbitrary<std::uint64_t>()},
                          .incarnation = PeerIncarnation{*rc::gen::arbitrary<std::uint64_t>()}};
  const auto read = decode_preamble(encode_preamble(preamble));
  RC_ASSERT(read.has_value());
  RC_ASSERT(*read == preamble);
}

}  // namespace
}  // namespace cadastre::log
