#include "log/intake.h"

#include <vector>

#include <gtest/gtest.h>

namespace cadastre::log {
namespace {

class CountingRunner final : public Runner {
 public:
  void wake_log() override { ++woken; }
  void wake_writer() override {}
  void wake_reader() override {}
  void wake_applier(GroupId) override {}
  void fail_stop(std::string_view) override {}

  int woken = 0;
};

class IntakeTest : public ::testing::Test {
 protected:
  void add(std::uint64_t commands) {
    intake.add(commands);
    intake.wake_if_due();
  }

  CountingRunner runner;
  Intake intake{runner};
};

TEST_F(IntakeTest, WakesForTheFirstCommandAndNotForEveryOne) {
  add(1);
  EXPECT_EQ(runner.woken, 1);
  add(1);
  add(5);
  EXPECT_EQ(runner.woken, 1);
  EXPECT_EQ(intake.queued(), 7U);
}

TEST_F(IntakeTest, WakesOnceWhenTheArmedNumberWaits) {
  EXPECT_FALSE(intake.arm(3));
  add(2);
  EXPECT_EQ(runner.woken, 0);
  add(1);
  EXPECT_EQ(runner.woken, 1);
  add(1);
  EXPECT_EQ(runner.woken, 1);
  intake.taken(4);
  EXPECT_FALSE(intake.arm(1));
  add(1);
  EXPECT_EQ(runner.woken, 2);
}

TEST_F(IntakeTest, ArmSaysSoIfEnoughWaitsAlready) {
  add(4);
  EXPECT_TRUE(intake.arm(4));
  EXPECT_FALSE(intake.arm(5));
}

TEST_F(IntakeTest, NeverMeansNever) {
  EXPECT_FALSE(intake.arm(Intake::kNever));
  add(1'000'000);
  EXPECT_EQ(runner.woken, 0);
}

TEST_F(IntakeTest, GroupsAreTakenOnceInOrder) {
  intake.announce(GroupId{3});
  intake.announce(GroupId{1});
  EXPECT_EQ(intake.take_groups(), (std::vector<GroupId>{GroupId{3}, GroupId{1}}));
  EXPECT_TRUE(intake.take_groups().empty());
}

}  // namespace
}  // namespace cadastre::log
