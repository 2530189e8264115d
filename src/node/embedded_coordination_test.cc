#include "node/embedded_coordination.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/logger.h"
#include "base/signal.h"
#include "base/threads_testing.h"
#include "coord/backend.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/snapshot.h"
#include "log/engine.h"
#include "log/propose.h"
#include "shard/split_plan.h"

namespace cadastre::node {
namespace {

using coord::LogicalTime;
using coord::OpId;
using coord::RunId;
using coord::ShardId;
using coord::WorkerId;

constexpr RunId kRun = RunId::from_raw(1);
constexpr coord::ShardKey kShard{kRun, ShardId::from_raw(1)};
constexpr int kThreads = 8;

LogicalTime at(std::uint64_t time) {
  return LogicalTime::from_raw(time);
}

class EmbeddedCoordinationTest : public testing::Test {
 protected:
  EmbeddedCoordinationTest() { std::filesystem::remove_all(directory_); }
  ~EmbeddedCoordinationTest() override { std::filesystem::remove_all(directory_); }

  [[nodiscard]] auto open(const coord::replicated::Settings& settings = {}) {
    return EmbeddedCoordination::open({.directory = directory_, .settings = settings}, clock_,
                                      logger_);
  }
  [[nodiscard]] std::unique_ptr<EmbeddedCoordination> opened() { return open().value(); }

  // One shard over [a, z).
  void create(coord::CoordinationFacade& facade) {
    ASSERT_TRUE(facade.create_run(at(1), tenant_, kRun, {.lease_duration = 100}));
    const auto start = base::as_bytes(std::string_view("a"));
    const auto end = base::as_bytes(std::string_view("z"));
    const std::array rows{
        coord::InitialShardInput{kShard.shard, shard::ShardSpecRef::unchecked(start, end)}};
    ASSERT_TRUE(facade.register_shards(at(2), tenant_, kRun, rows, OpId::from_raw(1)));
  }

