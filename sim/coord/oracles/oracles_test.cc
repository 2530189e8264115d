// Red controls of the oracles: each is shown a history that breaks its rule, made by hand, and must
// say so; and the same history without the fault, about which it must say nothing.

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "coord/backend.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/run_record.h"
#include "coord/states.h"
#include "sim/coord/oracles/cooldown_oracle.h"
#include "sim/coord/oracles/coverage_oracle.h"
#include "sim/coord/oracles/grant_oracle.h"
#include "sim/coord/oracles/record_rules.h"
#include "sim/coord/oracles/retry_oracle.h"
#include "sim/coord/oracles/violation.h"
#include "sim/coord/request.h"
#include "sim/coord/shard_name.h"

namespace cadastre::sim {
namespace {

using coord::FenceEpoch;
using coord::LogicalTime;

constexpr coord::ShardKey kShard{coord::RunId::from_raw(1), coord::ShardId::from_raw(1)};

base::Bytes key(std::string_view text) {
  return base::to_owned(base::as_bytes(text));
}

coord::Lease lease(std::uint64_t worker, std::uint64_t fence, std::uint64_t deadline) {
  return coord::Lease::granted({tenant_number(0), kShard, coord::WorkerId::from_raw(worker),
                                FenceEpoch::from_raw(fence), LogicalTime::from_raw(deadline)});
}

Request request(Call call, std::uint64_t now, std::uint64_t worker) {
  Request out;
  out.call = call;
  out.now = LogicalTime::from_raw(now);
  out.tenant = tenant_number(0);
  out.worker = coord::WorkerId::from_raw(worker);
  out.key = kShard;
  return out;
}

Answer executed() {
  Answer answer;
  answer.verdict = Verdict::kExecuted;
  return answer;
}

Answer replayed() {
  Answer answer;
  answer.verdict = Verdict::kReplayed;
  return answer;
}

// ---- S1 ------------------------------------------------------------------------------------------

class Grants : public testing::Test {
 protected:
  void grant(std::uint64_t now, std::uint64_t worker, std::uint64_t fence) {
    Answer answer;
    answer.verdict = Verdict::kGranted;
    answer.lease = lease(worker, fence, now + 100);
    oracle_.observe(request(Call::kAcquire, now, worker), answer, found_);
  }
  void use(Call call, std::uint64_t now, std::uint64_t worker, std::uint64_t fence) {
    Request sent = request(call, now, worker);
    sent.leases = {lease(worker, fence, now + 1)};
    oracle_.observe(sent, executed(), found_);
  }
  void renew(std::uint64_t now, std::uint64_t fence, std::uint64_t deadline) {
    Request sent = request(Call::kRenew, now, 1);
    sent.leases = {lease(1, fence, now + 1)};
    Answer answer;
    answer.verdict = Verdict::kRenewed;
    answer.deadline = LogicalTime::from_raw(deadline);
    oracle_.observe(sent, answer, found_);
  }
  GrantOracle oracle_;
  Violations found_;
};

TEST_F(Grants, ThatFollowEachOtherAreFine) {
  grant(10, 1, 2);
  use(Call::kCheckpoint, 109, 1, 2);
  grant(110, 2, 3);  // at the very end
  use(Call::kRelease, 120, 2, 3);
  grant(121, 1, 4);
  EXPECT_TRUE(found_.empty());
}

TEST_F(Grants, ThatOverlapAreCaught) {
  grant(10, 1, 2);
  grant(109, 2, 3);
  EXPECT_EQ(found_.size(), 1U);
}

TEST_F(Grants, ThatOverlapARenewalAreCaught) {
  grant(10, 1, 2);
  renew(50, 2, 150);
  grant(149, 2, 3);
  EXPECT_EQ(found_.size(), 1U);
}

TEST_F(Grants, UnderTheSameFenceAreCaught) {
  grant(10, 1, 2);
  grant(110, 2, 2);
  EXPECT_EQ(found_.size(), 1U);
}

TEST_F(Grants, ASmallerFenceThatIsExecutedIsCaught) {
  grant(10, 1, 2);
  grant(110, 2, 3);
  use(Call::kCheckpoint, 111, 1, 2);
  EXPECT_EQ(found_.size(), 1U);
}

TEST_F(Grants, AnExpiredLeaseThatIsExecutedIsCaught) {
  grant(10, 1, 2);
  use(Call::kCheckpoint, 110, 1, 2);
  EXPECT_EQ(found_.size(), 1U);
}

TEST_F(Grants, WorkAfterTheEndIsCaught) {
  for (const Call end : {Call::kComplete, Call::kPark, Call::kRelease, Call::kSplitReplace}) {
    GrantOracle fresh;
    std::swap(oracle_, fresh);
    found_.clear();
    grant(10, 1, 2);
    use(end, 20, 1, 2);
    EXPECT_TRUE(found_.empty());
    use(Call::kCheckpoint, 21, 1, 2);
    EXPECT_EQ(found_.size(), 1U) << name(end);
  }
}

TEST_F(Grants, AStrangerIsCaught) {
  grant(10, 1, 2);
  use(Call::kPark, 20, 2, 2);
  EXPECT_EQ(found_.size(), 1U);
}

TEST_F(Grants, ARenewalThatShortensIsCaught) {
  grant(10, 1, 2);
  renew(20, 2, 109);
  EXPECT_EQ(found_.size(), 1U);
}

TEST_F(Grants, AnUnparkUnderAnOldFenceIsCaught) {
  grant(10, 1, 2);
  use(Call::kPark, 20, 1, 2);
  Answer answer = executed();
  answer.fence = FenceEpoch::from_raw(2);
  oracle_.observe(request(Call::kUnpark, 30, 1), answer, found_);
  EXPECT_EQ(found_.size(), 1U);
}

// ---- S10 -----------------------------------------------------------------------------------------

class Retries : public testing::Test {
 protected:
  void checkpoint(std::uint64_t op, std::string_view at, const Answer& answer) {
    Request sent = request(Call::kCheckpoint, 10, 1);
    sent.leases = {lease(1, 2, 100)};
    sent.op = coord::OpId::from_raw(op);
    sent.last_key = key(at);
    oracle_.observe(sent, answer, found_);
  }
  void residual(std::uint64_t op, const Answer& answer) {
    Request sent = request(Call::kSplitResidual, 10, 1);
    sent.leases = {lease(1, 2, 100)};
    sent.op = coord::OpId::from_raw(op);
    sent.pieces = {{{}, key("a"), key("m"), {}}, {{}, key("m"), key("z"), {}}};
    oracle_.observe(sent, answer, found_);
  }
  RetryOracle oracle_;
  Violations found_;
};

TEST_F(Retries, OfWhatWasDoneAreFine) {
  checkpoint(1, "b", executed());
  checkpoint(1, "b", replayed());
  Answer conflict;
  conflict.code = "op_id_conflict";
  checkpoint(1, "c", conflict);
  for (std::uint64_t op = 2; op <= 17; ++op)
    checkpoint(op, "d", executed());
  checkpoint(1, "e", executed());  // forgotten by now
  EXPECT_TRUE(found_.empty());
}

TEST_F(Retries, ThatAreExecutedTwiceAreCaught) {
  checkpoint(1, "b", executed());
  for (std::uint64_t op = 2; op <= 16; ++op)
    checkpoint(op, "d", executed());
  EXPECT_TRUE(found_.empty());
  checkpoint(1, "b", executed());
  EXPECT_EQ(found_.size(), 1U);
}

TEST_F(Retries, OfWhatNeverWasAreCaught) {
  checkpoint(1, "b", replayed());
  EXPECT_EQ(found_.size(), 1U);
}

TEST_F(Retries, OfSomethingElseAreCaught) {
  checkpoint(1, "b", executed());
  checkpoint(1, "c", replayed());
  EXPECT_EQ(found_.size(), 1U);
}

TEST_F(Retries, ThatAreRefusedAreCaught) {
  checkpoint(1, "b", executed());
  Answer refused;
  refused.code = "stale_fence";
  checkpoint(1, "b", refused);
  checkpoint(1, "c", refused);
  EXPECT_EQ(found_.size(), 2U);
}

TEST_F(Retries, WithAnotherShardAreCaught) {
  Answer first = executed();
  first.shards = {coord::ShardId::from_raw(7)};
  residual(1, first);
  Answer second = replayed();
  second.shards = {coord::ShardId::from_raw(8)};
  residual(1, second);
  EXPECT_EQ(found_.size(), 1U);
  for (std::uint64_t op = 2; op <= 17; ++op)
    checkpoint(op, "d", executed());
  residual(1, second);
  EXPECT_EQ(found_.size(), 2U);
  residual(1, first);  // once more executed, though its shard is there
  EXPECT_EQ(found_.size(), 3U);
}

// ---- S2, S3, S5, S6, S8 ----------------------------------------------------------------------------

coord::ShardDump record() {
  coord::ShardDump out;
  out.state.tenant = tenant_number(0);
  out.state.run = kShard.run;
  out.state.shard = kShard.shard;
  out.state.fence = FenceEpoch::from_raw(3);
  out.start = key("b");
  out.end = key("y");
  out.last_key = key("k");
  return out;
}

std::vector<std::string> rules_of(const coord::ShardDump& before, const coord::ShardDump& after) {
  Violations found;
  check_shard_step(before, after, found);
  std::vector<std::string> rules;
  for (const Violation& violation : found)
    rules.push_back(violation.rule);
  return rules;
}

using Rules = std::vector<std::string>;

TEST(RecordRules, LetAShardGoOn) {
  coord::ShardDump after = record();
  after.last_key = key("l");
  after.state.fence = FenceEpoch::from_raw(4);
  EXPECT_EQ(rules_of(record(), after), Rules{});
}

TEST(RecordRules, CatchAFenceThatFalls) {
  coord::ShardDump after = record();
  after.state.fence = FenceEpoch::from_raw(2);
  EXPECT_EQ(rules_of(record(), after), Rules{"S2"});
}

TEST(RecordRules, CatchTheReturnOfAFinalShard) {
  for (const auto status : {coord::ShardStatus::kDone, coord::ShardStatus::kSplit}) {
    coord::ShardDump before = record();
    before.state.status = status;
    EXPECT_EQ(rules_of(before, record()), Rules{"S3"});
  }
}

TEST(RecordRules, CatchAnUnparkWithoutALargerFence) {
  coord::ShardDump before = record();
  before.state.status = coord::ShardStatus::kParked;
  EXPECT_EQ(rules_of(before, record()), Rules{"S3"});
  coord::ShardDump after = record();
  after.state.fence = FenceEpoch::from_raw(4);
  EXPECT_EQ(rules_of(before, after), Rules{});
}

TEST(RecordRules, CatchACursorThatGoesBackOrAway) {
  coord::ShardDump after = record();
  after.last_key = key("j");
  EXPECT_EQ(rules_of(record(), after), Rules{"S5"});
  after.last_key.clear();
  EXPECT_EQ(rules_of(record(), after), Rules{"S5"});
}

TEST(RecordRules, CatchACursorOutside) {
  coord::ShardDump after = record();
  after.last_key = key("y");  // the end is outside
  EXPECT_EQ(rules_of(record(), after), Rules{"S6"});
}

TEST(RecordRules, CatchARangeThatShrinksWithoutAResidual) {
  coord::ShardDump after = record();
  after.end = key("m");
  EXPECT_EQ(rules_of(record(), after), Rules{"S7"});
  after.spawned = {coord::ShardId::from_raw(9)};
  EXPECT_EQ(rules_of(record(), after), Rules{});
  EXPECT_EQ(rules_of(after, record()), (Rules{"S7", "S7"}));
}

TEST(RecordRules, CatchARunThatComesBack) {
  coord::RunRecord before;
  before.status = coord::RunStatus::kCancelled;
  coord::RunRecord after = before;
  after.status = coord::RunStatus::kActive;
  Violations found;
  check_run_step(before, after, found);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].rule, "S8");
}

