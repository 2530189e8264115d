// A run's lease never outlasts the owner key that stands for it (10.6, D-35).

#include <chrono>
#include <cstdint>

#include <gtest/gtest.h>

#include "coord/errors.h"
#include "coord/etcd/core.h"
#include "coord/etcd/etcd_world_testing.h"
#include "coord/etcd/model_home.h"
#include "coord/identity.h"
#include "coord/run_record.h"

namespace cadastre::coord::etcd {
namespace {

EtcdOptions by_the_millisecond() {
  EtcdOptions options = options_of_tests();
  options.tick = std::chrono::milliseconds(1);
  return options;
}

RunConfig lease_of(std::uint64_t duration) {
  RunConfig config;
  config.lease_duration = duration;
  return config;
}

constexpr TenantId kTenant{};
constexpr std::uint64_t kLongest = 60'000;  // kTtl

TEST(EtcdLeaseLength, ALeaseMayLastAsLongAsTheOwnerKey) {
  ModelHome home(by_the_millisecond(), {});
  EXPECT_TRUE(home.create_run(1_t, kTenant, kRun, lease_of(kLongest)));
}

TEST(EtcdLeaseLength, ALongerOneIsRefusedAndNothingIsStored) {
  ModelHome home(by_the_millisecond(), {});
  const auto created = home.create_run(1_t, kTenant, kRun, lease_of(kLongest + 1));
  ASSERT_FALSE(created.has_value());
  const auto* const why = created.error().get_if<InfraError>();
  ASSERT_NE(why, nullptr);
  EXPECT_EQ(why->kind, InfraError::Kind::kRefused);
  EXPECT_EQ(retry_advice(*why), RetryAdvice::kNever);
  EXPECT_FALSE(home.get_run(kTenant, kRun).has_value());
}

TEST(EtcdLeaseLength, WithoutALengthOfTheTickNothingIsRefused) {
  ModelHome home(options_of_tests(), {});
  EXPECT_TRUE(home.create_run(1_t, kTenant, kRun, lease_of(kLongest + 1)));
}

}  // namespace
}  // namespace cadastre::coord::etcd