  const std::filesystem::path directory_ =
      std::filesystem::temp_directory_path() /
      ("embedded_" + std::to_string(getpid()) + "_" +
       testing::UnitTest::GetInstance()->current_test_info()->name());
  const coord::TenantId tenant_;
  const base::SystemClock clock_;
  const std::unique_ptr<base::LogSink> sink_ = base::stderr_log_sink();
  const base::Logger logger_{*sink_, clock_, base::LogForm::kText};
};

//
TEST_F(EmbeddedCoordinationTest, TellsASecondOpenerWhoHasTheDirectory) {
  const auto first = opened();
  const auto second = open();
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, EmbeddedError::kLocked);
  EXPECT_NE(second.error().detail.find(std::to_string(getpid())), std::string::npos);
}

// C-10.8 limits: whatever a later opener asks for, the state keeps its own until a command changes them.
TEST_F(EmbeddedCoordinationTest, KeepsTheSettingsOfItsCreation) {
  const coord::replicated::Settings settings{.shards_total_max = 7};
  EXPECT_EQ(open(settings).value()->settings(), settings);
  const auto again = opened();
  EXPECT_EQ(again->settings(), settings);
  const coord::replicated::Settings others{.claim_cooldown_interval = 9};
  ASSERT_TRUE(again->configure(others));
  EXPECT_EQ(again->settings(), others);
}

// F2: of many threads that want the same thing, one gets it.
TEST_F(EmbeddedCoordinationTest, GivesAShardToOneOfManyThreads) {
  const auto coordination = opened();
  create(*coordination->blocking());
  std::atomic<int> acquired{0};
  std::atomic<int> split{0};
  std::array<std::atomic<std::uint64_t>, 2> moved{};
  base::run_in_threads(kThreads, [&](int thread) {
    const auto facade = coordination->blocking();
    const auto scratch = std::make_unique<coord::AcquireScratch>();
    const auto worker = WorkerId::from_raw(static_cast<std::uint64_t>(thread));
    const auto got = facade->acquire_and_restore_into(at(10), tenant_, kShard, worker, *scratch);
    if (got) acquired.fetch_add(1);
    // All of them present the winner's lease.
    const auto record = facade->get_shard(tenant_, kShard);
    ASSERT_TRUE(record && record->state.lease);
    const auto lease = *coord::Lease::presented({.tenant = tenant_,
                                                 .key = kShard,
                                                 .owner = record->state.lease->owner,
                                                 .fence = record->state.fence,
                                                 .deadline = record->state.lease->deadline});
    const auto key = base::as_bytes(std::string_view("b"));
    const auto checkpoint = facade->checkpoint(at(11), tenant_, lease,
                                               coord::CursorUpdate::make(key), OpId::from_raw(2));
    if (checkpoint) moved[checkpoint->is_executed() ? 0 : 1].fetch_add(1);
    const auto point = base::as_bytes(std::string_view("m"));
    const auto plan = coord::SplitResidualPlan::try_make(
        shard::ShardSpecRef::unchecked(base::as_bytes(std::string_view("a")), point),
        shard::ShardSpecRef::unchecked(point, base::as_bytes(std::string_view("z"))));
    const auto cut =
        facade->split_residual(at(12), tenant_, lease, *plan, OpId::from_raw(100 + worker.raw()));
    if (cut && cut->is_executed()) split.fetch_add(1);
  });
  EXPECT_EQ(acquired.load(), 1);
  EXPECT_EQ(moved[0].load(), 1U);
  EXPECT_EQ(moved[1].load(), static_cast<std::uint64_t>(kThreads - 1));
  EXPECT_EQ(split.load(), 1);
  EXPECT_EQ(coordination->blocking()->get_run_progress(at(13), tenant_, kRun)->total, 2U);
}

// What stops is there when it starts again, also behind a snapshot.
TEST_F(EmbeddedCoordinationTest, WritesASnapshotWhenItStopsWithMuchToReplay) {
  auto coordination = opened();
  create(*coordination->blocking());
  for (std::uint64_t i = 0; i < 1100; ++i) {
    coordination->async().cancel_run(at(3), tenant_, RunId::from_raw(9), OpId::from_raw(i),
                                     [](const auto& /*answer*/) {});
  }
  const auto facade = coordination->blocking();
  for (std::uint64_t i = 0; i < 1100; ++i)
    (void)facade->cancel_run(at(4), tenant_, RunId::from_raw(9), OpId::from_raw(i));
  EXPECT_TRUE(coordination->stop(std::chrono::seconds(10)));
  EXPECT_EQ(coordination->machine().durable(), coordination->machine().applied());
  coordination.reset();
  coordination = opened();
  EXPECT_EQ(coordination->blocking()->get_run_progress(at(5), tenant_, kRun)->total, 1U);
  EXPECT_EQ(coordination->largest_now(tenant_), at(4));
}

TEST_F(EmbeddedCoordinationTest, RefusesOperationsOnceItHasStopped) {
  const auto coordination = opened();
  const auto facade = coordination->blocking();
  EXPECT_TRUE(coordination->stop(std::chrono::seconds(10)));
  const auto answer = facade->create_run(at(1), tenant_, kRun, {.lease_duration = 1});
  ASSERT_FALSE(answer.has_value());
  EXPECT_TRUE(answer.error().is<coord::InfraError>());
}

// L-20
TEST_F(EmbeddedCoordinationTest, ACommandThatNobodyKnowsHaltsIt) {
  base::Signal told;  // Outlives whoever raises it.
  const auto coordination = opened();
  std::array proposals{log::Proposal{base::as_bytes(std::string_view("\xff no command")),
                                     [&](const log::Answer& answer) {
                                       EXPECT_FALSE(answer.has_value());
                                       told.raise();
                                     }}};
  coordination->group().propose(proposals, log::Class::kUser);
  told.wait();
  EXPECT_FALSE(coordination->group().status().halted.empty());
  EXPECT_EQ(coordination->group().status().role, log::Role::kHalted);
  EXPECT_FALSE(coordination->leads());
}

// D-24
TEST_F(EmbeddedCoordinationTest, CollectsRunsAfterTheirRetention) {
  const auto coordination = opened();
  const auto facade = coordination->blocking();
  create(*facade);
  ASSERT_TRUE(facade->cancel_run(at(10), tenant_, kRun, OpId::from_raw(5)));
  ASSERT_TRUE(facade->create_run(at(60), tenant_, RunId::from_raw(2), {.lease_duration = 1}));
  EXPECT_EQ(coordination->collect_runs(0), 0U);
  EXPECT_EQ(coordination->collect_runs(50), 0U);
  EXPECT_EQ(coordination->collect_runs(49), 1U);
  EXPECT_EQ(coordination->collect_runs(49), 0U);
  EXPECT_EQ(facade->list_runs(tenant_, std::nullopt, 10)->size(), 1U);
}

}  // namespace
}  // namespace cadastre::node
