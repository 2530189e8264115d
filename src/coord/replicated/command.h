// Commands: what the replicated backend writes to its log. One mutating operation is one command.
//
// Version 1. Integers, bytes, opt and list as in coord/record_codec.h.
//
//   offset  size  field
//        0     1  version     1
//        1     1  operation   below
//        2     8  now         0 where the call has none: configure, gc_terminal_runs
//       10    32  tenant      zero for configure
//       42     .  arguments
//
//   1 configure         shards_per_tenant_max u64, shards_total_max u64, claim_cooldown_interval u64,
//                       record_bytes_max u64, children_max u64
//   2 create_run        run u64, cursor_semantics u8, lease_duration u64, max_shard_retries opt u32
//   3 register_shards   run u64, op u64, list of (shard u64, spec, cursor); a count above
//                       kMaxInitialShards stands alone: such a manifest is refused whatever is in it
//   4 acquire           run u64, shard u64, worker u64
//   5 claim             run u64, worker u64
//   6 renew             lease
//   7 renew_many        list of lease
//   8 checkpoint        lease, cursor, op u64
//   9 complete          lease, cursor, op u64
//  10 park              lease, reason u8, op u64
//  11 release           lease, cursor, op u64
//  12 split_replace     lease, op u64, list of (spec, cursor)
//  13 split_residual    lease, op u64, new parent's spec, residual's spec
//  14 complete_run, 15 fail_run, 16 cancel_run     run u64, op u64
//  17 unpark            run u64, shard u64, op u64
//  18 gc_terminal_runs  completed_before u64
//
//   lease   tenant 32, run u64, shard u64, owner u64, fence u64, deadline u64
//   spec    start bytes, end bytes, metadata bytes
//   cursor  last_key opt bytes, token opt bytes
//
// A decoder takes any bytes, bounds every count before it allocates, and accepts exactly what an encoder
// writes. Byte fields are views: their size is bounded by that of a log entry, and judged by the rules
// of the protocol, whose answers name it. Everything here is a pure function.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "base/attributes.h"
#include "base/bytes.h"
#include "base/result.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/record_codec.h"
#include "coord/replicated/settings.h"
#include "coord/run_record.h"
#include "coord/states.h"
#include "shard/cursor.h"
#include "shard/manifest.h"
#include "shard/shard_spec.h"
#include "shard/split_plan.h"

namespace cadastre::coord::replicated {

using shard::CursorUpdate;
using shard::InitialShardInput;
using shard::SplitReplaceChild;

enum class Operation : std::uint8_t {  // In the log: never renumber.
  kConfigure = 1,
  kCreateRun = 2,
  kRegisterShards = 3,
  kAcquire = 4,
  kClaim = 5,
  kRenew = 6,
  kRenewMany = 7,
  kCheckpoint = 8,
  kComplete = 9,
  kPark = 10,
  kRelease = 11,
  kSplitReplace = 12,
  kSplitResidual = 13,
  kCompleteRun = 14,
  kFailRun = 15,
  kCancelRun = 16,
  kUnpark = 17,
  kGcTerminalRuns = 18,
};

// The arguments borrow: from the caller before encoding, from the command and a scratch after decoding.
struct Configure {
  static constexpr Operation kOperation = Operation::kConfigure;
  Settings settings;
};
struct CreateRun {
  static constexpr Operation kOperation = Operation::kCreateRun;
  RunId run;
  RunConfig config;
};
struct RegisterShards {
  static constexpr Operation kOperation = Operation::kRegisterShards;
  RunId run;
  OpId op;
  std::span<const InitialShardInput> shards;  // empty after decoding if the count is too large
  std::uint64_t count = 0;
};
struct Acquire {
  static constexpr Operation kOperation = Operation::kAcquire;
  ShardKey key;
  WorkerId worker;
};
struct Claim {
  static constexpr Operation kOperation = Operation::kClaim;
  RunId run;
  WorkerId worker;
};
struct Renew {
  static constexpr Operation kOperation = Operation::kRenew;
  Lease lease;
};
struct RenewMany {
  static constexpr Operation kOperation = Operation::kRenewMany;
  std::span<const Lease> leases;  // at most kRenewManyMax
};
// Checkpoint, Complete, Release.
template <Operation kWhich>
struct MoveCursor {
  static constexpr Operation kOperation = kWhich;
  Lease lease;
  CursorUpdate cursor;
  OpId op;
};
using Checkpoint = MoveCursor<Operation::kCheckpoint>;
using Complete = MoveCursor<Operation::kComplete>;
using Release = MoveCursor<Operation::kRelease>;
struct Park {
  static constexpr Operation kOperation = Operation::kPark;
  Lease lease;
  ParkReason reason = ParkReason::kOther;
  OpId op;
};
struct SplitReplace {
  static constexpr Operation kOperation = Operation::kSplitReplace;
  Lease lease;
  OpId op;
  std::span<const SplitReplaceChild> children;  // 2 to kMaxSplitChildren
};
struct SplitResidual {
  static constexpr Operation kOperation = Operation::kSplitResidual;
  Lease lease;
  OpId op;
  shard::ShardSpecRef new_parent;
  shard::ShardSpecRef residual;
};
// CompleteRun, FailRun, CancelRun.
template <Operation kWhich>
struct EndRun {
  static constexpr Operation kOperation = kWhich;
  RunId run;
  OpId op;
};
using CompleteRun = EndRun<Operation::kCompleteRun>;
using FailRun = EndRun<Operation::kFailRun>;
using CancelRun = EndRun<Operation::kCancelRun>;
struct Unpark {
  static constexpr Operation kOperation = Operation::kUnpark;
  ShardKey key;
  OpId op;
};
struct GcTerminalRuns {
  static constexpr Operation kOperation = Operation::kGcTerminalRuns;
  LogicalTime completed_before;
};

using Arguments = std::variant<Configure,
                               CreateRun,
                               RegisterShards,
                               Acquire,
                               Claim,
                               Renew,
                               RenewMany,
                               Checkpoint,
                               Complete,
                               Park,
                               Release,
                               SplitReplace,
                               SplitResidual,
                               CompleteRun,
                               FailRun,
                               CancelRun,
                               Unpark,
                               GcTerminalRuns>;

struct Command {
  LogicalTime now;
  TenantId tenant;
  Arguments arguments;
};

// Lists of a decoded command; used again and again.
struct CommandScratch {
  std::vector<InitialShardInput> shards;
  std::vector<Lease> leases;
  std::vector<SplitReplaceChild> children;
};

[[nodiscard]] base::Bytes encode(const Command& command);

// Borrows both. kInvalidVersionPrefix and kInvalidBlobKind: written by a newer release.
[[nodiscard]] Result<Command, DecodeError> decode_command(
    ByteView bytes CAD_LIFETIMEBOUND, CommandScratch& scratch CAD_LIFETIMEBOUND);

}  // namespace cadastre::coord::replicated