// ---- S7b -----------------------------------------------------------------------------------------

KeySpan span(std::string_view start, std::string_view end) {
  return {base::as_bytes(start), base::as_bytes(end)};
}

bool covers(std::initializer_list<KeySpan> spans) {
  const std::array registered{span("b", "k"), span("m", "t")};
  return tiles(registered, std::vector<KeySpan>(spans));
}

TEST(Coverage, IsExact) {
  EXPECT_TRUE(covers({span("b", "k"), span("m", "t")}));
  EXPECT_TRUE(covers({span("b", "c"), span("c", "k"), span("m", "n"), span("n", "t")}));
}

TEST(Coverage, CatchesEveryFault) {
  EXPECT_FALSE(covers({span("b", "c"), span("d", "k"), span("m", "t")})) << "a gap after a split";
  EXPECT_FALSE(covers({span("b", "e"), span("d", "k"), span("m", "t")})) << "an overlap";
  EXPECT_FALSE(covers({span("b", "k"), span("b", "k"), span("m", "t")})) << "one range twice";
  EXPECT_FALSE(covers({span("b", "k")})) << "a lost range";
  EXPECT_FALSE(covers({span("b", "j"), span("m", "t")})) << "a lost end";
  EXPECT_FALSE(covers({span("c", "k"), span("m", "t")})) << "a lost start";
  EXPECT_FALSE(covers({span("b", "l"), span("m", "t")})) << "more than was registered";
  EXPECT_FALSE(covers({span("b", "k"), span("m", "t"), span("t", "u")})) << "one range too many";
  EXPECT_FALSE(covers({span("b", "k"), span("m", "")})) << "a range without end";
  EXPECT_FALSE(covers({}));
}

// ---- S9 ------------------------------------------------------------------------------------------

class Cooldowns : public testing::Test {
 protected:
  void claim(std::uint64_t now, std::uint64_t worker) {
    Answer answer;
    answer.verdict = Verdict::kGranted;
    oracle_.observe(request(Call::kClaim, now, worker), answer, found_);
  }
  CooldownOracle oracle_{25};
  Violations found_;
};

TEST_F(Cooldowns, ThatAreKeptAreFine) {
  claim(10, 1);
  claim(11, 2);
  claim(35, 1);
  EXPECT_TRUE(found_.empty());
}

TEST_F(Cooldowns, ThatAreCutShortAreCaught) {
  claim(10, 1);
  claim(34, 1);
  EXPECT_EQ(found_.size(), 1U);
}

TEST_F(Cooldowns, WithoutReasonAreCaught) {
  claim(10, 1);
  Answer throttled;
  throttled.code = "throttled";
  oracle_.observe(request(Call::kClaim, 34, 1), throttled, found_);
  EXPECT_TRUE(found_.empty());
  oracle_.observe(request(Call::kClaim, 35, 1), throttled, found_);
  EXPECT_EQ(found_.size(), 1U);
}

}  // namespace
}  // namespace cadastre::sim
