// What only gRPC's streams have: reading stops and goes on, addresses change, kinds that are no engine's, an end.

#include <string>

#include <gtest/gtest.h>

#include "log/frame_codec.h"
#include "log/frame_limits.h"
#include "server/start_error.h"
#include "tests/peers/grpc_nodes.h"
#include "tests/peers/raw_stream.h"

namespace cadastre::peers {
namespace {

using log::GroupId;
using log::Index;
using log::Lane;
using log::NodeId;
using Seen = Recorder::Seen;

constexpr NodeId kOne{1};
constexpr NodeId kTwo{2};

struct PeerStreams : testing::Test {
  PeerStreams() {
    one.knows({{kTwo, two.address()}});
    two.knows({{kOne, one.address()}});
  }
  // Node two has stopped to read.
  [[nodiscard]] bool paused() {
    for (int tries = 0; tries < 300 && two.counters().reads_paused == 0; ++tries) {
      (void)two.recorder().wait_until([](const Seen&) { return false; },
                                      std::chrono::milliseconds(10));
    }
    return two.counters().reads_paused != 0;
  }
  // From one to two, until it arrives.
  void connect(Lane lane, GroupId group) {
    const auto came = [&](const Seen& seen) {
      return !seen.texts(group).empty();
    };
    for (int tries = 0; tries < 300; ++tries) {
      one.transport().send(kTwo, lane, one_frame(kOne, kTwo, group, "there?"));
      if (two.recorder().wait_until(came, std::chrono::milliseconds(100))) return;
    }
    FAIL() << "no stream";
  }

