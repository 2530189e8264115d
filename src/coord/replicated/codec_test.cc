// Golden bytes of commands and snapshots, and the way of every error through an answer.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "coord/conformance/words_testing.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/memory/memory_backend.h"
#include "coord/record_codec.h"
#include "coord/replicated/answer.h"
#include "coord/replicated/command.h"
#include "coord/replicated/settings.h"
#include "coord/replicated/snapshot_codec.h"
#include "shard/bytes_testing.h"

namespace cadastre::coord::replicated {
namespace {

using namespace conformance;  // NOLINT(google-build-using-namespace): its literals

std::string repeated_hex(const char* byte, int count) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += byte;
  return text;
}

Lease some_lease() {
  return *Lease::presented({.tenant = {},
                            .key = {1_run, 10_id},
                            .owner = 7_w,
                            .fence = FenceEpoch::from_raw(2),
                            .deadline = 105_t});
}

std::vector<Command> one_of_each() {
  static const std::array leases{some_lease(), some_lease()};
  static const std::array rows{
      InitialShardInput{10_id, spec("a"_b, "m"_b), CursorUpdate::make("b"_b, "t"_b)}};
  static const std::array children{child("a"_b, "f"_b), child("f"_b, "m"_b)};
  const auto cursor = CursorUpdate::make("b"_b);
  return {{{}, {}, Configure{{.claim_cooldown_interval = 5}}},
          {1_t, {}, CreateRun{1_run, {.lease_duration = 9, .max_shard_retries = 3}}},
          {1_t, {}, RegisterShards{1_run, 2_op, rows, rows.size()}},
          {1_t, {}, RegisterShards{1_run, 2_op, {}, 10'001}},
          {1_t, {}, Acquire{{1_run, 10_id}, 7_w}},
          {1_t, {}, Claim{1_run, 7_w}},
          {1_t, {}, Renew{some_lease()}},
          {1_t, {}, RenewMany{leases}},
          {1_t, {}, Checkpoint{some_lease(), cursor, 3_op}},
          {1_t, {}, Complete{some_lease(), cursor, 3_op}},
          {1_t, {}, Park{some_lease(), ParkReason::kPoisoned, 3_op}},
          {1_t, {}, Release{some_lease(), CursorUpdate::initial(), 3_op}},
          {1_t, {}, SplitReplace{some_lease(), 3_op, children}},
          {1_t, {}, SplitResidual{some_lease(), 3_op, spec("a"_b, "f"_b), spec("f"_b, "m"_b)}},
          {1_t, {}, CompleteRun{1_run, 3_op}},
          {1_t, {}, FailRun{1_run, 3_op}},
          {1_t, {}, CancelRun{1_run, 3_op}},
          {1_t, {}, Unpark{{1_run, 10_id}, 3_op}},
          {{}, {}, GcTerminalRuns{50_t}}};
}

TEST(Command, HasItsGoldenBytes) {
  const Command command{5_t, {}, Checkpoint{some_lease(), CursorUpdate::make("k"_b, "t"_b), 3_op}};
  EXPECT_EQ(base::to_hex(encode(command)),
            "0108"
            "0500000000000000" +
                repeated_hex("00", 32) +  // version, operation, now, tenant
                repeated_hex("00", 32) +
                "0100000000000000"
                "0a00000000000000"
                "0700000000000000"
                "0200000000000000"
                "6900000000000000"  // lease
                "01"
                "01000000"
                "6b"
                "01"
                "01000000"
                "74"  // cursor
                "0300000000000000");
}

TEST(Command, OfEveryKindHasOneForm) {
  CommandScratch scratch;
  for (const Command& command : one_of_each()) {
    const base::Bytes bytes = encode(command);
    const auto decoded = decode_command(bytes, scratch);
    ASSERT_TRUE(decoded.has_value()) << to_text(decoded.error());
    EXPECT_EQ(decoded->arguments.index(), command.arguments.index());
    EXPECT_EQ(encode(*decoded), bytes);
  }
}

// F4
TEST(Command, IsRefusedIfItIsCutOrLonger) {
  CommandScratch scratch;
  for (const Command& command : one_of_each()) {
    base::Bytes bytes = encode(command);
    for (std::size_t size = 0; size < bytes.size(); ++size)
      EXPECT_FALSE(decode_command(base::ByteView(bytes).first(size), scratch)) << size;
    bytes.push_back(std::byte{0});
    EXPECT_FALSE(decode_command(bytes, scratch));
  }
}

TEST(Command, OfANewerReleaseIsNotExecuted) {
  CommandScratch scratch;
  base::Bytes bytes = encode(one_of_each()[4]);
  bytes[0] = std::byte{2};
  EXPECT_EQ(decode_command(bytes, scratch).error().code, DecodeError::Code::kInvalidVersionPrefix);
  bytes[0] = std::byte{1};
  bytes[1] = std::byte{19};
  EXPECT_EQ(decode_command(bytes, scratch).error().code, DecodeError::Code::kInvalidBlobKind);
}

TEST(Command, WithoutATimeIsRefused) {
  CommandScratch scratch;
  base::Bytes bytes = encode(one_of_each()[4]);
  bytes[2] = std::byte{0};
  EXPECT_EQ(decode_command(bytes, scratch).error().code, DecodeError::Code::kInvariantViolation);
}

// Every error of a set, there and back.
template <class Reply, class... Errors>
void expect_survive(const Errors&... errors) {
  const auto one = [](const auto& error) {
    const Reply reply = base::fail(typename Reply::error_type(error));
    const auto decoded = decode_answer<Reply>(encode_answer(reply));
    ASSERT_TRUE(decoded.has_value()) << to_text(decoded.error());
    ASSERT_FALSE(decoded->has_value());
    EXPECT_EQ(decoded->error(), error);
  };
  (one(errors), ...);
}

TEST(Answer, CarriesEveryError) {
  const ShardKey key{1_run, 2_id};
  shard::SplitError split;
  split.code = shard::SplitError::Code::kShardLimitExceeded;
  split.scope = shard::SplitError::Scope::kGlobal;
  split.values = {1, 2, 3, 4};
  shard::ManifestError manifest;
  manifest.code = shard::ManifestError::Code::kInvalidSpec;
  manifest.shard = 3_id;
  manifest.other = 4_id;
  manifest.size = 5;
  manifest.max = 6;
  manifest.spec_error = shard::SpecError::inverted_range(7, 8);
  const InfraError corrupt = corruption("op_log.replay", "why");
  expect_survive<CheckpointReply>(
      ShardNotFound{key}, TenantMismatch{}, ShardTerminal{key, ShardStatus::kSplit},
      StaleFence{FenceEpoch::from_raw(1), FenceEpoch::from_raw(2)}, LeaseExpired{3_t, 4_t},
      OpIdConflict(1_op, 2, 3), CheckpointMissingKey{}, CursorKeyTooLarge{1, 2},
      CursorTokenTooLarge{3, 4}, CursorRegression{std::nullopt, 5}, CursorOutOfBounds{1, 2, 3},
      ResourceExhausted{{base::SlabResource::kLiveEntries, 1, 2}}, corrupt);
  expect_survive<SplitReplaceReply>(SplitInvalid{split});
  expect_survive<RegisterReply>(
      RunNotFound{1_run}, WrongStatus{RunStatus::kDone, RunStatus::kFailed}, WrongStatus{},
      ManifestInvalid{manifest}, RunOpIdConflict{9_op},
      ShardLimitExceeded{1, 2, 3, shard::SplitError::Scope::kPerTenant},
      RegistrationExhausted{"entry_bytes"}, RegistrationExhausted{"shard_slab"});
  expect_survive<CreateRunReply>(InvalidConfig{}, RunAlreadyExists{7_run});
  expect_survive<UnparkReply>(RunTerminal{RunStatus::kCancelled}, NotParked{ShardStatus::kDone});
  expect_survive<RenewManyReply>(TooManyLeases{2000, 1024});
  expect_survive<CountReply>(corrupt, transient("split_residual.probe", ""));
  const auto claim = decode_answer<ClaimReply>(
      encode_answer(Result<AcquireResultView, ClaimError>(base::fail(ClaimError(Throttled{9_t})))));
  EXPECT_EQ((*claim).error(), Throttled{9_t});
  const auto acquire = decode_answer<AcquireReply>(encode_answer(
      Result<AcquireResultView, AcquireError>(base::fail(AcquireError(AlreadyLeased(3_w, 4_t))))));
  EXPECT_EQ((*acquire).error(), AlreadyLeased(3_w, 4_t));
}

TEST(Answer, OfAnotherOperationIsRefused) {
  const CheckpointReply missing = base::fail(CheckpointError(CheckpointMissingKey{}));
  EXPECT_FALSE(decode_answer<ParkReply>(encode_answer(missing)).has_value());
}

TEST(Snapshot, HasItsGoldenBytes) {
  const memory::MemoryBackend records({});
  const SnapshotHead head{true, {log::Term{4}, log::Index{9}}, {.claim_cooldown_interval = 3}};
  base::Bytes bytes = encode_snapshot(head, records, {{TenantId{}, 7_t}});
  EXPECT_EQ(base::to_hex(bytes),
            "43444353"
            "0100"
            "01"
            "00"
            "0400000000000000"
            "0900000000000000"
            "a086010000000000"
            "40420f0000000000"
            "0300000000000000"
            "0000004000000000"
            "0001000000000000"  // settings
            "0100000000000000"  // one record
            "2f000000"
            "763105"
            "01000000" +
                repeated_hex("00", 32) + "0700000000000000");
  seal(bytes);
  const auto content = decode_snapshot(bytes);
  ASSERT_TRUE(content.has_value()) << content.error().detail;
  EXPECT_EQ(content->head, head);
  EXPECT_EQ(content->times.size(), 1U);
}

}  // namespace
}  // namespace cadastre::coord::replicated
