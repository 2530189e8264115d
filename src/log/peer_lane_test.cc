// What waits for a peer: bounds, who is dropped, what goes out together (1.3, L-65, L-66, O-16).

#include "log/peer_lane.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "log/fragment_joiner.h"

namespace cadastre::log {
namespace {

LaneMessage message(std::uint64_t group, std::string_view text) {
  return {.group = GroupId{group},
          .from = NodeId{1},
          .to = NodeId{2},
          .body = Body::copy_of(base::as_bytes(text))};
}
LaneMessage message_of(std::uint64_t group, std::size_t bytes) {
  return message(group, std::string(bytes, 'x'));
}

// What goes out, a text for each frame.
std::vector<std::string> texts(const std::vector<LaneFrame>& frames) {
  std::vector<std::string> out;
  for (const LaneFrame& frame : frames)
    out.emplace_back(base::as_text(frame.view().body));
  return out;
}
using Texts = std::vector<std::string>;

std::size_t bytes_of(const std::vector<LaneFrame>& frames) {
  std::size_t bytes = 0;
  for (const LaneFrame& frame : frames)
    bytes += frame.bytes();
  return bytes;
}

TEST(PeerLane, WhatGatheredGoesOutTogether) {  // L-65
  PeerLane lane(Lane::kControl);
  EXPECT_TRUE(lane.take().empty());
  for (const char* text : {"a", "b", "c"})
    EXPECT_EQ(lane.add(message(1, text)), 0U);
  EXPECT_EQ(texts(lane.take()), (Texts{"a", "b", "c"}));
  EXPECT_TRUE(lane.empty());
  EXPECT_EQ(lane.bytes(), 0U);
}

TEST(PeerLane, ABatchIsBoundedAndHasAtLeastOneFrame) {  // L-65
  PeerLane lane(Lane::kBulk);
  EXPECT_EQ(lane.add(message_of(1, kFrameBodyBytesMax)), 0U);  // With its head above the bound.
  EXPECT_EQ(lane.add(message_of(1, kStreamBatchBytes / 2)), 0U);
  EXPECT_EQ(lane.add(message_of(1, kStreamBatchBytes / 2 - 2 * kFrameHeadBytes)), 0U);
  EXPECT_EQ(lane.add(message_of(1, 0)), 0U);
  EXPECT_EQ(lane.take().size(), 1U);
  const auto second = lane.take();
  EXPECT_EQ(second.size(), 2U);
  EXPECT_EQ(bytes_of(second), kStreamBatchBytes);
  EXPECT_EQ(lane.take().size(), 1U);
  EXPECT_TRUE(lane.take().empty());
}

TEST(PeerLane, AFullBulkLaneDropsTheNewest) {  // 1.3
  PeerLane lane(Lane::kBulk);
  std::size_t kept = 0;
  while (lane.add(message_of(1, kFrameBodyBytesMax)) == 0)
    ++kept;
  EXPECT_EQ(kept, kBulkLaneBytesMax / frame_bytes(kFrameBodyBytesMax));
  EXPECT_LE(lane.bytes(), kBulkLaneBytesMax);
  EXPECT_EQ(lane.add(message_of(2, kFrameBodyBytesMax)), 1U);
  EXPECT_EQ(lane.count(), kept);
  EXPECT_EQ(lane.take().size(), 1U);
  EXPECT_EQ(lane.add(message_of(2, kFrameBodyBytesMax)), 0U);
}

TEST(PeerLane, AFullControlLaneDropsTheOldest) {  // 1.3
  PeerLane lane(Lane::kControl);
  const std::size_t third = kControlLaneBytesMax / 3 - kFrameHeadBytes;
  for (const char first : {'a', 'b', 'c'})
    EXPECT_EQ(lane.add(message(1, std::string(third, first))), 0U);
  EXPECT_EQ(lane.add(message(2, std::string(third, 'd'))), 1U);
  EXPECT_LE(lane.bytes(), kControlLaneBytesMax);
  std::string firsts;
  while (!lane.empty()) {
    for (const std::string& text : texts(lane.take()))
      firsts += text.front();
  }
  EXPECT_EQ(firsts, "bcd");
}

TEST(PeerLane, ABoundAdmitsOneMessageHoweverLong) {  // L-10
  for (const Lane kind : {Lane::kControl, Lane::kBulk}) {
    PeerLane lane(kind);
    EXPECT_EQ(lane.add(message_of(1, kPeerMessageBytesMax)), 0U);
    EXPECT_EQ(lane.count(), 1U);
  }
  PeerLane lane(Lane::kBulk);
  EXPECT_EQ(lane.add(message_of(1, kPeerMessageBytesMax + 1)), 1U);
  EXPECT_TRUE(lane.empty());
}

TEST(PeerLane, GroupsTakeTurnsOnTheBulkLaneAndKeepTheirOrder) {  // O-16
  PeerLane lane(Lane::kBulk);
  for (const char* text : {"a1", "a2", "a3"})
    EXPECT_EQ(lane.add(message(1, text)), 0U);
  EXPECT_EQ(lane.add(message(2, "b1")), 0U);
  EXPECT_EQ(lane.add(message(2, "b2")), 0U);
  EXPECT_EQ(lane.add(message(3, "c1")), 0U);
  EXPECT_EQ(texts(lane.take()), (Texts{"a1", "b1", "c1", "a2", "b2", "a3"}));
}

TEST(PeerLane, AMessageInFragmentsIsFinishedBeforeAnotherBegins) {  // L-64
  PeerLane lane(Lane::kBulk);
  EXPECT_EQ(lane.add(message_of(1, 2 * kFrameBodyBytesMax + 1)), 0U);
  EXPECT_EQ(lane.add(message(2, "b")), 0U);
  FragmentJoiner joiner;
  std::vector<std::size_t> whole;
  while (!lane.empty()) {
    for (const LaneFrame& frame : lane.take()) {
      const FrameView view = frame.view();
      if (view.kind != FrameKind::kFragment) {
        joiner.interrupt();
        whole.push_back(view.body.size());
      } else if (const auto joined = joiner.add(view)) {
        whole.push_back(joined->size());
      }
    }
  }
  EXPECT_EQ(whole, (std::vector<std::size_t>{2 * kFrameBodyBytesMax + 1, 1}));
  EXPECT_EQ(joiner.dropped(), 0U);
}

TEST(PeerLane, OnAFullControlLaneAMessageThatIsHalfOutStays) {
  PeerLane lane(Lane::kControl);
  EXPECT_EQ(lane.add(message_of(1, kFrameBodyBytesMax + 1)), 0U);
  EXPECT_EQ(lane.take().size(), 1U);
  EXPECT_EQ(lane.add(message(2, "b")), 1U);
  const auto rest = lane.take();
  ASSERT_EQ(rest.size(), 1U);
  EXPECT_EQ(rest[0].view().fragment, (FragmentPlace{1, 2}));
}

TEST(PeerLane, ALostStreamTakesWhatWaits) {  // L-67
  PeerLane lane(Lane::kBulk);
  EXPECT_EQ(lane.add(message_of(1, kFrameBodyBytesMax + 1)), 0U);
  EXPECT_EQ(lane.add(message(2, "b")), 0U);
  EXPECT_EQ(lane.take().size(), 1U);
  EXPECT_EQ(lane.clear(), 2U);
  EXPECT_TRUE(lane.empty());
  EXPECT_EQ(lane.bytes(), 0U);
  EXPECT_EQ(lane.add(message(3, "c")), 0U);
  EXPECT_EQ(texts(lane.take()), Texts{"c"});
}

// Whatever is put in comes out once, in the order of its group, unless its drop was counted.
RC_GTEST_PROP(PeerLaneProperty, NothingIsLostUncountedAndGroupsKeepTheirOrder, ()) {
  const Lane kind = *rc::gen::element(Lane::kControl, Lane::kBulk);
  PeerLane lane(kind);
  std::size_t added = 0;
  std::size_t dropped = 0;
  std::size_t out = 0;
  std::map<GroupId, std::uint64_t> newest;
  const auto drain_one = [&] {
    const auto batch = lane.take();
    RC_ASSERT(batch.size() <= 1 || bytes_of(batch) <= kStreamBatchBytes);
    for (const LaneFrame& frame : batch) {
      const std::uint64_t number = std::stoull(std::string(base::as_text(frame.view().body)));
      RC_ASSERT(number > newest[frame.message.group]);
      newest[frame.message.group] = number;
      ++out;
    }
  };
  const auto steps =
      *rc::gen::container<std::vector<std::uint8_t>>(rc::gen::inRange<std::uint8_t>(0, 12));
  for (const std::uint8_t step : steps) {
    if (step >= 10) {
      drain_one();
      continue;
    }
    ++added;
    const std::size_t wide = step < 8 ? 8 : kControlLaneBytesMax / 4;
    const std::string number = std::to_string(added);
    dropped += lane.add(
        message(step % 3, std::string(wide - std::min(wide, number.size()), '0') + number));
  }
  while (!lane.empty())
    drain_one();
  RC_ASSERT(added == out + dropped);
}

}  // namespace
}  // namespace cadastre::log
