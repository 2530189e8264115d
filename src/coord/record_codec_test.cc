#include "coord/record_codec.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/endian.h"
#include "coord/backend.h"
#include "coord/held_shard_testing.h"
#include "coord/identity.h"
#include "coord/identity_testing.h"
#include "coord/lease.h"
#include "coord/limits.h"
#include "coord/op_log.h"
#include "coord/run_record.h"
#include "coord/states.h"
#include "shard/bytes_testing.h"
#include "shard/limits.h"

namespace cadastre::coord {
namespace {

using Code = DecodeError::Code;
using shard::testing::repeated;
using shard::testing::operator""_b;
using testing::at;
using testing::op;
using testing::worker;

ShardId derived(std::uint64_t id) {
  return ShardId::from_raw(shard::kDerivedShardBit | id);
}

OpLogEntry entry(std::uint64_t id, OpKind kind, std::uint64_t time) {
  return {.op_id = op(id),
          .payload_hash = 1000 + id,
          .executed_at = at(time),
          .kind = kind,
          .result = OpResult::kCompleted};
}

// Every optional field is present, every list has two entries.
ShardDump full_shard() {
  const testing::HeldShard held;
  ShardDump shard = held.record;
  shard.state.shard = derived(7);
  shard.state.parent = ShardId::from_raw(10);
  shard.metadata = base::to_owned("meta"_b);
  shard.last_key = base::to_owned("d"_b);
  shard.token = base::to_owned("tok"_b);
  shard.spawned = {derived(1), derived(2)};
  shard.state.op_log.push_back_overwrite(entry(1, OpKind::kCheckpoint, 11));
  shard.state.op_log.push_back_overwrite(entry(2, OpKind::kSplitResidual, 12));
  return shard;
}

ShardDump parked_shard() {
  ShardDump shard = full_shard();
  shard.state.status = ShardStatus::kParked;
  shard.state.park_reason = ParkReason::kPoisoned;
  shard.state.lease = std::nullopt;
  return shard;
}

RunOpLogEntry run_entry(std::uint64_t id, RunOpKind kind, std::uint64_t time) {
  RunOpLogEntry logged;
  logged.op_id = op(id);
  logged.payload_hash = 1000 + id;
  logged.executed_at = at(time);
  logged.kind = kind;
  return logged;
}

RunRecord full_run() {
  RunRecord run;
  run.tenant = testing::tenant_of(1);
  run.run = RunId::from_raw(1);
  run.config = {.cursor_semantics = CursorSemantics::kDispatched,
                .lease_duration = 100,
                .max_shard_retries = 5};
  run.status = RunStatus::kDone;
  run.created_at = at(1);
  run.completed_at = at(12);
  run.root_shards = {ShardId::from_raw(10), ShardId::from_raw(11)};
  auto registration = run_entry(1, RunOpKind::kRegisterShards, 2);
  registration.registered = run.root_shards;
  run.op_log.push_back_overwrite(registration);
  run.op_log.push_back_overwrite(run_entry(2, RunOpKind::kCompleteRun, 12));
  return run;
}

// Where two encodings begin to differ. A field is found by encoding a record with another value.
std::size_t place_of_difference(const base::Bytes& a, const base::Bytes& b) {
  const auto [left, right] = std::ranges::mismatch(a, b);
  EXPECT_NE(left, a.end());
  return static_cast<std::size_t>(left - a.begin());
}

template <class Record, class Change>
std::size_t place_of(const Record& record, const Change& change) {
  Record changed = record;
  change(changed);
  return place_of_difference(encode(record), encode(changed));
}

base::Bytes with_byte(base::Bytes bytes, std::size_t place, unsigned value) {
  bytes.at(place) = static_cast<std::byte>(value);
  return bytes;
}

base::Bytes with_word(base::Bytes bytes, std::size_t place, std::uint64_t value) {
  base::store_le(&bytes.at(place), value);
  EXPECT_LE(place + sizeof value, bytes.size());
  return bytes;
}

base::Bytes with_count(base::Bytes bytes, std::size_t place, std::uint32_t count) {
  base::store_le(&bytes.at(place), count);
  return bytes;
}

DecodeError shard_error(const base::Bytes& bytes) {
  const auto decoded = decode_shard(bytes);
  EXPECT_FALSE(decoded.has_value());
  return decoded ? DecodeError{} : decoded.error();
}

DecodeError run_error(const base::Bytes& bytes) {
  const auto decoded = decode_run(bytes);
  EXPECT_FALSE(decoded.has_value());
  return decoded ? DecodeError{} : decoded.error();
}

DecodeError too_large(std::uint64_t actual, std::uint64_t max) {
  return {.code = Code::kFieldTooLarge, .first = actual, .second = max, .what = {}};
}

TEST(RecordCodec, FullRecordsSurvive) {
  EXPECT_EQ(decode_shard(encode(full_shard())), full_shard());
  EXPECT_EQ(decode_shard(encode(parked_shard())), parked_shard());
  EXPECT_EQ(decode_run(encode(full_run())), full_run());
}

TEST(RecordCodec, AViewEncodesAsItsRecord) {
  const ShardDump shard = full_shard();
  base::Bytes scratch;
  EXPECT_EQ(encode(view_of(shard, scratch)), encode(shard));
}

// C-10.3: forward only, and never past the end.
TEST(RecordCodec, EveryTruncationIsAnError) {
  const auto check = [](const base::Bytes& bytes, const auto& decode) {
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const base::Bytes cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
      const auto decoded = decode(cut);
      ASSERT_FALSE(decoded.has_value()) << size;
      EXPECT_EQ(decoded.error().code, Code::kTruncated) << size;
      EXPECT_GT(decoded.error().first, decoded.error().second) << size;
    }
  };
  check(encode(full_shard()), decode_shard);
  check(encode(parked_shard()), decode_shard);
  check(encode(full_run()), decode_run);
  check(encode(OwnerValue{worker(9), FenceEpoch::from_raw(2)}), decode_owner);
  check(encode_shard_count(3), decode_shard_count);
}

// Every byte behind the end is counted.
TEST(RecordCodec, WhatFollowsARecordIsAnError) {
  for (const std::size_t extra : {1U, 8U, 1000U}) {
    const DecodeError expected{
        .code = Code::kTrailingBytes, .first = extra, .second = 0, .what = {}};
    base::Bytes shard = encode(full_shard());
    shard.resize(shard.size() + extra);
    EXPECT_EQ(shard_error(shard), expected);
    base::Bytes run = encode(full_run());
    run.resize(run.size() + extra);
    EXPECT_EQ(run_error(run), expected);
  }
}

// A stored enum takes its values and no other; `last` is the largest.
template <class Decode>
void expect_enum_at(const base::Bytes& bytes,
                    std::size_t place,
                    unsigned last,
                    std::string_view type,
                    const Decode& decode) {
  for (unsigned value = 0; value <= 255; ++value) {
    const auto decoded = decode(with_byte(bytes, place, value));
    if (value <= last) {
      EXPECT_TRUE(decoded || decoded.error().code == Code::kInvariantViolation) << type << value;
      continue;
    }
    ASSERT_FALSE(decoded.has_value()) << type << value;
    const DecodeError expected{.code = Code::kInvalidEnum, .first = value, .second = 0, .what = {}};
    EXPECT_EQ(decoded.error(), expected) << type << value;
    EXPECT_EQ(decoded.error().what, type);
  }
}

TEST(RecordCodec, EveryEnumOfAShardIsBounded) {
  const ShardDump shard = full_shard();
  const base::Bytes bytes = encode(shard);
  const auto log_place = [&](std::size_t offset) {
    // The last entry ends the record: op id 8, kind 1, result 1, hash 8, time 8.
    return bytes.size() - 26 + offset;
  };
  ShardDump done = shard;
  done.state.lease = std::nullopt;
  const std::size_t status =
      place_of(done, [](ShardDump& s) { s.state.status = ShardStatus::kDone; });
  expect_enum_at(bytes, status, 3, "ShardStatus", decode_shard);
  const std::size_t semantics =
      place_of(shard, [](ShardDump& s) { s.state.semantics = CursorSemantics::kDispatched; });
  expect_enum_at(bytes, semantics, 1, "CursorSemantics", decode_shard);
  expect_enum_at(bytes, log_place(8), 6, "OpKind", decode_shard);
  expect_enum_at(bytes, log_place(9), 2, "OpResult", decode_shard);
  const ShardDump parked = parked_shard();
  const std::size_t reason =
      place_of(parked, [](ShardDump& s) { s.state.park_reason = ParkReason::kOther; });
  expect_enum_at(encode(parked), reason, 4, "ParkReason", decode_shard);
}

TEST(RecordCodec, EveryEnumOfARunIsBounded) {
  const RunRecord run = full_run();
  const base::Bytes bytes = encode(run);
  const std::size_t semantics =
      place_of(run, [](RunRecord& r) { r.config.cursor_semantics = CursorSemantics::kCompleted; });
  expect_enum_at(bytes, semantics, 1, "CursorSemantics", decode_run);
  const std::size_t status = place_of(run, [](RunRecord& r) { r.status = RunStatus::kFailed; });
  expect_enum_at(bytes, status, 4, "RunStatus", decode_run);
  // The last entry ends the record: op id 8, kind 1, hash 8, time 8, result 1.
  expect_enum_at(bytes, bytes.size() - 18, 3, "RunOpKind", decode_run);
  for (const unsigned result : {0U, 3U, 255U}) {
    const DecodeError error = run_error(with_byte(bytes, bytes.size() - 1, result));
    EXPECT_EQ(error.code, Code::kInvalidEnum);
    EXPECT_EQ(error.what, "RunOpResult");
  }
}

// Absent is 0, present is 1; anything else is no answer.
TEST(RecordCodec, EveryPresenceByteIsZeroOrOne) {
  const auto check = [](const base::Bytes& bytes, std::size_t place, const auto& decode) {
    for (const unsigned value : {2U, 3U, 128U, 255U}) {
      const auto decoded = decode(with_byte(bytes, place, value));
      ASSERT_FALSE(decoded.has_value());
      const DecodeError expected{
          .code = Code::kInvalidBool, .first = value, .second = 0, .what = {}};
      EXPECT_EQ(decoded.error(), expected) << place;
    }
  };
  const ShardDump shard = full_shard();
  const base::Bytes bytes = encode(shard);
  const auto absent = [&](const auto& change) {
    check(bytes, place_of(shard, change), decode_shard);
  };
  absent([](ShardDump& s) { s.last_key.clear(), s.token.clear(); });
  absent([](ShardDump& s) { s.token.clear(); });
  absent([](ShardDump& s) { s.state.lease = std::nullopt; });
  const ShardDump parked = parked_shard();
  const std::size_t reason =
      place_of(parked, [](ShardDump& s) { s.state.park_reason = ParkReason::kOther; });
  check(encode(parked), reason - 1, decode_shard);
  const std::size_t fence =
      place_of(shard, [](ShardDump& s) { s.state.fence = FenceEpoch::from_raw(3); });
  check(bytes, fence + 8, decode_shard);  // of the parent

  const RunRecord run = full_run();
  check(encode(run), place_of(run, [](RunRecord& r) { r.config.max_shard_retries = std::nullopt; }),
        decode_run);
  const std::size_t created = place_of(run, [](RunRecord& r) { r.created_at = at(2); });
  check(encode(run), created + 8, decode_run);  // of completed_at
}

// C-10.3: bounds come before allocation, and before what the record lacks.
TEST(RecordCodec, CountsAreBounded) {
  const ShardDump shard = full_shard();
  const std::size_t spawned = place_of(shard, [](ShardDump& s) { s.spawned.pop_back(); });
  EXPECT_EQ(shard_error(with_count(encode(shard), spawned, 1025)), too_large(1025, 1024));
  EXPECT_EQ(shard_error(with_count(encode(shard), spawned, 1024)).code, Code::kTruncated);
  const std::size_t log = place_of(shard, [](ShardDump& s) { s.state.op_log = {}; });
  EXPECT_EQ(shard_error(with_count(encode(shard), log, 17)), too_large(17, 16));
  EXPECT_EQ(shard_error(with_count(encode(shard), log, 16)).code, Code::kTruncated);

  const RunRecord run = full_run();
  const std::size_t roots = place_of(run, [](RunRecord& r) { r.root_shards.pop_back(); });
  EXPECT_EQ(run_error(with_count(encode(run), roots, 10'001)), too_large(10'001, 10'000));
  EXPECT_EQ(run_error(with_count(encode(run), roots, 10'000)).code, Code::kTruncated);
  const std::size_t run_log = place_of(run, [](RunRecord& r) { r.op_log = {}; });
  EXPECT_EQ(run_error(with_count(encode(run), run_log, 9)), too_large(9, 8));
  const std::size_t registered = run_log + 4 + 8 + 1 + 8 + 8 + 1;
  EXPECT_EQ(run_error(with_count(encode(run), registered, 10'001)), too_large(10'001, 10'000));
  EXPECT_EQ(
      run_error(with_count(encode(run), registered, std::numeric_limits<std::uint32_t>::max())),
      too_large(std::numeric_limits<std::uint32_t>::max(), 10'000));
}

TEST(RecordCodec, FullListsSurvive) {
  ShardDump shard = full_shard();
  shard.spawned.clear();
  for (std::uint64_t i = 0; i < kMaxSpawnedPerShard; ++i)
    shard.spawned.push_back(derived(i));
  shard.state.op_log = {};
  for (std::uint64_t i = 0; i < kOpLogCapacity; ++i)
    shard.state.op_log.push_back_overwrite(entry(i, OpKind::kCheckpoint, 5));
  EXPECT_EQ(decode_shard(encode(shard)), shard);

  RunRecord run = full_run();
  for (std::uint64_t i = run.root_shards.size(); i < kMaxInitialShards; ++i)
    run.root_shards.push_back(ShardId::from_raw(100 + i));
  EXPECT_EQ(decode_run(encode(run)), run);
}

// C-10.3: OpResult Error and Superseded are reserved and decode.
TEST(RecordCodec, ReservedResultsDecode) {
  ShardDump shard = full_shard();
  auto reserved = entry(3, OpKind::kRelease, 13);
  reserved.result = OpResult::kSuperseded;
  shard.state.op_log.push_back_overwrite(reserved);
  EXPECT_EQ(decode_shard(encode(shard)), shard);
}

TEST(RecordCodec, DuplicatesAreRefused) {
  const ShardDump shard = full_shard();
  const base::Bytes bytes = encode(shard);
  const std::size_t spawned = place_of(shard, [](ShardDump& s) { s.spawned.pop_back(); });
  const auto same_child = with_word(bytes, spawned + 4 + 8, derived(1).raw());
  EXPECT_EQ(shard_error(same_child).code, Code::kInvariantViolation);
  EXPECT_EQ(shard_error(same_child).what, "spawned shards are distinct");
  const auto same_op = with_word(bytes, bytes.size() - 26, 1);
  EXPECT_EQ(shard_error(same_op).what, "op ids are distinct");

  const RunRecord run = full_run();
  const base::Bytes run_bytes = encode(run);
  const std::size_t roots = place_of(run, [](RunRecord& r) { r.root_shards.pop_back(); });
  EXPECT_EQ(run_error(with_word(run_bytes, roots + 4 + 8, 10)).what, "root shards are distinct");
  EXPECT_EQ(run_error(with_word(run_bytes, run_bytes.size() - 26, 1)).what, "op ids are distinct");
}

// C-10.3: hashes and times of logged operations are not 0, a lease has a deadline.
TEST(RecordCodec, ZeroIsNoHashNoTimeAndNoDeadline) {
  const base::Bytes bytes = encode(full_shard());
  EXPECT_EQ(shard_error(with_word(bytes, bytes.size() - 16, 0)).what, "a logged hash is not 0");
  EXPECT_EQ(shard_error(with_word(bytes, bytes.size() - 8, 0)).what, "a logged time is not 0");
  const std::size_t deadline =
      place_of(full_shard(), [](ShardDump& s) { s.state.lease->deadline = at(111); });
  EXPECT_EQ(shard_error(with_word(bytes, deadline, 0)).what, "a lease has a deadline");
  const base::Bytes run_bytes = encode(full_run());
  EXPECT_EQ(run_error(with_word(run_bytes, run_bytes.size() - 17, 0)).what,
            "a logged hash is not 0");
  EXPECT_EQ(run_error(with_word(run_bytes, run_bytes.size() - 9, 0)).what,
            "a logged time is not 0");
}

// The bytes of a field, with their length.
base::Bytes field(base::ByteView content) {
  base::Bytes bytes(sizeof(std::uint32_t));
  base::store_le(bytes.data(), static_cast<std::uint32_t>(content.size()));
  bytes.insert(bytes.end(), content.begin(), content.end());
  return bytes;
}

// `shard` with another field of the same name in place of `before`, which begins at `place`.
base::Bytes with_field(base::Bytes bytes,
                       std::size_t place,
                       base::ByteView before,
                       base::ByteView after) {
  const auto first = std::next(bytes.begin(), static_cast<std::ptrdiff_t>(place));
  const auto old_bytes = static_cast<std::ptrdiff_t>(sizeof(std::uint32_t) + before.size());
  const base::Bytes fresh = field(after);
  const auto gap = bytes.erase(first, std::next(first, old_bytes));
  bytes.insert(gap, fresh.begin(), fresh.end());
  return bytes;
}

TEST(RecordCodec, FieldsBeyondTheAlgebrasLimitsAreRefused) {
  const base::Bytes bytes = encode(full_shard());
  constexpr std::size_t kStart = 52 + 1;  // behind the status and the absent park reason
  constexpr std::size_t kEnd = kStart + 5;
  constexpr std::size_t kMetadata = kEnd + 5;
  constexpr std::size_t kLastKey = kMetadata + 8 + 1;
  constexpr std::size_t kToken = kLastKey + 5 + 1;
  const auto changed = [&](std::size_t place, base::ByteView before, base::ByteView after) {
    return shard_error(with_field(bytes, place, before, after)).code;
  };
  EXPECT_EQ(changed(kStart, "a"_b, repeated('a', kMaxKeySize + 1)), Code::kInvalidSpec);
  EXPECT_EQ(changed(kEnd, "z"_b, repeated('z', kMaxKeySize + 1)), Code::kInvalidSpec);
  EXPECT_EQ(changed(kEnd, "z"_b, "a"_b), Code::kInvalidSpec) << "an empty range";
  EXPECT_EQ(changed(kMetadata, "meta"_b, repeated('m', kMaxMetadataSize + 1)), Code::kInvalidSpec);
  EXPECT_EQ(changed(kLastKey, "d"_b, repeated('d', kMaxKeySize + 1)), Code::kInvalidCursor);
  EXPECT_EQ(changed(kToken, "tok"_b, repeated('t', kMaxTokenSize + 1)), Code::kInvalidCursor);
  EXPECT_EQ(changed(kLastKey, "d"_b, {}), Code::kInvalidCursor) << "present, yet empty";
  EXPECT_EQ(changed(kToken, "tok"_b, {}), Code::kInvalidCursor) << "present, yet empty";
  EXPECT_EQ(changed(kLastKey, "d"_b, "z"_b), Code::kInvariantViolation) << "outside the range";
}

TEST(RecordCodec, FieldsAtTheAlgebrasLimitsSurvive) {
  ShardDump shard = full_shard();
  shard.start = repeated('a', kMaxKeySize);
  shard.end = repeated('z', kMaxKeySize);
  shard.metadata = repeated('m', kMaxMetadataSize);
  shard.last_key = repeated('d', kMaxKeySize);
  shard.token = repeated('t', kMaxTokenSize);
  EXPECT_EQ(decode_shard(encode(shard)), shard);
}

TEST(RecordCodec, ACountIsEightBytes) {
  EXPECT_EQ(decode_shard_count(encode_shard_count(std::numeric_limits<std::uint64_t>::max())),
            std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(decode_shard_count(repeated(1, 9)).error().code, Code::kTrailingBytes);
}

TEST(RecordCodec, TextsOfErrorsNameTheirNumbers) {
  EXPECT_EQ(to_text(too_large(17, 16)), "field_too_large (17, 16)");
  const DecodeError error{.code = Code::kInvalidEnum, .first = 9, .second = 0, .what = "OpKind"};
  EXPECT_EQ(to_text(error), "invalid_enum (9, 0): OpKind");
}

// [C] of 10.3: nothing undecodable is ever written.
TEST(RecordCodecDeathTest, AnEncoderRefusesWhatADecoderWould) {
  const auto refused = [](const auto& change) {
    ShardDump shard = full_shard();
    change(shard);
    base::Bytes scratch;
    return encode(view_of(shard, scratch));
  };
  EXPECT_DEATH((void)refused([](ShardDump& s) { s.state.fence = kFenceUnassigned; }),
               "the fence is at least 1");
  EXPECT_DEATH((void)refused([](ShardDump& s) { s.end = s.start, s.last_key.clear(); }),
               "a stored spec is valid");
  EXPECT_DEATH((void)refused([](ShardDump& s) { s.spawned[1] = s.spawned[0]; }),
               "stored spawned shards are distinct");
  EXPECT_DEATH((void)refused([](ShardDump& s) { s.token = repeated('t', kMaxTokenSize + 1); }),
               "a stored cursor has a legal size");
  EXPECT_DEATH((void)refused([](ShardDump& s) {
                 auto zero = entry(3, OpKind::kCheckpoint, 13);
                 zero.payload_hash = 0;
                 s.state.op_log.push_back_overwrite(zero);
               }),
               "a hash and a time");
}

TEST(RecordCodecDeathTest, AnEncoderRefusesRunsThatADecoderWould) {
  const auto refused = [](const auto& change) {
    RunRecord run = full_run();
    change(run);
    return encode(run);
  };
  EXPECT_DEATH((void)refused([](RunRecord& r) { r.config.lease_duration = 0; }), "a lease lasts");
  EXPECT_DEATH((void)refused([](RunRecord& r) {
                 for (std::uint64_t i = 0; i < kMaxInitialShards; ++i)
                   r.root_shards.push_back(ShardId::from_raw(100 + i));
               }),
               "roots are bounded");
  EXPECT_DEATH((void)refused([](RunRecord& r) {
                 auto zero = run_entry(3, RunOpKind::kCancelRun, 13);
                 zero.payload_hash = 0;
                 r.op_log.push_back_overwrite(zero);
               }),
               "a hash and a time");
  EXPECT_DEATH((void)encode(OwnerValue{worker(1), kFenceUnassigned}), "an owner has an epoch");
}

}  // namespace
}  // namespace cadastre::coord
