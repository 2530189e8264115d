#include "log/trailing.h"

#include <chrono>
#include <vector>

#include <gtest/gtest.h>

namespace cadastre::log {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr minutes kPatience{10};

std::vector<PeerProgress> peers(bool second_active) {
  return {{NodeId{1}, Index{100}, PeerState::kReplicate, true},
          {NodeId{2}, Index{40}, PeerState::kReplicate, second_active}};
}

TEST(Trailing, ThePositionOfWhoeverWasHeardLatelyCounts) {  // L-78
  Trailing trailing;
  trailing.lead(seconds(0));
  EXPECT_EQ(trailing.lowest_match(peers(true), Index{100}, kPatience, seconds(10)), Index{40});
  EXPECT_EQ(trailing.lowest_match(peers(false), Index{100}, kPatience, seconds(610)), Index{40});
  EXPECT_EQ(trailing.lowest_match(peers(false), Index{100}, kPatience, seconds(611)), Index{100});
  EXPECT_EQ(trailing.lowest_match(peers(true), Index{100}, kPatience, seconds(620)), Index{40});
}

TEST(Trailing, ANewLeaderGivesEverybodyTime) {
  Trailing trailing;
  trailing.lead(seconds(5'000));
  EXPECT_EQ(trailing.lowest_match(peers(false), Index{100}, kPatience, seconds(5'600)), Index{40});
  EXPECT_EQ(trailing.lowest_match(peers(false), Index{100}, kPatience, seconds(5'601)), Index{100});
}

}  // namespace
}  // namespace cadastre::log
