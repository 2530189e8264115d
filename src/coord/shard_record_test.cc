#include "coord/shard_record.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "coord/backend.h"
#include "coord/decide_shard.h"
#include "coord/held_shard_testing.h"
#include "coord/identity.h"
#include "coord/identity_testing.h"
#include "coord/lease.h"
#include "coord/lease_rules.h"
#include "coord/limits.h"
#include "coord/op_log.h"
#include "coord/shard_change.h"
#include "coord/states.h"
#include "shard/bytes_testing.h"
#include "shard/limits.h"

namespace cadastre::coord {
namespace {

using shard::testing::operator""_b;
using testing::at;
using testing::HeldShard;
using testing::op;

ShardId derived(std::uint64_t id) {
  return ShardId::from_raw(shard::kDerivedShardBit | id);
}

OpLogEntry entry(std::uint64_t id, std::uint64_t time) {
  return {.op_id = op(id),
          .payload_hash = 1000 + id,
          .executed_at = at(time),
          .kind = OpKind::kCheckpoint,
          .result = OpResult::kCompleted};
}

// A record without a lease in a final state.
void end_as(ShardDump& record, ShardStatus status) {
  record.state.status = status;
  record.state.lease = std::nullopt;
}

struct Case {
  std::string what;
  int number;
  void (*change)(ShardDump& record);
};

// C-2.6. The fifth holds by construction: the log has sixteen places.
const std::vector<Case> kBroken = {
    {"an active shard with a park reason", 1,
     [](ShardDump& r) {
       r.state.park_reason = ParkReason::kOther;
     }},
    {"a parked shard without one", 1,
     [](ShardDump& r) {
       end_as(r, ShardStatus::kParked);
     }},
    {"a lease without a deadline", 2,
     [](ShardDump& r) {
       r.state.lease->deadline = LogicalTime();
     }},
    {"a done shard with a lease", 3,
     [](ShardDump& r) {
       r.state.status = ShardStatus::kDone;
     }},
    {"a split shard with a lease", 3,
     [](ShardDump& r) {
       r.state.status = ShardStatus::kSplit;
       r.spawned = {derived(1)};
     }},
    {"a parked shard with a lease", 3,
     [](ShardDump& r) {
       r.state.status = ShardStatus::kParked;
       r.state.park_reason = ParkReason::kOther;
     }},
    {"epoch 0", 4,
     [](ShardDump& r) {
       r.state.fence = kFenceUnassigned;
     }},
    {"a split shard that spawned nothing", 6,
     [](ShardDump& r) {
       end_as(r, ShardStatus::kSplit);
     }},
    {"a root with a parent", 7,
     [](ShardDump& r) {
       r.state.parent = ShardId::from_raw(1);
     }},
    {"a derived shard without one", 7,
     [](ShardDump& r) {
       r.state.shard = derived(1);
     }},
    {"a spawned root", 8,
     [](ShardDump& r) {
       r.spawned = {derived(1), ShardId::from_raw(1), derived(2)};
     }},
    {"an op id twice", 9,
     [](ShardDump& r) {
       r.state.op_log.push_back_overwrite(entry(1, 5));
       r.state.op_log.push_back_overwrite(entry(2, 6));
       r.state.op_log.push_back_overwrite(entry(1, 7));
     }},
    {"a spawned shard too many", 10,
     [](ShardDump& r) {
       for (std::uint64_t i = 0; i <= kMaxSpawnedPerShard; ++i)
         r.spawned.push_back(derived(i));
     }},
    {"a log that goes back in time", 11,
     [](ShardDump& r) {
       r.state.op_log.push_back_overwrite(entry(1, 6));
       r.state.op_log.push_back_overwrite(entry(2, 5));
     }},
    {"a cursor below the range", 12,
     [](ShardDump& r) {
       r.last_key = base::to_owned("A"_b);
     }},
    {"a cursor at the range's end", 12,
     [](ShardDump& r) {
       r.last_key = base::to_owned("z"_b);
     }},
};

TEST(ShardInvariants, EachIsReportedByItsNumber) {
  for (const Case& broken : kBroken) {
    HeldShard shard;
    ASSERT_TRUE(check_invariants(shard.view()).has_value());
    broken.change(shard.record);
    const auto held = check_invariants(shard.view());
    ASSERT_FALSE(held.has_value()) << broken.what;
    EXPECT_EQ(held.error().number, broken.number) << broken.what;
    EXPECT_FALSE(held.error().text.empty()) << broken.what;
  }
}

// A full log whose head stands at `rotation`; the entry at `second` has the id of the one at `first`
// plus `difference`.
HeldShard with_full_log(std::size_t rotation,
                        std::size_t first,
                        std::size_t second,
                        std::uint64_t difference) {
  HeldShard shard;
  for (std::size_t i = 0; i < rotation + kOpLogCapacity; ++i) {
    const std::uint64_t id = i == rotation + second ? rotation + first + difference : i;
    shard.record.state.op_log.push_back_overwrite(entry(100 + id, 5));
  }
  return shard;
}

void expect_equal_pair_is_seen(std::size_t rotation, std::size_t first, std::size_t second) {
  constexpr std::uint64_t kSameLowHalf = std::uint64_t{1} << 32;
  auto equal = with_full_log(rotation, first, second, 0);
  const auto held = check_invariants(equal.view());
  ASSERT_FALSE(held.has_value()) << rotation << ' ' << first << ' ' << second;
  ASSERT_EQ(held.error().number, 9);
  auto alike = with_full_log(rotation, first, second, kSameLowHalf);
  ASSERT_TRUE(check_invariants(alike.view()).has_value()) << first << ' ' << second;
}

// C-2.6, number 9: a full log is checked by other code than one that still fills.
TEST(ShardInvariants, AnyTwoEqualOpIdsOfAFullLogAreSeen) {
  for (std::size_t rotation = 0; rotation < kOpLogCapacity; ++rotation) {
    for (std::size_t second = 1; second < kOpLogCapacity; ++second) {
      for (std::size_t first = 0; first < second; ++first)
        ASSERT_NO_FATAL_FAILURE(expect_equal_pair_is_seen(rotation, first, second));
    }
  }
}

TEST(ShardInvariantsDeathTest, ABrokenRecordEndsTheProcess) {
  HeldShard shard;
  assert_invariants(shard.view());
  shard.record.state.fence = kFenceUnassigned;
  EXPECT_DEATH(assert_invariants(shard.view()), "the fence is at least 1");
}

TEST(ShardInvariants, HoldAtTheirBounds) {
  HeldShard shard;
  for (std::uint64_t i = 0; i < kMaxSpawnedPerShard; ++i)
    shard.record.spawned.push_back(derived(i));
  for (std::uint64_t i = 0; i < kOpLogCapacity; ++i)
    shard.record.state.op_log.push_back_overwrite(entry(i, 5));
  shard.record.last_key = base::to_owned("a"_b);
  EXPECT_TRUE(check_invariants(shard.view()).has_value());
}

// C-2.5
TEST(ShardTransitions, AreThoseOfTheTable) {
  using S = ShardStatus;
  for (const S to : {S::kActive, S::kDone, S::kSplit, S::kParked}) {
    EXPECT_TRUE(is_legal_transition(S::kActive, to));
    EXPECT_FALSE(is_legal_transition(S::kDone, to));
    EXPECT_FALSE(is_legal_transition(S::kSplit, to));
    EXPECT_EQ(is_legal_transition(S::kParked, to), to == S::kActive);
  }
}

TEST(ShardTransitionsDeathTest, NoOtherCanBeInstalled) {
  HeldShard shard;
  end_as(shard.record, ShardStatus::kDone);
  ShardChange change = unchanged(shard.record.state);
  change.status = ShardStatus::kActive;
  EXPECT_DEATH(apply_to_state(change, shard.record.state), "by the table of states");
}

// C-2.7: lookup goes from the newest to the oldest.
TEST(OpLogRules, FindsAnEntryByItsId) {
  OpLog log;
  EXPECT_EQ(find_op(log, op(1)), nullptr);
  for (std::uint64_t i = 1; i <= kOpLogCapacity + 1; ++i)
    log.push_back_overwrite(entry(i, i));
  EXPECT_EQ(find_op(log, op(1)), nullptr) << "the oldest has made room";
  EXPECT_EQ(find_op(log, op(2))->executed_at, at(2));
  EXPECT_EQ(find_op(log, op(17))->executed_at, at(17));
}

// [C] of 2.7, D-9: a clock that steps back does not order entries anew.
TEST(OpLogRules, TheNextTimeIsNeverBelowTheNewest) {
  OpLog log;
  EXPECT_EQ(next_executed_at(log, at(3)), at(3));
  log.push_back_overwrite(entry(1, 100));
  EXPECT_EQ(next_executed_at(log, at(99)), at(100));
  EXPECT_EQ(next_executed_at(log, at(100)), at(100));
  EXPECT_EQ(next_executed_at(log, at(101)), at(101));
}

TEST(OpLogRules, ADecisionAtAnEarlierTimeIsClamped) {
  HeldShard shard;
  shard.record.state.op_log.push_back_overwrite(entry(7, 100));
  const auto decision =
      decide_checkpoint(shard.view(), shard.request(), CursorUpdate::make("d"_b), op(8));
  ASSERT_TRUE(decision.has_value() && decision->has_value());
  ASSERT_LT(shard.request().now, at(100));
  EXPECT_EQ((*decision)->entry->executed_at, at(100));
  apply_to_state(**decision, shard.record.state);
  EXPECT_TRUE(check_invariants(shard.view()).has_value());
}

}  // namespace
}  // namespace cadastre::coord
