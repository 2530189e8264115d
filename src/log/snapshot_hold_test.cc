#include "log/snapshot_hold.h"

#include <string_view>

#include <gtest/gtest.h>

namespace cadastre::log {
namespace {

SnapshotHold::Message message(std::uint64_t id, std::uint64_t index, std::string_view bytes = "") {
  return {{GroupId{7}, NodeId{1}, NodeId{2}, Body::copy_of(base::as_bytes(bytes))},
          {.group = GroupId{7},
           .at = {Term{1}, Index{index}},
           .node = NodeId{1},
           .id = CheckpointId{id}}};
}

TEST(SnapshotHold, StagesTheFirst) {  // L-74
  SnapshotHold hold;
  EXPECT_EQ(hold.current(), nullptr);
  EXPECT_TRUE(hold.arrived(message(1, 10)));
  ASSERT_NE(hold.current(), nullptr);
  EXPECT_EQ(hold.current()->message.manifest.at.index, Index{10});
  EXPECT_FALSE(hold.finish());
  EXPECT_EQ(hold.current(), nullptr);
}

TEST(SnapshotHold, TheSameAgainIsNotStagedAgainButSteppedInItsNewTerm) {  // L-74
  SnapshotHold hold;
  EXPECT_TRUE(hold.arrived(message(1, 10, "of term 1")));
  EXPECT_FALSE(hold.arrived(message(1, 10, "of term 2")));
  EXPECT_EQ(base::as_text(hold.current()->message.frame.body.bytes()), "of term 2");
  EXPECT_FALSE(hold.finish());
}

TEST(SnapshotHold, AMessageWithTheFilesOfAnotherPositionIsDropped) {
  SnapshotHold hold;
  EXPECT_TRUE(hold.arrived(message(1, 10, "at 10")));
  EXPECT_FALSE(hold.arrived(message(1, 11, "at 11")));
  EXPECT_EQ(base::as_text(hold.current()->message.frame.body.bytes()), "at 10");
  EXPECT_FALSE(hold.finish());
}

TEST(SnapshotHold, WhatWasSteppedStaysAsItIs) {
  SnapshotHold hold;
  EXPECT_TRUE(hold.arrived(message(1, 10, "of term 1")));
  hold.current()->stepped = true;
  EXPECT_FALSE(hold.arrived(message(1, 10, "of term 2")));
  EXPECT_EQ(base::as_text(hold.current()->message.frame.body.bytes()), "of term 1");
}

TEST(SnapshotHold, AnotherOneWaitsForTheEndOfTheFirst) {  // L-74
  SnapshotHold hold;
  EXPECT_TRUE(hold.arrived(message(1, 10)));
  EXPECT_FALSE(hold.arrived(message(2, 20)));
  EXPECT_FALSE(hold.arrived(message(3, 15)));  // Older than the one that waits.
  EXPECT_EQ(hold.current()->message.manifest.at.index, Index{10});
  EXPECT_TRUE(hold.finish());
  EXPECT_EQ(hold.current()->message.manifest.at.index, Index{20});
  EXPECT_FALSE(hold.current()->staged.has_value());
  EXPECT_FALSE(hold.finish());
}

}  // namespace
}  // namespace cadastre::log
