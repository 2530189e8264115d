// Peers that send garbage, lie, or ask for what is not here: they are disconnected and counted, and nothing else
// happens (L-68).

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/crc32c.h"
#include "base/endian.h"
#include "base/random.h"
#include "log/frame_codec.h"
#include "log/frame_limits.h"
#include "server/peer_admission.h"
#include "tests/peers/grpc_nodes.h"
#include "tests/peers/raw_stream.h"

namespace cadastre::peers {
namespace {

using log::ClusterId;
using log::GroupId;
using log::Index;
using log::Lane;
using log::NodeId;
using log::PeerIncarnation;
using server::PeerRefusal;
using Seen = Recorder::Seen;

constexpr NodeId kOne{1};
constexpr NodeId kTwo{2};

log::Preamble from_one(std::uint64_t incarnation = 1) {
  return {.lane = Lane::kBulk,
          .cluster = kCluster,
          .from = kOne,
          .to = kTwo,
          .incarnation = PeerIncarnation{incarnation}};
}

base::Bytes encoded(const log::FrameView& frame) {
  base::Bytes out(log::frame_bytes(frame.body.size()));
  log::encode_frame(frame, out);
  return out;
}
log::FrameView message(std::string_view text, GroupId group = GroupId{5}) {
  return {.group = group, .from = kOne, .to = kTwo, .fragment = {}, .body = base::as_bytes(text)};
}

struct HostilePeer : testing::Test {
  [[nodiscard]] std::uint64_t refused(PeerRefusal why) const {
    return node.counters().refused.at(static_cast<std::size_t>(why));
  }
  [[nodiscard]] std::uint64_t refused() const {
    std::uint64_t all = 0;
    for (const auto& count : node.counters().refused)
      all += count;
    return all;
  }
  // A stream that begins and goes on like this ends with that reason, and nothing is heard of it.
  void expect_refused(base::ByteView first, base::ByteView second, PeerRefusal why) {
    const std::uint64_t before = refused(why);
    const std::uint64_t before_all = refused();
    RawStream stream(node.port());
    (void)stream.write(first);
    if (!second.empty()) (void)stream.write(second);
    const auto ending = stream.ending();
    EXPECT_EQ(ending.status, server::name_of(why));
    EXPECT_EQ(ending.reason, server::sentence_of(why));
    EXPECT_EQ(refused(why), before + 1);
    EXPECT_EQ(refused(), before_all + 1);
    EXPECT_TRUE(node.recorder().seen().frames.empty());
  }
  // A good stream is heard.
  void expect_well() {
    RawStream stream(node.port());
    ASSERT_TRUE(stream.write(log::encode_preamble(from_one())));
    ASSERT_TRUE(stream.is_let_in());
    ASSERT_TRUE(stream.write(encoded(message("good"))));
    EXPECT_TRUE(node.recorder().wait_until(
        [](const Seen& seen) { return seen.texts(GroupId{5}).size() == 1; }));
  }

