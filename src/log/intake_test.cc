#include "log/intake.h"

#include <vector>

#include <gtest/gtest.h>

namespace cadastre::log {
namespace {

class CountingRunner final : public Runner {
 public:
  void wake_log() override { ++woken; }
  void wake_writer() override {}
  void wake_applier(GroupId) override {}
  void fail_stop(std::string_view) override {}

  int woken = 0;
};

class IntakeTest : public ::testing::Test {
 protected:
  CountingRunner runner;
  Intake intake{runner};
};

TEST_F(IntakeTest, WakesForTheFirstCommandAndNotForEveryOne) {
  intake.added(1);
  EXPECT_EQ(runner.woken, 1);
  intake.added(1);
  intake.added(5);
  EXPECT_EQ(runner.woken, 1);
  EXPECT_EQ(intake.queued(), 7U);
}

TEST_F(IntakeTest, WakesOnceWhenTheArmedNumberWaits) {
  EXPECT_FALSE(intake.arm(3));
  intake.added(2);
  EXPECT_EQ(runner.woken, 0);
  intake.added(1);
  EXPECT_EQ(runner.woken, 1);
  intake.added(1);
  EXPECT_EQ(runner.woken, 1);
  intake.taken(4);
  EXPECT_FALSE(intake.arm(1));
  intake.added(1);
  EXPECT_EQ(runner.woken, 2);
}

TEST_F(IntakeTest, ArmSaysSoIfEnoughWaitsAlready) {
  intake.added(4);
  EXPECT_TRUE(intake.arm(4));
  EXPECT_FALSE(intake.arm(5));
}

TEST_F(IntakeTest, NeverMeansNever) {
  EXPECT_FALSE(intake.arm(Intake::kNever));
  intake.added(1'000'000);
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
