#include "log/cache_share.h"

#include <cstdint>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "log/limits.h"

namespace cadastre::log {
namespace {

TEST(CacheShare, IsTheGroupsBoundOrAnEqualPartOfTheNodes) {  // L-38
  struct Case {
    const char* what;
    std::vector<std::uint64_t> held;
    std::uint64_t expected;
  };
  const std::vector<Case> cases = {
      {"nobody", {}, 10},
      {"one with little", {3}, 10},
      {"one with much", {300}, 10},
      {"some with much, and the node has room", {300, 300}, 10},
      {"the node's bound, exactly", {10, 10, 10}, 10},
      {"more than the node has: the same for each", {10, 10, 10, 10, 10, 10}, 5},
      {"who has little leaves the rest to others", {10, 1, 10, 1, 10, 10}, 7},
      {"many with little each", {1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, 10},
      {"so many that nothing is left", std::vector<std::uint64_t>(31, 1), 0},
  };
  for (const Case& each : cases)
    EXPECT_EQ(cache_share(each.held, {.group_bytes = 10, .node_bytes = 30}), each.expected)
        << each.what;
}

TEST(CacheShare, NeverGivesOutMoreThanTheNodeHas) {
  for (std::uint64_t groups = 1; groups <= 4'096; groups = groups * 3 + 1) {
    std::vector<std::uint64_t> held;
    for (std::uint64_t i = 0; i < groups; ++i)
      held.push_back((i * 7919) % (2 * kCacheBytesMax));
    const std::uint64_t share = cache_share(held, {kCacheBytesMax, kNodeCacheBytesMax});
    std::uint64_t kept = 0;
    for (const std::uint64_t bytes : held)
      kept += std::min(bytes, share);
    EXPECT_LE(share, kCacheBytesMax);
    EXPECT_LE(kept, kNodeCacheBytesMax) << groups;
  }
}

}  // namespace
}  // namespace cadastre::log
