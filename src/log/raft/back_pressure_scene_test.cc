// Scenes of followers whose applier does not keep up (1.3).

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "log/limits.h"
#include "log/raft/raft_cluster_testing.h"

namespace cadastre::log {
namespace {

using std::chrono::seconds;

// Proposes commands of that size, one after the other; each is applied by a majority.
void propose_many(RaftCluster& cluster, std::size_t count, std::size_t bytes) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto done = cluster.at(1).propose(std::string(bytes, 'x'));
    cluster.settle();
    ASSERT_TRUE(done->applied());
  }
}

struct StandingApplier {
  std::size_t commands;
  std::size_t bytes;
};
class AFollowerWhoseApplierStands : public ::testing::TestWithParam<StandingApplier> {};

TEST_P(AFollowerWhoseApplierStands, TakesWhatItsQueueHoldsAndTheRestLater) {  // L-8, L-9
  const auto [commands, bytes] = GetParam();
  RaftCluster cluster(3);
  cluster.establish(1);
  RaftMember& follower = cluster.at(2);
  follower.applier_stands = true;
  const std::uint64_t before = follower.status().last.value();
  propose_many(cluster, commands, bytes);
  EXPECT_GT(follower.host().metrics().appends_refused.load(), 0U);
  EXPECT_LT(follower.status().last.value() - before, commands);
  follower.applier_stands = false;
  cluster.pass_time(seconds(2));
  EXPECT_EQ(follower.executed(), cluster.at(1).executed());
}

INSTANTIATE_TEST_SUITE_P(Bound,
                         AFollowerWhoseApplierStands,
                         ::testing::Values(StandingApplier{kApplyQueueEntriesMax + 200, 1},
                                           StandingApplier{kApplyQueueBytesMax / kMiB + 4, kMiB}),
                         [](const auto& bound) {
                           return bound.param.bytes == 1 ? "Entries" : "Bytes";
                         });

}  // namespace
}  // namespace cadastre::log
