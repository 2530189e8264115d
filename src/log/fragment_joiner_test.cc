// Long messages in pieces: whole or not at all (L-64).

#include "log/fragment_joiner.h"

#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace cadastre::log {
namespace {

// A message of three pieces, the last of them short.
const std::string kLong(2 * kFrameBodyBytesMax + 5, 'm');

FrameView whole(GroupId group = GroupId{5}) {
  return {.group = group, .from = NodeId{1}, .to = NodeId{2}, .body = base::as_bytes(kLong)};
}

// What comes out of these pieces, in order.
std::vector<base::Bytes> joined(FragmentJoiner& joiner, const std::vector<FrameView>& pieces) {
  std::vector<base::Bytes> messages;
  for (const FrameView& piece : pieces) {
    if (auto message = joiner.add(piece)) messages.push_back(std::move(*message));
  }
  return messages;
}

TEST(FragmentJoiner, GivesTheMessageWithItsLastPiece) {
  FragmentJoiner joiner;
  EXPECT_FALSE(joiner.add(frame_of(whole(), 0)));
  EXPECT_FALSE(joiner.add(frame_of(whole(), 1)));
  const auto message = joiner.add(frame_of(whole(), 2));
  ASSERT_TRUE(message);
  EXPECT_TRUE(base::equal(*message, base::as_bytes(kLong)));
  EXPECT_EQ(joiner.held_bytes(), 0U);
  EXPECT_EQ(joiner.dropped(), 0U);
}

TEST(FragmentJoiner, AGapDropsTheWholeMessageAndTheNextOneIsWhole) {
  for (std::uint32_t lost = 0; lost < 3; ++lost) {
    FragmentJoiner joiner;
    std::vector<FrameView> pieces;
    for (std::uint32_t i = 0; i < 3; ++i) {
      if (i != lost) pieces.push_back(frame_of(whole(), i));
    }
    for (std::uint32_t i = 0; i < 3; ++i)
      pieces.push_back(frame_of(whole(GroupId{6}), i));
    const auto messages = joined(joiner, pieces);
    ASSERT_EQ(messages.size(), 1U) << lost;
    EXPECT_TRUE(base::equal(messages[0], base::as_bytes(kLong)));
  }
}

TEST(FragmentJoiner, PiecesOfTwoGroupsAreNotMixed) {
  FragmentJoiner joiner;
  EXPECT_TRUE(joined(joiner, {frame_of(whole(GroupId{5}), 0), frame_of(whole(GroupId{6}), 1),
                              frame_of(whole(GroupId{6}), 2)})
                  .empty());
  EXPECT_EQ(joiner.dropped(), 1U);
  EXPECT_EQ(joiner.held_bytes(), 0U);
}

TEST(FragmentJoiner, AnotherFrameInBetweenDropsTheMessage) {
  FragmentJoiner joiner;
  EXPECT_FALSE(joiner.add(frame_of(whole(), 0)));
  joiner.interrupt();
  EXPECT_EQ(joiner.held_bytes(), 0U);
  EXPECT_TRUE(joined(joiner, {frame_of(whole(), 1), frame_of(whole(), 2)}).empty());
  EXPECT_EQ(joiner.dropped(), 1U);
}

TEST(FragmentJoiner, HoldsNoMoreThanTheLongestMessage) {  // L-8
  FragmentJoiner joiner;
  const std::string full(kFrameBodyBytesMax, 'x');
  FrameView piece{.kind = FrameKind::kFragment, .group = GroupId{5}, .body = base::as_bytes(full)};
  for (std::uint16_t i = 0; i < kFragmentsMax; ++i) {
    piece.fragment = {i, kFragmentsMax};
    EXPECT_FALSE(joiner.add(piece)) << i;  // All full: more than any message has.
    EXPECT_LE(joiner.held_bytes(), kPeerMessageBytesMax);
  }
  EXPECT_EQ(joiner.dropped(), 1U);
  EXPECT_EQ(joiner.held_bytes(), 0U);
}

}  // namespace
}  // namespace cadastre::log
