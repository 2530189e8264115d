#include "log/inbound.h"

#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

namespace cadastre::log {
namespace {

std::vector<Frame> frames_of(NodeId from, std::size_t count, std::size_t bytes) {
  return std::vector<Frame>(count, {.group = GroupId{1},
                                    .from = from,
                                    .to = NodeId{9},
                                    .body = Body::copy_of(std::vector<std::byte>(bytes))});
}

TEST(Inbound, HoldsSoManyBytesAndDropsWhatComesThen) {  // L-8, 1.3
  Inbound inbound;
  EXPECT_EQ(inbound.push(NodeId{1}, frames_of(NodeId{1}, kInboundBytesMax / kMiB, kMiB)), 0U);
  EXPECT_EQ(inbound.push(NodeId{2}, frames_of(NodeId{2}, 2, 1)), 2U);
  EXPECT_EQ(inbound.take(1).frames.size(), 1U);
  EXPECT_EQ(inbound.push(NodeId{2}, frames_of(NodeId{2}, 2, kMiB)), 1U) << "one has left";
}

TEST(Inbound, IsTakenInOrderAndSoManyAtATime) {  // L-8
  Inbound inbound;
  EXPECT_EQ(inbound.push(NodeId{1}, frames_of(NodeId{1}, 2, 1)), 0U);
  EXPECT_EQ(inbound.push(NodeId{2}, frames_of(NodeId{2}, 1, 1)), 0U);
  auto some = inbound.take(2);
  ASSERT_EQ(some.frames.size(), 2U);
  EXPECT_TRUE(some.more);
  some = inbound.take(2);
  ASSERT_EQ(some.frames.size(), 1U);
  EXPECT_EQ(some.frames.front().from, NodeId{2});
  EXPECT_FALSE(some.more);
}

TEST(Inbound, AFrameInAnothersNameIsDropped) {  // L-68
  Inbound inbound;
  EXPECT_EQ(inbound.push(NodeId{1}, frames_of(NodeId{2}, 1, 1)), 1U);
  EXPECT_TRUE(inbound.take(9).frames.empty());
}

}  // namespace
}  // namespace cadastre::log
