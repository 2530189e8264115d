#include "coord/eventing_backend.h"

#include <array>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "coord/backend.h"
#include "coord/event_collector.h"
#include "coord/events.h"
#include "coord/identity.h"
#include "coord/identity_testing.h"
#include "coord/lease.h"
#include "coord/one_shard_testing.h"
#include "coord/shard_record.h"
#include "coord/states.h"
#include "shard/bytes_testing.h"
#include "shard/shard_spec.h"
#include "shard/split_plan.h"

namespace cadastre::coord {
namespace {

using testing::at;
using testing::op;
using testing::tenant_of;
using testing::worker;
using testing::operator""_b;

// E4
class EventingBackendTest : public testing::OneShard {
 protected:
  // The names of the events so far, and forgets them.
  std::vector<std::string> names() {
    std::vector<std::string> names;
    events_.drain_with([&](const StateTransitionEvent& event) {
      EXPECT_EQ(event.tenant, tenant_);
      names.emplace_back(name(event.kind));
    });
    return names;
  }
  using Names = std::vector<std::string>;

  EventingBackend eventing_{backend_};
  EventCollector events_;
};

TEST_F(EventingBackendTest, ExecutedOperationsMakeOneEventEach) {
  const Lease lease =
      eventing_.acquire_with_events(at(10), tenant_, kKey, worker(1), *scratch_, events_)->lease;
  EXPECT_EQ(names(), Names{"shard_acquired"});
  const auto cursor = CursorUpdate::make("d"_b);
  std::ignore = eventing_.checkpoint_with_events(at(11), tenant_, lease, cursor, op(1), events_);
  EXPECT_EQ(names(), Names{"shard_checkpointed"});
  std::ignore = eventing_.checkpoint_with_events(at(12), tenant_, lease, cursor, op(1), events_);
  EXPECT_EQ(names(), Names{}) << "a replay is silent";
  std::ignore = eventing_.checkpoint_with_events(at(12), tenant_, lease, CursorUpdate::make("c"_b),
                                                 op(2), events_);
  EXPECT_EQ(names(), Names{}) << "a refusal is silent";
  std::ignore = eventing_.renew_with_events(at(13), tenant_, lease, events_);
  std::ignore = eventing_.renew_many_with_events(at(13), tenant_, {&lease, 1}, events_);
  EXPECT_EQ(names(), (Names{"shard_lease_renewed", "shard_lease_renewed"}));
  const auto residual = *SplitResidualPlan::try_make(ShardSpecRef::must_make("a"_b, "m"_b),
                                                     ShardSpecRef::must_make("m"_b, "z"_b));
  std::ignore =
      eventing_.split_residual_with_events(at(14), tenant_, lease, residual, op(3), events_);
  EXPECT_EQ(names(), Names{"shard_residual_created"});
  std::ignore =
      eventing_.park_with_events(at(15), tenant_, lease, ParkReason::kOther, op(4), events_);
  std::ignore = eventing_.unpark_with_events(at(16), tenant_, kKey, op(5), events_);
  EXPECT_EQ(names(), (Names{"shard_parked", "shard_unparked"}));
}

TEST_F(EventingBackendTest, EndsMakeEventsToo) {
  const Lease first =
      eventing_.claim_with_events(at(10), tenant_, kRun, worker(1), *scratch_, events_)->lease;
  std::ignore = eventing_.release_with_events(at(11), tenant_, first, CursorUpdate::initial(),
                                              op(1), events_);
  EXPECT_EQ(names(), (Names{"shard_acquired", "shard_released"}));
  const Lease second =
      eventing_.acquire_with_events(at(12), tenant_, kKey, worker(1), *scratch_, events_)->lease;
  const std::array children{shard::SplitReplaceChild{ShardSpecRef::must_make("a"_b, "m"_b)},
                            shard::SplitReplaceChild{ShardSpecRef::must_make("m"_b, "z"_b)}};
  const auto plan = SplitReplacePlan::try_make(children);
  const auto split =
      eventing_.split_replace_with_events(at(13), tenant_, second, *plan, op(2), events_);
  EXPECT_EQ(names(), (Names{"shard_acquired", "shard_split"}));
  const ShardKey child{kRun, split->value().children[0]};
  const Lease third =
      eventing_.acquire_with_events(at(14), tenant_, child, worker(1), *scratch_, events_)->lease;
  std::ignore = eventing_.complete_with_events(at(15), tenant_, third, CursorUpdate::make("b"_b),
                                               op(3), events_);
  std::ignore = eventing_.complete_run_with_events(at(16), tenant_, kRun, op(4), events_);
  EXPECT_EQ(names(), (Names{"shard_acquired", "shard_completed", "run_completed"}));
}

TEST_F(EventingBackendTest, RunsMakeEvents) {
  const RunId run = RunId::from_raw(2);
  const std::array manifest{
      InitialShardInput{ShardId::from_raw(1), ShardSpecRef::must_make("a"_b, "b"_b)}};
  std::ignore =
      eventing_.create_run_with_events(at(3), tenant_, run, {.lease_duration = 5}, events_);
  std::ignore = eventing_.register_with_events(at(4), tenant_, run, manifest, op(1), events_);
  std::ignore = eventing_.register_with_events(at(4), tenant_, run, manifest, op(1), events_);
  std::ignore = eventing_.fail_run_with_events(at(5), tenant_, run, op(2), events_);
  EXPECT_EQ(names(), (Names{"run_created", "run_activated", "run_failed"}));
  std::ignore = eventing_.create_run_with_events(at(3), tenant_, RunId::from_raw(3),
                                                 {.lease_duration = 5}, events_);
  std::ignore =
      eventing_.cancel_run_with_events(at(5), tenant_, RunId::from_raw(3), op(2), events_);
  EXPECT_EQ(names(), (Names{"run_created", "run_cancelled"}));
}

StateTransitionEvent event_of(std::uint8_t tenant) {
  return {tenant_of(tenant), RunId::from_raw(1), at(1), RunCreated{}};
}

TEST(EventCollector, DropsAtItsCeiling) {
  auto events = EventCollector::with_max_capacity(2);
  EXPECT_TRUE(events.emit(event_of(1)));
  EXPECT_TRUE(events.emit(event_of(1)));
  EXPECT_FALSE(events.emit(event_of(1)));
  EXPECT_EQ(events.size(), 2U);
  EXPECT_EQ(events.drain().size(), 2U);
  EXPECT_TRUE(events.empty());
  EXPECT_TRUE(events.emit(event_of(1)));
}

// D-21
TEST(EventCollectorDeathTest, IsOfOneTenantForLife) {
  auto events = EventCollector::with_max_capacity(1);
  EXPECT_TRUE(events.emit(event_of(1)));
  EXPECT_DEATH(events.emit(event_of(2)), "of one tenant") << "also at the ceiling";
  (void)events.drain();
  EXPECT_DEATH(events.emit(event_of(2)), "of one tenant") << "also when empty again";
}

// C-7.5, SEC: keys appear as lengths.
TEST(Events, TextNeverShowsKeys) {
  const RedactedKey secret(base::as_bytes("secret-key-data"));
  EXPECT_EQ(to_string(secret), "Some(<15 bytes>)");
  EXPECT_EQ(to_string(RedactedKey()), "None");
  const StateTransitionEvent event{tenant_of(0xab), RunId::from_raw(1), at(9),
                                   ShardCheckpointed{ShardId::from_raw(10), secret}};
  EXPECT_EQ(to_text(event),
            "TenantId(abababab..) run 1 at 9: shard_checkpointed shard 10 at Some(<15 bytes>)");
}

TEST(Events, KnowTheirCategoryAndWhetherTheyAreFinal) {
  EXPECT_EQ(category(ShardSplit{}), EventCategory::kShard);
  EXPECT_EQ(category(RunActivated{}), EventCategory::kRun);
  EXPECT_TRUE(is_terminal(ShardCompleted{}));
  EXPECT_TRUE(is_terminal(ShardParked{}));
  EXPECT_TRUE(is_terminal(ShardSplit{}));
  EXPECT_TRUE(is_terminal(RunEnded{}));
  EXPECT_FALSE(is_terminal(ShardUnparked{}));
  EXPECT_FALSE(is_terminal(ShardReleased{}));
}

}  // namespace
}  // namespace cadastre::coord
