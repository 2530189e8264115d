// Lists of runs come from one revision, however many steps they take.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "coord/errors.h"
#include "coord/etcd/etcd_world_testing.h"
#include "coord/etcd/limits.h"
#include "coord/etcd/model_store.h"
#include "coord/identity.h"

namespace cadastre::coord::etcd {
namespace {

constexpr std::uint64_t kRuns = 2 * kRunScanKeysMax + 10;  // three steps

class EtcdRunList : public testing::Test, public EtcdWorld {
 protected:
  void SetUp() override {
    for (std::uint64_t i = 2; i <= kRuns; ++i)
      ASSERT_TRUE(home.create_run(3_t, tenant, RunId::from_raw(i), config));
  }
  // Before each read but the first.
  template <class Act>
  void between_reads(const Act& act) {
    home.store.set_faults([act, reads = std::size_t{0}](Rpc rpc) mutable {
      if (rpc == Rpc::kRead && reads++ > 0) act(reads);
      return Fault::kNone;
    });
  }
  Put put_run(std::uint64_t run) const {
    return {home.backend.options().keyspace.run(tenant, RunId::from_raw(run)), "", {}};
  }
  Delete delete_run(std::uint64_t run) const {
    return {home.backend.options().keyspace.run(tenant, RunId::from_raw(run)), {}};
  }
};

TEST_F(EtcdRunList, WhatHappensBetweenTheStepsIsNotSeen) {
  between_reads([this](std::size_t reads) {
    home.store.force(put_run(kRuns + reads));
    home.store.force(delete_run(kRuns - reads));
  });
  const auto runs = home.list_runs(tenant, std::nullopt, 10'000);
  ASSERT_TRUE(runs.has_value());
  EXPECT_EQ(runs->size(), kRuns);
  EXPECT_EQ(runs->back(), RunId::from_raw(kRuns));
}

TEST_F(EtcdRunList, AForgottenRevisionIsReadAnew) {
  between_reads([this](std::size_t reads) {
    if (reads != 2) return;
    home.store.force(delete_run(2));
    home.store.force(delete_run(3));
    home.store.compact();
  });
  const auto runs = home.list_runs(tenant, std::nullopt, 10'000);
  ASSERT_TRUE(runs.has_value());
  EXPECT_EQ(runs->size(), kRuns - 2);
}

TEST_F(EtcdRunList, AStoreThatForgetsAllTheTimeIsTransient) {
  between_reads([this](std::size_t reads) {
    home.store.force(put_run(kRuns + reads));
    home.store.compact();
  });
  const auto runs = home.list_runs(tenant, std::nullopt, 10'000);
  ASSERT_FALSE(runs.has_value());
  EXPECT_EQ(runs.error().kind, InfraError::Kind::kTransient);
  EXPECT_LE(home.store.counters().reads, 4U * 3U + 10U);
}

}  // namespace
}  // namespace cadastre::coord::etcd
