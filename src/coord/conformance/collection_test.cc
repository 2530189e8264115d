// D-24: runs that are over are forgotten, with their shards.

#include <cstddef>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "coord/backend.h"
#include "coord/conformance/suite_testing.h"
#include "coord/conformance/words_testing.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/run_record.h"
#include "shard/bytes_testing.h"

namespace cadastre::coord::conformance {
namespace {

std::vector<InitialShardInput> two_roots() {
  return {{10_id, spec("a"_b, "m"_b)}, {11_id, spec("m"_b, "z"_b)}};
}

void make_run(Conformance& suite, RunId id) {
  ASSERT_TRUE(suite.create_run(3_t, id, suite.config()));
  ASSERT_TRUE(executed(suite.register_shards(4_t, id, two_roots(), 1_op)));
}

std::size_t collect(Conformance& suite, LogicalTime completed_before) {
  return suite.facade().gc_terminal_runs(suite.tenant(), completed_before).value();
}

std::vector<RunId> runs_of(Conformance& suite) {
  return suite.facade().list_runs(suite.tenant(), std::nullopt, 100).value();
}

TEST_P(Conformance, D24RunsThatEndedBeforeAreForgotten) {
  make_run(*this, 2_run);
  make_run(*this, 3_run);
  make_run(*this, 4_run);
  ASSERT_TRUE(create_run(3_t, 5_run, config()));
  EXPECT_TRUE(executed(complete_run(10_t, 2_op, 2_run)));
  EXPECT_TRUE(executed(fail_run(11_t, 2_op, 3_run)));
  EXPECT_TRUE(executed(cancel_run(12_t, 2_op, 4_run)));
  EXPECT_TRUE(executed(cancel_run(12_t, 2_op, 5_run)));
  EXPECT_EQ(collect(*this, 10_t), 0U);  // not before 10
  EXPECT_EQ(collect(*this, 12_t), 2U);
  EXPECT_EQ(runs_of(*this), (std::vector{1_run, 4_run, 5_run}));
  introspection().verify();
  EXPECT_EQ(collect(*this, 13_t), 2U);
  EXPECT_EQ(runs_of(*this), std::vector{1_run});
  EXPECT_EQ(introspection().dump_shards().size(), 1U);
  EXPECT_EQ(collect(*this, 1000_t), 0U);  // run 1 is Active
}

TEST_P(Conformance, D24WhatIsForgottenIsUnknown) {
  const Lease lease = take(10_t, 1_w);
  EXPECT_TRUE(executed(split_residual(11_t, lease, cut("a"_b, "m"_b, "z"_b), 1_op)));
  EXPECT_TRUE(executed(cancel_run(12_t, 1_op)));
  EXPECT_EQ(collect(*this, 13_t), 1U);
  EXPECT_EQ(refusal(checkpoint(14_t, lease, "d"_b, 2_op)), ShardNotFound{kKey});
  EXPECT_EQ(refusal(acquire(14_t, 2_w)), ShardNotFound{kKey});
  EXPECT_EQ(refusal(claim(14_t, 2_w)), RunNotFound{kRun});
  EXPECT_EQ(refusal(cancel_run(14_t, 1_op)), RunNotFound{kRun});
  EXPECT_TRUE(introspection().dump_shards().empty());
}

TEST_P(Conformance, D24OthersStay) {
  ASSERT_TRUE(facade().create_run(1_t, tenant_of(2), kRun, config()));
  ASSERT_TRUE(facade().register_shards(2_t, tenant_of(2), kRun, two_roots(), 1_op));
  ASSERT_TRUE(facade().complete_run(3_t, tenant_of(2), kRun, 2_op));
  make_run(*this, 2_run);
  EXPECT_TRUE(executed(complete_run(10_t, 2_op, 2_run)));
  World kept = world();
  std::erase_if(kept.runs,
                [&](const RunRecord& run) { return run.tenant == tenant() && run.run == 2_run; });
  std::erase_if(kept.shards, [&](const ShardDump& shard) {
    return shard.state.tenant == tenant() && shard.state.run == 2_run;
  });
  EXPECT_EQ(collect(*this, 1000_t), 1U);
  EXPECT_TRUE(world() == kept);
  EXPECT_EQ(facade().gc_terminal_runs(tenant_of(3), 1000_t).value(), 0U);
}

TEST_P(Conformance, D24ForgottenShardsMakeRoom) {
  open({.limits = {.per_tenant_max = 3}});
  make_run(*this, 2_run);
  EXPECT_TRUE(executed(complete_run(10_t, 2_op, 2_run)));
  ASSERT_TRUE(create_run(11_t, 3_run, config()));
  EXPECT_TRUE(refusal(register_shards(12_t, 3_run, two_roots(), 1_op))->is<ShardLimitExceeded>());
  EXPECT_EQ(collect(*this, 11_t), 1U);
  EXPECT_TRUE(executed(register_shards(12_t, 3_run, two_roots(), 1_op)));
  EXPECT_TRUE(create_run(13_t, 2_run, config()));  // its id is free again
}

}  // namespace
}  // namespace cadastre::coord::conformance
