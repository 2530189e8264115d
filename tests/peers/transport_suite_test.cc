// What every transport does (14.3): in memory and on gRPC.

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "log/frame_limits.h"
#include "tests/peers/networks.h"

namespace cadastre::peers {
namespace {

using log::GroupId;
using log::Lane;
using log::NodeId;
using Seen = Recorder::Seen;

constexpr NodeId kOne{1};
constexpr NodeId kTwo{2};
constexpr NodeId kThree{3};

struct Kind {
  const char* name;
  std::unique_ptr<Network> (*make)();
};
template <class N>
std::unique_ptr<Network> make() {
  return std::make_unique<N>();
}

struct TransportSuite : testing::TestWithParam<Kind> {
  void send(NodeId from, NodeId to, Lane lane, GroupId group, std::string_view text) const {
    network->transport(from).send(to, lane, one_frame(from, to, group, text));
  }
  [[nodiscard]] bool run_until(NodeId node,
                               const std::function<bool(const Seen&)>& is_so,
                               std::chrono::nanoseconds patience = kPatience) const {
    return network->run_until(node, is_so, patience);
  }
  // Both lanes from each to each are there.
  void connect_all() const {
    for (const NodeId from : {kOne, kTwo, kThree}) {
      for (const NodeId to : {kOne, kTwo, kThree}) {
        if (from != to) connect(from, to);
      }
    }
  }
  // Sends until a frame arrives on each lane: streams are not there at once.
  void connect(NodeId from, NodeId to) const {
    for (const Lane lane : {Lane::kControl, Lane::kBulk}) {
      const GroupId group{1000 + 10 * from.value() + (lane == Lane::kBulk ? 1U : 0U)};
      const auto came = [&](const Seen& seen) {
        return !seen.texts(group).empty();
      };
      for (int tries = 0; tries < 300; ++tries) {
        send(from, to, lane, group, "there?");
        if (run_until(to, came, std::chrono::milliseconds(100))) break;
      }
      ASSERT_TRUE(came(network->recorder(to).seen()));
    }
  }

  const std::unique_ptr<Network> network = GetParam().make();
};

TEST_P(TransportSuite, FramesOfALaneArriveInTheirOrder) {  // L-64
  connect_all();
  constexpr int kFrames = 2'000;
  std::vector<std::string> expected;
  for (int i = 0; i < kFrames; ++i) {
    expected.push_back(std::to_string(i));
    send(kOne, kTwo, Lane::kBulk, GroupId{1}, expected.back());
    send(kOne, kTwo, Lane::kControl, GroupId{2}, expected.back());
    send(kThree, kTwo, Lane::kBulk, GroupId{3}, expected.back());
  }
  ASSERT_TRUE(run_until(kTwo, [&](const Seen& seen) {
    return seen.texts(GroupId{1}).size() + seen.texts(GroupId{2}).size() +
               seen.texts(GroupId{3}).size() >=
           3 * kFrames;
  }));
  const Seen seen = network->recorder(kTwo).seen();
  for (const std::uint64_t group : {1U, 2U, 3U})
    EXPECT_EQ(seen.texts(GroupId{group}), expected) << group;
}

TEST_P(TransportSuite, ALongMessageArrivesWholeAndInItsPlace) {  // L-64
  connect_all();
  std::string text(5 * log::kFrameBodyBytesMax + 3, 'a');
  for (std::size_t i = 0; i < text.size(); i += 4093)
    text[i] = static_cast<char>('b' + i % 20);
  send(kOne, kTwo, Lane::kBulk, GroupId{1}, "before");
  send(kOne, kTwo, Lane::kBulk, GroupId{1}, text);
  send(kOne, kTwo, Lane::kBulk, GroupId{1}, "after");
  ASSERT_TRUE(run_until(kTwo, [](const Seen& seen) { return seen.texts(GroupId{1}).size() == 3; }));
  const auto texts = network->recorder(kTwo).seen().texts(GroupId{1});
  EXPECT_EQ(texts[0], "before");
  EXPECT_TRUE(texts[1] == text);
  EXPECT_EQ(texts[2], "after");
}

TEST_P(TransportSuite, WhatIsSentToAPeerThatIsAwayIsDroppedAndReported) {  // L-66
  connect_all();
  network->go_away(kTwo);
  send(kOne, kTwo, Lane::kBulk, GroupId{1}, "lost");
  EXPECT_TRUE(run_until(kOne, [](const Seen& seen) { return seen.unreachable.contains(kTwo); }));
  // The others do not notice.
  send(kOne, kThree, Lane::kBulk, GroupId{1}, "x");
  EXPECT_TRUE(
      run_until(kThree, [](const Seen& seen) { return seen.texts(GroupId{1}).size() == 1; }));
}

TEST_P(TransportSuite, APeerThatComesBackIsFoundAgain) {  // L-67
  connect_all();
  network->go_away(kTwo);
  send(kOne, kTwo, Lane::kBulk, GroupId{1}, "lost");
  network->come_back(kTwo);
  connect(kOne, kTwo);
  connect(kTwo, kOne);
  EXPECT_TRUE(network->recorder(kTwo).seen().texts(GroupId{1}).empty());
}

TEST_P(TransportSuite, AWayThatIsCutLeavesTheOtherDirection) {  // L-64
  connect_all();
  network->cut(kOne, kTwo);
  const std::size_t before = network->recorder(kTwo).seen().frames.size();
  send(kOne, kTwo, Lane::kControl, GroupId{5}, "lost");
  send(kTwo, kOne, Lane::kControl, GroupId{6}, "heard");
  ASSERT_TRUE(run_until(kOne, [](const Seen& seen) { return seen.texts(GroupId{6}).size() == 1; }));
  EXPECT_EQ(network->recorder(kTwo).seen().frames.size(), before);
}

TEST_P(TransportSuite, SendingNeverWaitsAndKeepsToItsBounds) {  // 1.3, L-66
  connect_all();
  network->recorder(kTwo).hold();
  const std::string text(log::kFrameBodyBytesMax / 2, 'x');
  for (int i = 0; i < 300; ++i)
    send(kOne, kTwo, Lane::kBulk, GroupId{1}, text);
  EXPECT_TRUE(run_until(kOne, [](const Seen& seen) { return seen.unreachable.contains(kTwo); }));
  // Heartbeats pass, and so does what goes elsewhere.
  send(kOne, kTwo, Lane::kControl, GroupId{2}, "beat");
  send(kOne, kThree, Lane::kBulk, GroupId{3}, "x");
  EXPECT_TRUE(run_until(kTwo, [](const Seen& seen) { return seen.held.contains(GroupId{2}); }));
  EXPECT_TRUE(
      run_until(kThree, [](const Seen& seen) { return seen.texts(GroupId{3}).size() == 1; }));
  network->recorder(kTwo).let_go();
  EXPECT_TRUE(run_until(kTwo, [](const Seen& seen) { return seen.texts(GroupId{2}).size() == 1; }));
  EXPECT_LT(network->recorder(kTwo).seen().texts(GroupId{1}).size(), 300U);
}

INSTANTIATE_TEST_SUITE_P(Networks,
                         TransportSuite,
                         testing::Values(Kind{"memory", make<MemoryNetwork>},
                                         Kind{"grpc", make<GrpcNetwork>}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace cadastre::peers
