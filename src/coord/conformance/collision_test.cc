// B13: the name of a new shard is taken already. No request brings this about on purpose (63 bits of a
// hash), so the record in the way is planted.

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "coord/backend.h"
#include "coord/canonical.h"
#include "coord/conformance/suite_testing.h"
#include "coord/conformance/words_testing.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/states.h"
#include "shard/bytes_testing.h"
#include "shard/split_coverage.h"

namespace cadastre::coord::conformance {
namespace {

using Code = shard::SplitError::Code;

ShardId name_of_new(OpId op, DerivedShardKind kind, std::uint32_t index) {
  return derive_split_shard_id(
      {.run = kRun, .parent = kShard, .op = op, .kind = kind, .index = index});
}

// A shard of the run with this name, somewhere else.
void put_in_the_way(PlantedConformance& suite, ShardId id) {
  ShardDump shard;
  shard.state.tenant = suite.tenant();
  shard.state.run = kRun;
  shard.state.shard = id;
  shard.state.parent = 11_id;
  shard.start = base::to_owned("z1"_b);
  shard.end = base::to_owned("z2"_b);
  suite.plant(shard);
}

SplitInvalid collides_with(ShardId id) {
  return {{.code = Code::kDerivedIdCollision, .values = {id.raw()}}};
}

TEST_P(PlantedConformance, B13AReplaceWhoseChildsNameIsTakenDoesNothing) {
  for (const std::uint32_t index : {0U, 1U, 2U}) {
    open();
    const Lease lease = take(10_t, 1_w);
    const ShardId taken = name_of_new(1_op, DerivedShardKind::kChild, index);
    put_in_the_way(*this, taken);
    const std::vector children{child("a"_b, "g"_b), child("g"_b, "m"_b), child("m"_b, "z"_b)};
    EXPECT_EQ(refusal(split_replace(11_t, lease, children, 1_op)), collides_with(taken));
    introspection().verify();
    EXPECT_TRUE(executed(split_replace(11_t, lease, children, 2_op)));
  }
}

TEST_P(PlantedConformance, B13AResidualWhoseNameIsTakenDoesNothing) {
  const Lease lease = take(10_t, 1_w);
  const ShardId taken = name_of_new(1_op, DerivedShardKind::kResidual, 0);
  put_in_the_way(*this, taken);
  EXPECT_EQ(refusal(split_residual(11_t, lease, cut("a"_b, "m"_b, "z"_b), 1_op)),
            collides_with(taken));
  introspection().verify();
  EXPECT_TRUE(executed(split_residual(11_t, lease, cut("a"_b, "m"_b, "z"_b), 2_op)));
}

// The same name in another run or of another tenant is nobody's way.
TEST_P(PlantedConformance, B13NamesAreTakenWithinARunOnly) {
  ASSERT_TRUE(create_run(3_t, 2_run, config()));
  const Lease lease = take(10_t, 1_w);
  ShardDump shard;
  shard.state.tenant = tenant();
  shard.state.run = 2_run;
  shard.state.shard = name_of_new(1_op, DerivedShardKind::kResidual, 0);
  shard.state.parent = 11_id;
  plant(shard);
  EXPECT_TRUE(executed(split_residual(11_t, lease, cut("a"_b, "m"_b, "z"_b), 1_op)));
}

}  // namespace
}  // namespace cadastre::coord::conformance
