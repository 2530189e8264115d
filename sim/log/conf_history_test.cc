#include "sim/log/conf_history.h"

#include <vector>

#include <gtest/gtest.h>

namespace cadastre::sim {
namespace {

using log::ConfState;
using log::Index;

std::vector<log::NodeId> nodes(const std::vector<std::uint64_t>& ids) {
  std::vector<log::NodeId> made;
  for (const std::uint64_t id : ids)
    made.emplace_back(id);
  return made;
}
ConfState voters(const std::vector<std::uint64_t>& ids) {
  return {.voters = nodes(ids)};
}
ConfState joint(const std::vector<std::uint64_t>& to, const std::vector<std::uint64_t>& from) {
  return {.voters = nodes(to), .voters_outgoing = nodes(from)};
}
auto among(const std::vector<std::uint64_t>& ids) {
  return [made = nodes(ids)](log::NodeId id) {
    return std::ranges::find(made, id) != made.end();
  };
}

TEST(ConfHistory, AMajorityOfBothListsIsAQuorum) {
  EXPECT_TRUE(has_quorum(voters({1, 2, 3}), among({1, 3})));
  EXPECT_FALSE(has_quorum(voters({1, 2, 3}), among({1, 4, 5})));
  EXPECT_FALSE(has_quorum(voters({1, 2}), among({1})));
  EXPECT_FALSE(has_quorum(joint({1, 4, 5}, {1, 2, 3}), among({1, 4, 5})));
  EXPECT_TRUE(has_quorum(joint({1, 4, 5}, {1, 2, 3}), among({1, 2, 4})));
}

TEST(ConfHistory, OneStepKeepsQuorumsTogetherAndTwoDoNot) {
  EXPECT_TRUE(quorums_intersect(voters({1, 2, 3}), voters({1, 2, 3, 4})));
  EXPECT_FALSE(quorums_intersect(voters({1, 2, 3}), voters({1, 2, 3, 4, 5})));
  EXPECT_FALSE(quorums_intersect(voters({1, 2, 3}), voters({3, 4, 5})));
  EXPECT_TRUE(quorums_intersect(voters({1, 2, 3}), joint({3, 4, 5}, {1, 2, 3})));
  EXPECT_TRUE(quorums_intersect(joint({3, 4, 5}, {1, 2, 3}), voters({3, 4, 5})));
}

TEST(ConfHistory, NeighboursAreHeldAgainstEachOtherInWhateverOrderTheyCome) {
  ConfHistory history;
  EXPECT_FALSE(history.add(Index{1}, voters({1, 2, 3})));
  EXPECT_FALSE(history.add(Index{5}, voters({1, 2, 3, 4})));
  EXPECT_FALSE(history.add(Index{5}, voters({1, 2, 3, 4})));
  EXPECT_TRUE(history.add(Index{5}, voters({1, 2, 3})));
  EXPECT_TRUE(history.add(Index{9}, voters({3, 4, 5})));
  EXPECT_TRUE(history.add(Index{7}, voters({6})));
}

TEST(ConfHistory, TheConfigurationOfASnapshotIsTheOneInForceThere) {
  ConfHistory history;
  EXPECT_FALSE(history.in_force(Index{1}, voters({1, 2, 3})));
  EXPECT_FALSE(history.add(Index{1}, voters({1, 2, 3})));
  EXPECT_FALSE(history.add(Index{5}, voters({1, 2, 3, 4})));
  EXPECT_TRUE(history.in_force(Index{4}, voters({1, 2, 3})));
  EXPECT_TRUE(history.in_force(Index{5}, voters({1, 2, 3, 4})));
  EXPECT_TRUE(history.in_force(Index{8}, voters({1, 2, 3, 4})));
  EXPECT_FALSE(history.in_force(Index{4}, voters({1, 2, 3, 4})));
  EXPECT_FALSE(history.add(Index{8}, voters({1, 2, 3, 4})));
  EXPECT_EQ(history.all().size(), 2U);
  EXPECT_TRUE(history.may_be_committed(Index{9}, among({1, 2})));  // By the one before.
}

TEST(ConfHistory, AnEntryIsCountedByTheNewestConfigurationBelowItOrTheOneBefore) {
  ConfHistory history;
  EXPECT_FALSE(history.add(Index{1}, voters({1, 2, 3})));
  EXPECT_FALSE(history.add(Index{5}, voters({1, 2, 3, 4})));
  EXPECT_FALSE(history.add(Index{9}, voters({1, 2, 3, 4, 5})));
  EXPECT_TRUE(history.may_be_committed(Index{5}, among({1, 2})));
  EXPECT_TRUE(history.may_be_committed(Index{9}, among({1, 2})));
  EXPECT_FALSE(history.may_be_committed(Index{10}, among({1, 2})));
  EXPECT_TRUE(history.may_be_committed(Index{10}, among({1, 2, 4})));
  EXPECT_FALSE(history.may_be_committed(Index{1}, among({1, 2, 3})));
}

}  // namespace
}  // namespace cadastre::sim
