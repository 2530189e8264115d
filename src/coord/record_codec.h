// Records as bytes: what snapshots and durable backends store.
//
// Version 1. Integers are little-endian and unpadded; bytes = u32 length and data; opt<T> = one byte 0 or 1, then T
// if 1; list = u32 count and items.
//
//   header        "v1", kind: 1 run, 2 shard, 3 owner
//   shard         tenant 32, run u64, shard u64, status u8, park_reason opt u8, start bytes, end bytes,
//                 metadata bytes, last_key opt bytes, token opt bytes, cursor_semantics u8,
//                 lease opt (owner u64, deadline u64), fence u64, parent opt u64, spawned list u64,
//                 op_log list of (op_id u64, kind u8, result u8, payload_hash u64, executed_at u64)
//   run           tenant 32, run u64, cursor_semantics u8, lease_duration u64, max_shard_retries opt u32,
//                 status u8, created_at u64, completed_at opt u64, root_shards list u64,
//                 op_log list of (op_id u64, kind u8, payload_hash u64, executed_at u64,
//                                 result: 1 and list u64, or 2)
//   owner         worker u64, fence u64
//
// A decoder takes any bytes: it reads forward, bounds every count before it allocates, and accepts
// exactly what an encoder writes: encode(decode(x)) == x. An encoder refuses (aborts) what a decoder
// would: nothing undecodable is ever written.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "coord/backend.h"
#include "coord/identity.h"
#include "coord/run_record.h"
#include "coord/shard_record.h"

namespace cadastre::coord {

enum class BlobKind : std::uint8_t {  // On disk: never renumber.
  kRun = 1,
  kShard = 2,
  kOwner = 3,
};

// Stored bytes that are no record: corruption, for an operator.
struct DecodeError {
  enum class Code : std::uint8_t {
    kTruncated,             // needed, remaining
    kInvalidVersionPrefix,  // the two bytes, first one high
    kInvalidBlobKind,       // kind
    kUnexpectedBlobKind,    // expected, actual
    kInvalidBool,           // value
    kInvalidEnum,           // value; `what` is the type
    kInvalidSpec,
    kInvalidCursor,
    kTrailingBytes,       // count
    kInvariantViolation,  // `what` says which
    kFieldTooLarge,       // actual, max
  };

  Code code = Code::kTruncated;
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  std::string_view what;  // static

  friend bool operator==(const DecodeError& a, const DecodeError& b) noexcept {
    return a.code == b.code && a.first == b.first && a.second == b.second;
  }
};

[[nodiscard]] std::string_view code_name(const DecodeError& error) noexcept;
[[nodiscard]] std::string to_text(const DecodeError& error);

[[nodiscard]] base::Bytes encode(const ShardRecordView& record);
[[nodiscard]] base::Bytes encode(const ShardDump& record);
[[nodiscard]] base::Bytes encode(const RunRecord& record);

[[nodiscard]] Result<ShardDump, DecodeError> decode_shard(ByteView bytes);
[[nodiscard]] Result<RunRecord, DecodeError> decode_run(ByteView bytes);

// Who holds a shard, in backends that keep ownership in a key of its own. The fence is not 0.
struct OwnerValue {
  WorkerId worker;
  FenceEpoch fence;

  friend bool operator==(const OwnerValue&, const OwnerValue&) = default;
};
[[nodiscard]] base::Bytes encode(const OwnerValue& owner);
[[nodiscard]] Result<OwnerValue, DecodeError> decode_owner(ByteView bytes);

// A tenant's number of shards: u64, without a header.
[[nodiscard]] base::Bytes encode_shard_count(std::uint64_t count);
[[nodiscard]] Result<std::uint64_t, DecodeError> decode_shard_count(ByteView bytes);

// A record's bytes, borrowed.
[[nodiscard]] ShardRecordView view_of(const ShardDump& record, base::Bytes& spawned_scratch);

}  // namespace cadastre::coord
