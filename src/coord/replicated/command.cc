#include "coord/replicated/command.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <variant>

#include "base/bytes.h"
#include "base/check.h"
#include "base/result.h"
#include "coord/blob_reader.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/limits.h"
#include "coord/record_codec.h"
#include "coord/replicated/fields.h"
#include "coord/run_record.h"
#include "coord/states.h"

namespace cadastre::coord::replicated {
namespace {

constexpr std::uint8_t kVersion = 1;
constexpr std::uint64_t kCountMax = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t kUsualBytes = 256;  // A checkpoint with a key and no token is smaller.

// ---- Encoding ------------------------------------------------------------------------------------

void write(BlobWriter& out, const Configure& call) {
  CAD_CHECK(is_valid(call.settings), "settings are checked before they are proposed");
  write_settings(out, call.settings);
}

void write(BlobWriter& out, const CreateRun& call) {
  out.u64(call.run.raw());
  out.u8(static_cast<std::uint8_t>(call.config.cursor_semantics));
  out.u64(call.config.lease_duration);
  out.presence(call.config.max_shard_retries.has_value());
  if (call.config.max_shard_retries) out.u32(*call.config.max_shard_retries);
}

void write(BlobWriter& out, const RegisterShards& call) {
  out.u64(call.run.raw());
  out.u64(call.op.raw());
  out.u32(static_cast<std::uint32_t>(std::min<std::uint64_t>(call.count, kCountMax)));
  if (call.count > kMaxInitialShards) return;
  CAD_CHECK(call.shards.size() == call.count, "a manifest that travels has its rows");
  for (const InitialShardInput& shard : call.shards) {
    out.u64(shard.shard.raw());
    write_spec(out, shard.spec);
    write_cursor(out, shard.cursor);
  }
}

void write(BlobWriter& out, const Acquire& call) {
  out.u64(call.key.run.raw());
  out.u64(call.key.shard.raw());
  out.u64(call.worker.raw());
}

void write(BlobWriter& out, const Claim& call) {
  out.u64(call.run.raw());
  out.u64(call.worker.raw());
}

void write(BlobWriter& out, const Renew& call) {
  write_lease(out, call.lease);
}

void write(BlobWriter& out, const RenewMany& call) {
  CAD_CHECK(call.leases.size() <= kRenewManyMax, "the caller's list is checked before");
  out.u32(static_cast<std::uint32_t>(call.leases.size()));
  for (const Lease& lease : call.leases)
    write_lease(out, lease);
}

template <Operation kWhich>
void write(BlobWriter& out, const MoveCursor<kWhich>& call) {
  write_lease(out, call.lease);
  write_cursor(out, call.cursor);
  out.u64(call.op.raw());
}

void write(BlobWriter& out, const Park& call) {
  write_lease(out, call.lease);
  out.u8(static_cast<std::uint8_t>(call.reason));
  out.u64(call.op.raw());
}

void write(BlobWriter& out, const SplitReplace& call) {
  write_lease(out, call.lease);
  out.u64(call.op.raw());
  out.u32(static_cast<std::uint32_t>(call.children.size()));
  for (const SplitReplaceChild& child : call.children) {
    write_spec(out, child.spec);
    write_cursor(out, child.cursor);
  }
}

void write(BlobWriter& out, const SplitResidual& call) {
  write_lease(out, call.lease);
  out.u64(call.op.raw());
  write_spec(out, call.new_parent);
  write_spec(out, call.residual);
}

template <Operation kWhich>
void write(BlobWriter& out, const EndRun<kWhich>& call) {
  out.u64(call.run.raw());
  out.u64(call.op.raw());
}

void write(BlobWriter& out, const Unpark& call) {
  out.u64(call.key.run.raw());
  out.u64(call.key.shard.raw());
  out.u64(call.op.raw());
}

void write(BlobWriter& out, const GcTerminalRuns& call) {
  out.u64(call.completed_before.raw());
}

// Configuring and collecting have no time of their own.
bool has_time(Operation operation) noexcept {
  return operation != Operation::kConfigure && operation != Operation::kGcTerminalRuns;
}

// ---- Decoding ------------------------------------------------------------------------------------

using Read = Result<Arguments, DecodeError>;

Read read_configure(BlobReader& in) {
  return Configure {
    CAD_TRY(read_settings(in))
  };
}

Read read_create_run(BlobReader& in) {
  CreateRun call;
  call.run = CAD_TRY(read_id<RunId>(in));
  call.config.cursor_semantics = CAD_TRY(in.enumerator<CursorSemantics>("CursorSemantics"));
  call.config.lease_duration = CAD_TRY(in.u64());
  if (CAD_TRY(in.presence())) call.config.max_shard_retries = CAD_TRY(in.u32());
  return call;
}

Read read_register(BlobReader& in, CommandScratch& scratch) {
  RegisterShards call;
  call.run = CAD_TRY(read_id<RunId>(in));
  call.op = CAD_TRY(read_id<OpId>(in));
  call.count = CAD_TRY(in.u32());
  scratch.shards.clear();
  if (call.count > kMaxInitialShards) return call;
  for (std::uint64_t i = 0; i < call.count; ++i) {
    const auto id = CAD_TRY(read_id<ShardId>(in));
    const auto spec = CAD_TRY(read_spec(in));
    const auto cursor = CAD_TRY(read_cursor(in));
    scratch.shards.push_back({id, spec, cursor});
  }
  call.shards = scratch.shards;
  return call;
}

Read read_acquire(BlobReader& in) {
  Acquire call;
  call.key.run = CAD_TRY(read_id<RunId>(in));
  call.key.shard = CAD_TRY(read_id<ShardId>(in));
  call.worker = CAD_TRY(read_id<WorkerId>(in));
  return call;
}

Read read_claim(BlobReader& in) {
  Claim call;
  call.run = CAD_TRY(read_id<RunId>(in));
  call.worker = CAD_TRY(read_id<WorkerId>(in));
  return call;
}

Read read_renew(BlobReader& in) {
  return Renew {
    CAD_TRY(read_lease(in))
  };
}

Read read_renew_many(BlobReader& in, CommandScratch& scratch) {
  const std::size_t count = CAD_TRY(in.count(kRenewManyMax));
  scratch.leases.clear();
  for (std::size_t i = 0; i < count; ++i)
    scratch.leases.push_back(CAD_TRY(read_lease(in)));
  return RenewMany{scratch.leases};
}

template <class Call>
Read read_move(BlobReader& in) {
  const Lease lease = CAD_TRY(read_lease(in));
  const CursorUpdate cursor = CAD_TRY(read_cursor(in));
  return Call {
    lease, cursor, CAD_TRY(read_id<OpId>(in))
  };
}

Read read_park(BlobReader& in) {
  const Lease lease = CAD_TRY(read_lease(in));
  const auto reason = CAD_TRY(in.enumerator<ParkReason>("ParkReason"));
  return Park {
    lease, reason, CAD_TRY(read_id<OpId>(in))
  };
}

Read read_split_replace(BlobReader& in, CommandScratch& scratch) {
  const Lease lease = CAD_TRY(read_lease(in));
  const auto op = CAD_TRY(read_id<OpId>(in));
  const std::size_t count = CAD_TRY(in.count(kMaxSplitChildren));
  if (count < 2) return base::fail(violation("a split has two children"));
  scratch.children.clear();
  for (std::size_t i = 0; i < count; ++i) {
    const auto spec = CAD_TRY(read_spec(in));
    scratch.children.push_back({ spec, CAD_TRY(read_cursor(in)) });
  }
  return SplitReplace{lease, op, scratch.children};
}

Read read_split_residual(BlobReader& in) {
  const Lease lease = CAD_TRY(read_lease(in));
  const auto op = CAD_TRY(read_id<OpId>(in));
  const auto new_parent = CAD_TRY(read_spec(in));
  const auto residual = CAD_TRY(read_spec(in));
  if (new_parent == residual) return base::fail(violation("a residual is not its parent"));
  return SplitResidual{lease, op, new_parent, residual};
}

template <class Call>
Read read_end_run(BlobReader& in) {
  const auto run = CAD_TRY(read_id<RunId>(in));
  return Call {
    run, CAD_TRY(read_id<OpId>(in))
  };
}

Read read_unpark(BlobReader& in) {
  Unpark call;
  call.key.run = CAD_TRY(read_id<RunId>(in));
  call.key.shard = CAD_TRY(read_id<ShardId>(in));
  call.op = CAD_TRY(read_id<OpId>(in));
  return call;
}

Read read_gc(BlobReader& in) {
  return GcTerminalRuns {
    CAD_TRY(read_id<LogicalTime>(in))
  };
}

Read read_arguments(Operation operation, BlobReader& in, CommandScratch& scratch) {
  switch (operation) {
    case Operation::kConfigure: return read_configure(in);
    case Operation::kCreateRun: return read_create_run(in);
    case Operation::kRegisterShards: return read_register(in, scratch);
    case Operation::kAcquire: return read_acquire(in);
    case Operation::kClaim: return read_claim(in);
    case Operation::kRenew: return read_renew(in);
    case Operation::kRenewMany: return read_renew_many(in, scratch);
    case Operation::kCheckpoint: return read_move<Checkpoint>(in);
    case Operation::kComplete: return read_move<Complete>(in);
    case Operation::kPark: return read_park(in);
    case Operation::kRelease: return read_move<Release>(in);
    case Operation::kSplitReplace: return read_split_replace(in, scratch);
    case Operation::kSplitResidual: return read_split_residual(in);
    case Operation::kCompleteRun: return read_end_run<CompleteRun>(in);
    case Operation::kFailRun: return read_end_run<FailRun>(in);
    case Operation::kCancelRun: return read_end_run<CancelRun>(in);
    case Operation::kUnpark: return read_unpark(in);
    case Operation::kGcTerminalRuns: return read_gc(in);
  }
  return base::fail(DecodeError{.code = DecodeError::Code::kInvalidBlobKind,
                                .first = static_cast<std::uint64_t>(operation),
                                .second = 0,
                                .what = "operation"});
}

}  // namespace

base::Bytes encode(const Command& command) {
  BlobWriter out(kUsualBytes);
  out.u8(kVersion);
  std::visit(
      [&](const auto& call) {
        CAD_CHECK(has_time(call.kOperation) == (command.now != LogicalTime()),
                  "an operation that has a time is called with one");
        out.u8(static_cast<std::uint8_t>(call.kOperation));
        out.u64(command.now.raw());
        out.raw(command.tenant.as_bytes());
        write(out, call);
      },
      command.arguments);
  return out.take();
}

Result<Command, DecodeError> decode_command(ByteView bytes, CommandScratch& scratch) {
  BlobReader in(bytes);
  const std::uint8_t version = CAD_TRY(in.u8());
  if (version != kVersion) {
    return base::fail(DecodeError{.code = DecodeError::Code::kInvalidVersionPrefix,
                                  .first = version,
                                  .second = 0,
                                  .what = {}});
  }
  const auto operation = static_cast<Operation>(CAD_TRY(in.u8()));
  const auto now = CAD_TRY(read_id<LogicalTime>(in));
  const TenantId tenant = CAD_TRY(in.tenant());
  Arguments arguments = CAD_TRY(read_arguments(operation, in, scratch));
  CAD_TRY(in.end());
  if (has_time(operation) != (now != LogicalTime())) {
    return base::fail(violation("an operation that has a time carries one"));
  }
  return Command{now, tenant, std::move(arguments)};
}

}  // namespace cadastre::coord::replicated