  GrpcNode one{{.id = kOne}};
  GrpcNode two{{.id = kTwo}};
};

TEST_F(PeerStreams, APeerWhoseFramesAreNotTakenIsNotReadAndReadAgainWhenTheyAre) {  // 1.3
  connect(Lane::kBulk, GroupId{1});
  two.recorder().hold();
  const std::string text(log::kFrameBodyBytesMax / 4, 'x');
  constexpr std::size_t kFrames = 4 * (log::kPeerInboundBytesMax + 12 * log::kMiB) / log::kMiB;
  for (std::size_t i = 0; i < kFrames; ++i)
    one.transport().send(kTwo, Lane::kBulk, one_frame(kOne, kTwo, GroupId{2}, text));
  const std::size_t bound = 4 * log::kPeerInboundBytesMax / log::kMiB;
  ASSERT_TRUE(two.recorder().wait_until([&](const Seen& seen) {
    return seen.held.contains(GroupId{2}) && seen.held.at(GroupId{2}) >= bound;
  }));
  ASSERT_TRUE(paused());
  two.recorder().let_go();
  ASSERT_TRUE(two.recorder().wait_until(
      [](const Seen& seen) { return seen.texts(GroupId{2}).size() == kFrames; }));
}

TEST_F(PeerStreams, ReportsReachTheirHook) {  // L-75
  connect(Lane::kControl, GroupId{1});
  one.transport().send_snapshot_report(kTwo, GroupId{4}, {Index{9}, true});
  ASSERT_TRUE(two.recorder().wait_until([](const Seen& seen) { return seen.reports.size() == 1; }));
  EXPECT_EQ(two.recorder().seen().reports[0], (log::SnapshotReport{Index{9}, true}));
}

// Nothing else is sent: the hint does not depend on a stream that happens to be up.
TEST_F(PeerStreams, WhoeverLetsAStreamInIsToldWhereTheNodeIs) {  // L-69
  const log::NodeAddress moved{"10.0.0.3:7402", "10.0.0.3:7400"};
  GrpcNode three({.id = NodeId{3}, .announced = moved});
  three.knows({{kTwo, two.address()}});
  ASSERT_TRUE(two.recorder().wait_until([](const Seen& seen) { return seen.hints.size() == 1; }));
  EXPECT_EQ(two.recorder().seen().hints[0], moved);
  three.knows({});  // And whoever lets it in again is told again.
  three.knows({{kTwo, two.address()}});
  EXPECT_TRUE(two.recorder().wait_until([](const Seen& seen) { return seen.hints.size() == 2; }));
}

TEST_F(PeerStreams, AnAddressThatChangesIsFollowed) {  // L-69
  connect(Lane::kBulk, GroupId{1});
  GrpcNode moved({.id = kTwo, .incarnation = log::PeerIncarnation{2}});
  one.knows({{kTwo, moved.address()}});
  const auto came = [](const Seen& seen) {
    return !seen.frames.empty();
  };
  bool heard = false;
  for (int tries = 0; tries < 300 && !heard; ++tries) {
    one.transport().send(kTwo, Lane::kBulk, one_frame(kOne, kTwo, GroupId{2}, "x"));
    heard = moved.recorder().wait_until(came, std::chrono::milliseconds(100));
  }
  EXPECT_TRUE(heard);
  EXPECT_TRUE(two.recorder().seen().texts(GroupId{2}).empty());
}

TEST_F(PeerStreams, APeerThatIsNamedNoMoreIsLeft) {  // L-69
  connect(Lane::kBulk, GroupId{1});
  one.knows({});
  one.transport().send(kTwo, Lane::kBulk, one_frame(kOne, kTwo, GroupId{2}, "x"));
  EXPECT_TRUE(
      one.recorder().wait_until([](const Seen& seen) { return seen.unreachable.contains(kTwo); }));
  EXPECT_TRUE(two.recorder().seen().texts(GroupId{2}).empty());
}

// L-66: an engine whose snapshot was dropped waits for that word, and for nothing else.
TEST_F(PeerStreams, ADropThatComesSoonAfterAnotherIsToldLater) {
  const log::NodeId nobody{9};  // No stream of it can end, and be told.
  for (int i = 0; i < 3; ++i)
    one.transport().send(nobody, Lane::kBulk, one_frame(kOne, nobody, GroupId{2}, "x"));
  EXPECT_TRUE(one.recorder().wait_until([&](const Seen& seen) {
    const auto told = seen.unreachable.find(nobody);
    return told != seen.unreachable.end() && told->second >= 2;
  }));
}

TEST_F(PeerStreams, AWrongAddressIsToldByTheNodeThatIsThere) {  // L-68
  GrpcNode three({.id = NodeId{3}});
  three.knows({{NodeId{4}, two.address()}});
  const auto refused = [&] {
    return three.counters().refused_there.load() != 0;
  };
  ASSERT_TRUE(three.recorder().wait_until([&](const Seen& seen) {
    return refused() || (seen.unreachable.contains(NodeId{4}) && refused());
  }));
  EXPECT_GE(two.counters().refused.at(static_cast<std::size_t>(server::PeerRefusal::kNode)), 1U);
  EXPECT_EQ(three.counters().streams_opened, 0U);
}

TEST_F(PeerStreams, AGapInFragmentsDropsTheMessageAndNothingElse) {  // L-64
  RawStream stream(two.port());
  ASSERT_TRUE(stream.write(log::encode_preamble({.lane = Lane::kBulk,
                                                 .cluster = kCluster,
                                                 .from = NodeId{3},
                                                 .to = kTwo,
                                                 .incarnation = log::PeerIncarnation{1}})));
  const std::string text(2 * log::kFrameBodyBytesMax + 1, 'm');
  const log::FrameView whole{.group = GroupId{5},
                             .from = NodeId{3},
                             .to = kTwo,
                             .fragment = {},
                             .body = base::as_bytes(text)};
  const auto write = [&](const log::FrameView& frame) {
    base::Bytes bytes(log::frame_bytes(frame.body.size()));
    log::encode_frame(frame, bytes);
    ASSERT_TRUE(stream.write(bytes));
  };
  for (const std::uint32_t index : {0U, 2U, 0U, 1U, 2U})
    write(log::frame_of(whole, index));
  ASSERT_TRUE(two.recorder().wait_until(
      [](const Seen& seen) { return seen.texts(GroupId{5}).size() == 1; }));
  EXPECT_TRUE(two.recorder().seen().texts(GroupId{5}).front() == text);
  EXPECT_EQ(two.counters().fragments_dropped, 1U);
}

TEST_F(PeerStreams, AfterStopNothingIsHeardAndFramesThatAreHeldStayGood) {
  connect(Lane::kBulk, GroupId{1});
  two.recorder().hold();
  for (int i = 0; i < 200; ++i)
    one.transport().send(kTwo, Lane::kBulk,
                         one_frame(kOne, kTwo, GroupId{2}, std::string(log::kMiB / 4, 'y')));
  ASSERT_TRUE(
      two.recorder().wait_until([](const Seen& seen) { return seen.held.contains(GroupId{2}); }));
  two.transport().stop();
  one.transport().stop();
  const Seen before = two.recorder().seen();
  one.transport().send(kTwo, Lane::kBulk, one_frame(kOne, kTwo, GroupId{3}, "x"));
  two.recorder().let_go();
  const Seen after = two.recorder().seen();
  EXPECT_EQ(after.texts(GroupId{2}).size(), before.held.at(GroupId{2}));
  for (const std::string& text : after.texts(GroupId{2}))
    EXPECT_EQ(text, std::string(log::kMiB / 4, 'y'));
}

TEST(PeerTransport, PlainStreamsAreForLoopbackUnlessSomebodySaysSo) {
  base::SystemClock clock;
  base::SeededRandom random(1);
  client::AlarmTimer timer;
  Recorder recorder;
  server::GrpcPeerTransport transport({.self = {kCluster, kOne},
                                       .incarnation = log::PeerIncarnation{1},
                                       .clock = clock,
                                       .random = random,
                                       .timer = timer});
  server::PeerOptions options{.address = {.host = "0.0.0.0", .port = 0}};
  EXPECT_FALSE(transport.start(options, recorder, recorder));
  options.plain = server::PlainPolicy::kAnywhere;
  EXPECT_TRUE(transport.start(options, recorder, recorder));
}

}  // namespace
}  // namespace cadastre::peers
