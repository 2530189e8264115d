#include "log/disk_space.h"

#include <vector>

#include <gtest/gtest.h>

namespace cadastre::log {
namespace {

struct Case {
  const char* what;
  DiskSpace disk;
  Space before;
  Space now;
};

TEST(JudgeSpace, StepsBackBeforeTheDiskIsFull) {  // L-50
  const std::vector<Case> cases = {
      {"a large disk with much room", {100 * kGiB, 500 * kGiB}, Space::kPlenty, Space::kPlenty},
      {"less than five percent", {24 * kGiB, 500 * kGiB}, Space::kPlenty, Space::kLow},
      {"five percent", {25 * kGiB, 500 * kGiB}, Space::kPlenty, Space::kPlenty},
      {"less than 2 GiB of a small disk", {2 * kGiB - 1, 20 * kGiB}, Space::kPlenty, Space::kLow},
      {"2 GiB of a small disk", {2 * kGiB, 20 * kGiB}, Space::kPlenty, Space::kPlenty},
      {"less than 1 GiB", {kGiB - 1, 20 * kGiB}, Space::kPlenty, Space::kCritical},
      {"just above where it was low", {2 * kGiB + 1, 20 * kGiB}, Space::kLow, Space::kLow},
      {"well above it", {2 * kGiB + kGiB / 4, 20 * kGiB}, Space::kLow, Space::kPlenty},
      {"just above where it was critical",
       {kGiB + 1, 20 * kGiB},
       Space::kCritical,
       Space::kCritical},
      {"above that, but still low", {kGiB + kGiB / 8, 20 * kGiB}, Space::kCritical, Space::kLow},
      {"a third of a tiny disk", {21 * kMiB, 64 * kMiB}, Space::kPlenty, Space::kPlenty},
      {"less than a quarter of a tiny disk", {15 * kMiB, 64 * kMiB}, Space::kPlenty, Space::kLow},
      {"nothing left of a tiny disk", {0, 64 * kMiB}, Space::kPlenty, Space::kCritical},
  };
  for (const Case& each : cases)
    EXPECT_EQ(judge_space({}, each.disk, each.before), each.now) << each.what;
}

TEST(JudgeSpace, NothingIsLowWhereNothingIsDemanded) {
  const SpaceSettings none{.low_bytes = 0, .low_percent = 0, .critical_bytes = 0};
  EXPECT_EQ(judge_space(none, {0, 0}, Space::kPlenty), Space::kPlenty);
}

}  // namespace
}  // namespace cadastre::log
