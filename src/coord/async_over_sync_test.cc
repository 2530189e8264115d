#include "coord/async_over_sync.h"

#include <cstddef>
#include <optional>

#include <gtest/gtest.h>

#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/identity_testing.h"
#include "coord/one_shard_testing.h"
#include "coord/run_record.h"
#include "coord/states.h"

namespace cadastre::coord {
namespace {

using testing::at;
using testing::op;

class AsyncOverSyncTest : public testing::OneShard {
 protected:
  AsyncOverSync async_{backend_};
};

TEST_F(AsyncOverSyncTest, AnswersWhenItIsToldToAndInOrder) {
  std::optional<RunStatus> seen;
  int order = 0;
  async_.cancel_run(at(5), tenant_, kRun, op(1), [&](auto result) {
    EXPECT_TRUE(result && result->is_executed());
    EXPECT_EQ(order++, 0);
  });
  async_.get_run(tenant_, kRun, [&](auto result) {
    seen = result->status;
    EXPECT_EQ(order++, 1);
  });
  EXPECT_EQ(order, 0) << "no answer comes by itself";
  EXPECT_EQ(backend_.get_run(tenant_, kRun)->status, RunStatus::kCancelled) << "but it happened";
  EXPECT_TRUE(async_.deliver());
  EXPECT_TRUE(async_.deliver());
  EXPECT_FALSE(async_.deliver());
  EXPECT_EQ(seen, RunStatus::kCancelled);
}

TEST_F(AsyncOverSyncTest, RefusesWhatItCannotAnswer) {
  for (std::size_t i = 0; i < AsyncOverSync::kPendingMax; ++i)
    async_.get_run(tenant_, kRun, [](const auto&) {});
  bool refused = false;
  async_.cancel_run(at(5), tenant_, kRun, op(1), [&](auto result) {
    refused = !result && result.error().template is<InfraError>();
  });
  EXPECT_EQ(backend_.get_run(tenant_, kRun)->status, RunStatus::kActive) << "not executed";
  while (async_.deliver()) {}
  EXPECT_TRUE(refused);
}

}  // namespace
}  // namespace cadastre::coord