  GrpcNode node{{.id = kTwo}};
};

TEST_F(HostilePeer, APreambleThatIsNoneEndsTheStream) {
  expect_refused(base::as_bytes("hello"), {}, PeerRefusal::kDamaged);
  expect_refused({}, {}, PeerRefusal::kDamaged);
  expect_refused(encoded(message("a frame")), {}, PeerRefusal::kDamaged);
  base::Bytes newer = log::encode_preamble(from_one());
  newer[4] = std::byte{9};
  expect_refused(newer, {}, PeerRefusal::kVersion);
  expect_well();
}

TEST(SilentPeer, WhoeverSaysNothingIsLeft) {
  GrpcNode node({.id = NodeId{9}, .first_word_wait = std::chrono::milliseconds(20)});
  RawStream stream(node.port());
  (void)stream.ending();  // Waits for it.
  const auto damaged = static_cast<std::size_t>(server::PeerRefusal::kDamaged);
  EXPECT_EQ(node.counters().refused.at(damaged).load(), 1U);
}

TEST_F(HostilePeer, AnotherClusterOrAnotherNodeEndsTheStream) {
  log::Preamble other = from_one();
  other.cluster = ClusterId{8};
  expect_refused(log::encode_preamble(other), {}, PeerRefusal::kCluster);
  other = from_one();
  other.to = NodeId{3};
  expect_refused(log::encode_preamble(other), {}, PeerRefusal::kNode);
  other = from_one();
  other.from = kTwo;
  expect_refused(log::encode_preamble(other), {}, PeerRefusal::kNode);
  expect_well();
}

TEST_F(HostilePeer, AnOlderProcessOfANodeIsRefusedAndItsStreamsEnd) {
  RawStream older(node.port());
  ASSERT_TRUE(older.write(log::encode_preamble(from_one(4))));
  ASSERT_TRUE(older.is_let_in());
  log::Preamble newer = from_one(5);
  newer.lane = Lane::kControl;
  RawStream newest(node.port());
  ASSERT_TRUE(newest.write(log::encode_preamble(newer)));
  ASSERT_TRUE(newest.is_let_in());
  EXPECT_TRUE(older.write(encoded(message("from the dead"))));
  EXPECT_EQ(older.ending().status, "incarnation");
  EXPECT_EQ(refused(PeerRefusal::kIncarnation), 1U);
  expect_refused(log::encode_preamble(from_one(4)), {}, PeerRefusal::kIncarnation);
}

TEST_F(HostilePeer, AnotherStreamOfALaneEndsTheOneBefore) {
  RawStream first(node.port());
  ASSERT_TRUE(first.write(log::encode_preamble(from_one())));
  ASSERT_TRUE(first.is_let_in());
  RawStream second(node.port());
  ASSERT_TRUE(second.write(log::encode_preamble(from_one())));
  ASSERT_TRUE(second.is_let_in());
  (void)first.ending();
  EXPECT_TRUE(second.write(encoded(message("heard"))));
  EXPECT_TRUE(node.recorder().wait_until(
      [](const Seen& seen) { return seen.texts(GroupId{5}).size() == 1; }));
  EXPECT_EQ(refused(), 0U);
}

TEST_F(HostilePeer, AFrameThatIsNoneEndsTheStream) {
  const base::Bytes preamble = log::encode_preamble(from_one());
  const base::Bytes good = encoded(message("text"));
  for (std::size_t at = 0; at < good.size(); at += 7) {
    base::Bytes spoiled = good;
    spoiled[at] ^= std::byte{0x10};
    const auto error = log::decode_frames(spoiled).error().code;
    expect_refused(preamble, spoiled, server::refusal_of(error));
  }
  // The good one in front of it goes with it.
  base::Bytes half = good;
  half.insert(half.end(), good.begin(), good.end() - 1);
  expect_refused(preamble, half, PeerRefusal::kDamaged);
  // A body of a kind that has another form.
  log::FrameView report = message("report");
  report.kind = log::FrameKind::kSnapshotReport;
  expect_refused(preamble, encoded(report), PeerRefusal::kDamaged);
  expect_well();
}

TEST_F(HostilePeer, AFrameOfAnotherNodeEndsTheStream) {
  const base::Bytes preamble = log::encode_preamble(from_one());
  log::FrameView frame = message("text");
  frame.from = NodeId{3};
  expect_refused(preamble, encoded(frame), PeerRefusal::kIdentity);
  frame = message("text");
  frame.to = NodeId{3};
  expect_refused(preamble, encoded(frame), PeerRefusal::kNode);
  expect_well();
}

TEST_F(HostilePeer, WhatIsTooLongEndsTheStream) {
  const base::Bytes preamble = log::encode_preamble(from_one());
  base::Bytes announced = encoded(message("text"));
  base::store_le(announced.data() + 32, std::uint32_t{log::kFrameBodyBytesMax + 1});
  expect_refused(preamble, announced, PeerRefusal::kTooLong);
  const base::Bytes zeros(log::kStreamMessageBytesMax + 1);
  expect_refused(preamble, zeros, PeerRefusal::kTooLong);
  expect_refused(zeros, {}, PeerRefusal::kTooLong);
  {
    // So long that gRPC ends the stream itself.
    RawStream stream(node.port());
    (void)stream.write(preamble);
    (void)stream.write(base::Bytes(16 * log::kStreamMessageBytesMax));
    (void)stream.ending();
  }
  expect_well();
}

TEST_F(HostilePeer, AGroupThatIsNotHereIsAnsweredOnceInASecond) {
  node.recorder().does_not_know(GroupId{9}, Index{41});
  GrpcNode peer({.id = kOne});
  peer.knows({{kTwo, node.address()}});
  node.knows({{kOne, peer.address()}});
  // The answer may be lost while the way back is being opened: it comes again.
  const auto answered = [](const Seen& seen) {
    return !seen.not_here.empty();
  };
  for (int tries = 0; tries < 300; ++tries) {
    peer.transport().send(kTwo, Lane::kBulk, one_frame(kOne, kTwo, GroupId{9}, "x"));
    if (peer.recorder().wait_until(answered, std::chrono::milliseconds(50))) break;
  }
  const auto seen = peer.recorder().seen();
  const base::SystemClock clock;
  const auto since = clock.elapsed();
  ASSERT_FALSE(seen.not_here.empty());
  EXPECT_EQ(seen.not_here.front(), std::pair(GroupId{9}, Index{41}));
  for (int i = 0; i < 100; ++i)
    peer.transport().send(kTwo, Lane::kBulk, one_frame(kOne, kTwo, GroupId{9}, "x"));
  peer.transport().send(kTwo, Lane::kBulk, one_frame(kOne, kTwo, GroupId{5}, "last"));
  ASSERT_TRUE(node.recorder().wait_until(
      [](const Seen& after) { return after.texts(GroupId{5}).size() == 1; }));
  EXPECT_TRUE(node.recorder().seen().texts(GroupId{9}).empty());
  // Behind whatever was answered.
  node.transport().send(kOne, Lane::kControl, one_frame(kTwo, kOne, GroupId{5}, "end"));
  ASSERT_TRUE(peer.recorder().wait_until(
      [](const Seen& after) { return after.texts(GroupId{5}).size() == 1; }));
  const auto later = clock.elapsed() - since;
  EXPECT_LE(peer.recorder().seen().not_here.size(),
            seen.not_here.size() + 1 + static_cast<std::size_t>(later / std::chrono::seconds(1)));
  EXPECT_GE(node.counters().frames_not_here, 100U);
  EXPECT_EQ(refused(), 0U);
}

TEST_F(HostilePeer, AGroupThatTheClusterDoesNotHaveEndsTheStream) {
  node.recorder().never_had(GroupId{9});
  expect_refused(log::encode_preamble(from_one()), encoded(message("x", GroupId{9})),
                 PeerRefusal::kGroup);
  expect_well();
}

TEST_F(HostilePeer, WhoeverIsDistrustedLosesItsStreamsAndMayBeginOthers) {
  RawStream stream(node.port());
  ASSERT_TRUE(stream.write(log::encode_preamble(from_one())));
  ASSERT_TRUE(stream.is_let_in());
  node.transport().disconnect(kOne);
  EXPECT_NE(stream.ending().status, "Deadline Exceeded");  // Else it ended by itself.
  node.transport().disconnect(kOne);
  node.transport().disconnect(NodeId{77});  // Who never was here.
  EXPECT_EQ(refused(PeerRefusal::kDamaged), 3U);
  expect_well();
}

TEST_F(HostilePeer, BytesThatAreNoHttpAreClosedAndHeardByNobody) {
  base::SeededRandom random(3);
  for (int i = 0; i < 20; ++i) {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CAD_CHECK(socket >= 0, "a test can open a socket");
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(node.port());
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    std::array<std::uint64_t, 512> junk{};
    for (std::uint64_t& word : junk)
      word = random.next_u64();
    ASSERT_GT(::send(socket, junk.data(), sizeof junk, MSG_NOSIGNAL), 0);
    std::array<char, 4096> back{};
    while (::recv(socket, back.data(), back.size(), 0) > 0) {}  // Until the node closes it.
    ::close(socket);
  }
  EXPECT_EQ(refused(), 0U);
  expect_well();
}

}  // namespace
}  // namespace cadastre::peers
