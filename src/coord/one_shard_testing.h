// One run with one shard: run 1, shard 10 over [a, z), leases of 100, created at 1, registered at 2.
// For tests of what stands on top of a backend.

#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "coord/backend.h"
#include "coord/identity.h"
#include "coord/identity_testing.h"
#include "coord/lease.h"
#include "coord/memory/memory_backend.h"
#include "coord/snapshot.h"
#include "shard/bytes_testing.h"
#include "shard/cursor.h"
#include "shard/manifest.h"
#include "shard/shard_spec.h"

namespace cadastre::coord::testing {

using shard::testing::operator""_b;

class OneShard : public ::testing::Test {
 public:
  static constexpr RunId kRun = RunId::from_raw(1);
  static constexpr ShardKey kKey{RunId::from_raw(1), ShardId::from_raw(10)};

 protected:
  OneShard() : scratch_(std::make_unique<AcquireScratch>()) {
    EXPECT_TRUE(backend_.create_run(at(1), tenant_, kRun, {.lease_duration = 100}));
    const std::array manifest{InitialShardInput{kKey.shard, ShardSpecRef::must_make("a"_b, "z"_b)}};
    EXPECT_TRUE(backend_.register_shards(at(2), tenant_, kRun, manifest,
                                         op(std::numeric_limits<std::uint64_t>::max())));
  }

  const TenantId tenant_ = tenant_of(1);
  memory::MemoryBackend backend_{memory::MemoryOptions{}};
  std::unique_ptr<AcquireScratch> scratch_;
};

}  // namespace cadastre::coord::testing
