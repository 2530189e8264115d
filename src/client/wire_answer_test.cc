// Answers come back as they were given, without what does not leave; a peer's nonsense is an error.

#include "client/wire_answer.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cadastre/v1/coordination.pb.h"

#include "base/bytes.h"
#include "base/result.h"
#include "coord/backend.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/identity_testing.h"
#include "coord/lease.h"
#include "coord/limits.h"
#include "coord/outcome.h"
#include "coord/progress.h"
#include "coord/run_record.h"
#include "coord/shard_record.h"
#include "coord/shard_summary.h"
#include "coord/snapshot.h"
#include "coord/states.h"
#include "shard/bytes_testing.h"
#include "shard/cursor.h"
#include "shard/shard_spec.h"

namespace cadastre::client {
namespace {

using coord::testing::at;
using coord::testing::op;
using coord::testing::tenant_of;
using coord::testing::worker;
using shard::testing::operator""_b;

const coord::TenantId kTenant = tenant_of(1);
const coord::RunId kRun = coord::RunId::from_raw(7);

coord::ShardId id(std::uint64_t raw) {
  return coord::ShardId::from_raw(raw);
}

template <class Message, class T>
Message sent(const T& answer) {
  Message message;
  encode(answer, message);
  return message;
}

coord::ShardDump a_shard() {
  coord::ShardDump shard;
  shard.state.tenant = kTenant;
  shard.state.run = kRun;
  shard.state.shard = id(9);
  shard.state.parent = id(8);
  shard.state.semantics = coord::CursorSemantics::kDispatched;
  shard.state.lease = coord::LeaseHolder{worker(3), at(110)};
  shard.state.fence = coord::FenceEpoch::from_raw(5);
  shard.state.op_log.push_back_overwrite({.op_id = op(4),
                                          .payload_hash = 0x1122334455667788,
                                          .executed_at = at(20),
                                          .kind = coord::OpKind::kSplitResidual});
  shard.start = base::to_owned("a"_b);
  shard.end = base::to_owned("z"_b);
  shard.metadata = base::to_owned("meta"_b);
  shard.last_key = base::to_owned("k"_b);
  shard.token = base::to_owned("t"_b);
  shard.spawned = {id(11), id(12)};
  return shard;
}

coord::ShardDump without_hashes(coord::ShardDump shard) {
  coord::OpLog log;
  for (coord::OpLogEntry entry : shard.state.op_log) {
    entry.payload_hash = 0;
    log.push_back_overwrite(entry);
  }
  shard.state.op_log = log;
  return shard;
}

TEST(WireAnswers, AShardComesBackWithoutHashes) {
  coord::ShardDump shard = a_shard();
  EXPECT_EQ(decode(sent<v1::Shard>(shard), kTenant), without_hashes(shard));
  shard.state.lease.reset();
  shard.state.status = coord::ShardStatus::kParked;
  shard.state.park_reason = coord::ParkReason::kPoisoned;
  shard.state.parent.reset();
  shard.last_key.clear();
  shard.token.clear();
  EXPECT_EQ(decode(sent<v1::Shard>(shard), kTenant), without_hashes(shard));
  // SEC-1: whatever the hashes are, the message is the same.
  EXPECT_EQ(sent<v1::Shard>(a_shard()).SerializeAsString(),
            sent<v1::Shard>(without_hashes(a_shard())).SerializeAsString());
}

TEST(WireAnswers, ARunComesBackWithoutItsLog) {
  coord::RunRecord run;
  run.tenant = kTenant;
  run.run = kRun;
  run.config = {.cursor_semantics = coord::CursorSemantics::kDispatched,
                .lease_duration = 100,
                .max_shard_retries = 5};
  run.status = coord::RunStatus::kFailed;
  run.created_at = at(1);
  run.completed_at = at(9);
  run.root_shards = {id(10), id(11)};
  EXPECT_TRUE(decode(sent<v1::Run>(run), kTenant) == run);
}

TEST(WireAnswers, OfRunsComeBack) {
  coord::RunProgress progress{
      .total = 6, .active = 1, .done = 2, .split = 1, .parked = 2, .leased = 1, .watermark = {}};
  EXPECT_TRUE(decode(sent<v1::RunProgress>(progress)) == progress);
  progress.watermark = coord::FixedKey("m"_b);
  EXPECT_TRUE(decode(sent<v1::RunProgress>(progress)) == progress);

  const std::vector<coord::RunId> runs = {kRun, coord::RunId::from_raw(8)};
  EXPECT_EQ(decode(sent<v1::ListRunsResponse>(runs)), runs);
  const coord::ClaimCandidates candidates{{id(1), id(2)}, at(50)};
  EXPECT_EQ(decode(sent<v1::ListClaimCandidatesResponse>(candidates)), candidates);
  const auto registered = IdempotentOutcome<std::vector<coord::ShardId>>::replayed({id(2), id(1)});
  EXPECT_TRUE(decode(sent<v1::RegisterShardsResponse>(registered)) == registered);
  EXPECT_EQ(decode(sent<v1::CollectTerminalRunsResponse>(std::size_t{12})), 12U);
  const auto unparked =
      IdempotentOutcome<coord::FenceEpoch>::executed(coord::FenceEpoch::from_raw(6));
  EXPECT_TRUE(decode(sent<v1::UnparkShardResponse>(unparked)) == unparked);
}

TEST(WireAnswers, ASummaryComesBack) {
  coord::ShardSummary summary;
  summary.shard = id(9);
  summary.status = coord::ShardStatus::kParked;
  summary.park_reason = coord::ParkReason::kOther;
  summary.is_leased = true;
  summary.lease_deadline = at(110);
  summary.owner = worker(3);
  summary.fence = coord::FenceEpoch::from_raw(5);
  summary.acquire_count = 4;
  summary.last_key = coord::FixedKey("k"_b);
  summary.start = coord::FixedKey("a"_b);
  summary.end = coord::FixedKey("z"_b);
  summary.parent = id(8);
  summary.spawned_count = 2;
  const auto back = decode(sent<v1::ListShardsResponse>(std::vector{summary})).value().at(0);
  // As often as it is sent, it is the same message.
  EXPECT_EQ(sent<v1::ListShardsResponse>(std::vector{back}).SerializeAsString(),
            sent<v1::ListShardsResponse>(std::vector{summary}).SerializeAsString());
  EXPECT_EQ(back.owner, summary.owner);
  EXPECT_EQ(back.park_reason, summary.park_reason);
}

TEST(WireAnswers, AGrantComesBackInTheCallersScratch) {
  const coord::ShardDump shard = a_shard();
  base::Bytes packed(2 * sizeof(std::uint64_t));
  packed.front() = std::byte{11};
  packed.at(sizeof(std::uint64_t)) = std::byte{12};
  const coord::AcquireResultView granted{
      .lease = coord::Lease::granted({.tenant = kTenant,
                                      .key = {kRun, id(9)},
                                      .owner = worker(3),
                                      .fence = coord::FenceEpoch::from_raw(5),
                                      .deadline = at(110)}),
      .snapshot = {.status = coord::ShardStatus::kActive,
                   .semantics = coord::CursorSemantics::kDispatched,
                   .spec = shard::ShardSpecRef::unchecked("a"_b, "z"_b, "meta"_b),
                   .cursor = shard::CursorUpdate::make("k"_b, "t"_b),
                   .parent = id(8),
                   .spawned = coord::SpawnedView(packed)},
      .capacity = {.available_count = 2, .earliest_deadline = at(50)}};
  const auto scratch = std::make_unique<coord::AcquireScratch>();
  const auto back = decode(sent<v1::Grant>(granted), kTenant, *scratch);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->lease, granted.lease);
  EXPECT_EQ(back->snapshot.spec, granted.snapshot.spec);
  EXPECT_EQ(back->snapshot.cursor, granted.snapshot.cursor);
  EXPECT_EQ(back->snapshot.semantics, granted.snapshot.semantics);
  EXPECT_EQ(back->snapshot.parent, granted.snapshot.parent);
  ASSERT_EQ(back->snapshot.spawned.size(), 2U);
  EXPECT_EQ(back->snapshot.spawned[1], id(12));
  EXPECT_EQ(back->capacity, granted.capacity);
}

TEST(WireAnswers, OfWorkersComeBack) {
  const auto done = IdempotentOutcome<coord::Unit>::executed({});
  EXPECT_TRUE(decode(sent<v1::OutcomeResponse>(done)) == done);
  const auto residual = IdempotentOutcome<coord::SplitResidualResult>::replayed({id(13)});
  EXPECT_TRUE(decode(sent<v1::SplitResidualResponse>(residual)) == residual);
  coord::SplitReplaceResult children;
  children.children = {id(1), id(2), id(3)};
  const auto split = IdempotentOutcome<coord::SplitReplaceResult>::executed(children);
  EXPECT_TRUE(decode(sent<v1::SplitReplaceResponse>(split)) == split);

  coord::CoordinationBackend::RenewedLeases renewed;
  renewed.emplace_back(coord::RenewResult{at(120), {1, std::nullopt}});
  renewed.emplace_back(base::fail(coord::RenewError(
      coord::StaleFence{coord::FenceEpoch::from_raw(1), coord::FenceEpoch::from_raw(2)})));
  const auto message = sent<v1::RenewManyResponse>(renewed);
  EXPECT_TRUE(decode(message, kTenant, 2) == renewed);
  EXPECT_FALSE(decode(message, kTenant, 3)) << "one result for each lease";
}

// ---- A peer's nonsense -----------------------------------------------------------------------------

TEST(WireAnswers, WhatNoServerSendsIsAnError) {
  const auto scratch = std::make_unique<coord::AcquireScratch>();
  EXPECT_FALSE(decode(v1::Grant(), kTenant, *scratch));
  EXPECT_FALSE(decode(v1::OutcomeResponse()));
  EXPECT_FALSE(decode(v1::Run(), kTenant));
  EXPECT_FALSE(decode(v1::Shard(), kTenant));
  EXPECT_FALSE(decode(v1::RenewResponse()));

  v1::RunProgress progress;
  progress.set_watermark(std::string(coord::kMaxKeySize + 1, 'x'));
  EXPECT_FALSE(decode(progress));
  v1::SplitReplaceResponse split;
  split.set_outcome(v1::OUTCOME_EXECUTED);
  for (std::size_t i = 0; i <= coord::kMaxSplitChildren; ++i)
    split.add_children(i);
  EXPECT_FALSE(decode(split));
  v1::Shard shard = sent<v1::Shard>(a_shard());
  shard.clear_deadline();
  EXPECT_FALSE(decode(shard, kTenant));
  shard = sent<v1::Shard>(a_shard());
  for (std::size_t i = 0; i < coord::kOpLogCapacity; ++i)
    *shard.add_op_log() = shard.op_log(0);
  EXPECT_FALSE(decode(shard, kTenant));
}

TEST(WireAnswers, AGrantThatWouldNotFitIsAnError) {
  const auto scratch = std::make_unique<coord::AcquireScratch>();
  v1::Grant good;
  good.mutable_lease()->set_fence(1);
  good.mutable_lease()->set_deadline(1);
  good.set_cursor_semantics(v1::CURSOR_SEMANTICS_COMPLETED);
  ASSERT_TRUE(decode(good, kTenant, *scratch));
  v1::Grant grant = good;
  grant.mutable_spec()->set_metadata(std::string(coord::kMaxMetadataSize + 1, 'x'));
  EXPECT_FALSE(decode(grant, kTenant, *scratch));
  grant = good;
  grant.mutable_cursor()->set_last_key(std::string(coord::kMaxKeySize + 1, 'x'));
  EXPECT_FALSE(decode(grant, kTenant, *scratch));
  grant = good;
  grant.mutable_cursor()->set_last_key("k");
  grant.mutable_cursor()->set_token(std::string(coord::kMaxTokenSize + 1, 'x'));
  EXPECT_FALSE(decode(grant, kTenant, *scratch));
  grant = good;
  for (std::size_t i = 0; i <= coord::kMaxSpawnedPerShard; ++i)
    grant.add_spawned(i);
  EXPECT_FALSE(decode(grant, kTenant, *scratch));
}

}  // namespace
}  // namespace cadastre::client
