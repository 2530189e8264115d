// Invariant 9 of a shard's record, which a table answers, against comparing every pair.

#include "coord/shard_record.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "coord/held_shard_testing.h"
#include "coord/identity_testing.h"
#include "coord/limits.h"
#include "shard/key_space_testing.h"

namespace cadastre::coord {
namespace {

// Few ids, shifted: they fall together in the table, and apart, and are equal often enough.
TEST(ShardInvariantsProperty, EqualOpIdsAreFoundAsByComparingPairs) {
  shard::SampleStream stream(1);
  for (int i = 0; i < 5000; ++i) {
    testing::HeldShard shard;
    const std::uint64_t ids = 1 + stream.below(200);
    std::vector<std::uint64_t> logged;
    bool has_pair = false;
    for (std::size_t left = stream.below(kOpLogCapacity + 1); left > 0; --left) {
      const std::uint64_t id = stream.below(ids) << stream.below(60);
      has_pair |= std::ranges::find(logged, id) != logged.end();
      logged.push_back(id);
      shard.record.state.op_log.push_back_overwrite(
          {.op_id = testing::op(id), .payload_hash = 1, .executed_at = testing::at(5)});
    }
    EXPECT_EQ(check_invariants(shard.view()).has_value(), !has_pair);
  }
}

}  // namespace
}  // namespace cadastre::coord
