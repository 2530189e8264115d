#include "coord/record_codec.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/check.h"
#include "base/endian.h"
#include "base/result.h"
#include "coord/backend.h"
#include "coord/blob_reader.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/limits.h"
#include "coord/op_log.h"
#include "coord/run_record.h"
#include "coord/shard_record.h"
#include "coord/states.h"
#include "shard/shard_spec.h"

namespace cadastre::coord {
namespace {

using Code = DecodeError::Code;

constexpr std::string_view kVersion = "v1";
constexpr std::uint8_t kResultRegistered = 1;  // On disk.
constexpr std::uint8_t kResultAck = 2;

std::unexpected<DecodeError> error(Code code,
                                   std::uint64_t first = 0,
                                   std::uint64_t second = 0,
                                   std::string_view what = {}) noexcept {
  return base::fail(DecodeError{code, first, second, what});
}

std::unexpected<DecodeError> violation(std::string_view what) noexcept {
  return error(Code::kInvariantViolation, 0, 0, what);
}

void write_header(BlobWriter& out, BlobKind kind) {
  out.raw(base::as_bytes(kVersion));
  out.u8(static_cast<std::uint8_t>(kind));
}

Result<void, DecodeError> read_header(BlobReader& in, BlobKind expected) {
  const ByteView version = CAD_TRY(in.raw(kVersion.size()));
  if (base::as_text(version) != kVersion) {
    return error(Code::kInvalidVersionPrefix, base::load_be<std::uint16_t>(version.data()));
  }
  const std::uint8_t kind = CAD_TRY(in.u8());
  if (kind < static_cast<std::uint8_t>(BlobKind::kRun) ||
      kind > static_cast<std::uint8_t>(BlobKind::kOwner)) {
    return error(Code::kInvalidBlobKind, kind);
  }
  if (kind != static_cast<std::uint8_t>(expected)) {
    return error(Code::kUnexpectedBlobKind, static_cast<std::uint64_t>(expected), kind);
  }
  return {};
}

// ---- Shards --------------------------------------------------------------------------------------

void write_cursor(BlobWriter& out, const CursorUpdate& cursor) {
  const auto field = [&out](std::optional<ByteView> bytes) {
    out.presence(bytes.has_value());
    if (bytes) out.bytes(*bytes);
  };
  field(cursor.last_key());
  field(cursor.token());
}

void write_ownership(BlobWriter& out, const ShardState& state) {
  out.presence(state.lease.has_value());
  if (state.lease) {
    out.u64(state.lease->owner.raw());
    out.u64(state.lease->deadline.raw());
  }
  out.u64(state.fence.raw());
}

void write_op_log(BlobWriter& out, const OpLog& log) {
  out.u32(static_cast<std::uint32_t>(log.size()));
  for (const OpLogEntry& entry : log) {
    out.u64(entry.op_id.raw());
    out.u8(static_cast<std::uint8_t>(entry.kind));
    out.u8(static_cast<std::uint8_t>(entry.result));
    out.u64(entry.payload_hash);
    out.u64(entry.executed_at.raw());
  }
}

// An optional byte field as it is stored in a dump, where absent is empty. Neither a last key nor a
// token is ever present and empty.
Result<base::Bytes, DecodeError> read_optional_bytes(BlobReader& in) {
  if (!CAD_TRY(in.presence())) return base::Bytes{};
  const ByteView bytes = CAD_TRY(in.bytes());
  if (bytes.empty()) return error(Code::kInvalidCursor);
  return base::to_owned(bytes);
}

Result<std::optional<LeaseHolder>, DecodeError> read_lease(BlobReader& in) {
  if (!CAD_TRY(in.presence())) return std::nullopt;
  const auto owner = WorkerId::from_raw(CAD_TRY(in.u64()));
  const auto deadline = LogicalTime::from_raw(CAD_TRY(in.u64()));
  return LeaseHolder{owner, deadline};
}

Result<OpLog, DecodeError> read_op_log(BlobReader& in) {
  OpLog log;
  const std::size_t count = CAD_TRY(in.count(kOpLogCapacity));
  for (std::size_t i = 0; i < count; ++i) {
    OpLogEntry entry;
    entry.op_id = OpId::from_raw(CAD_TRY(in.u64()));
    entry.kind = CAD_TRY(in.enumerator<OpKind>("OpKind"));
    entry.result = CAD_TRY(in.enumerator<OpResult>("OpResult"));
    entry.payload_hash = CAD_TRY(in.u64());
    entry.executed_at = LogicalTime::from_raw(CAD_TRY(in.u64()));
    if (entry.payload_hash == 0) return violation("a logged hash is not 0");
    if (entry.executed_at == LogicalTime()) return violation("a logged time is not 0");
    log.push_back_overwrite(entry);
  }
  return log;
}

Result<void, DecodeError> read_shard_fields(BlobReader& in, ShardDump& shard) {
  ShardState& state = shard.state;
  state.tenant = CAD_TRY(in.tenant());
  state.run = RunId::from_raw(CAD_TRY(in.u64()));
  state.shard = ShardId::from_raw(CAD_TRY(in.u64()));
  state.status = CAD_TRY(in.enumerator<ShardStatus>("ShardStatus"));
  if (CAD_TRY(in.presence())) state.park_reason = CAD_TRY(in.enumerator<ParkReason>("ParkReason"));
  shard.start = base::to_owned(CAD_TRY(in.bytes()));
  shard.end = base::to_owned(CAD_TRY(in.bytes()));
  shard.metadata = base::to_owned(CAD_TRY(in.bytes()));
  shard.last_key = CAD_TRY(read_optional_bytes(in));
  shard.token = CAD_TRY(read_optional_bytes(in));
  state.semantics = CAD_TRY(in.enumerator<CursorSemantics>("CursorSemantics"));
  state.lease = CAD_TRY(read_lease(in));
  state.fence = FenceEpoch::from_raw(CAD_TRY(in.u64()));
  if (const auto parent = CAD_TRY(in.optional_u64())) state.parent = ShardId::from_raw(*parent);
  shard.spawned = CAD_TRY(in.ids(kMaxSpawnedPerShard));
  state.op_log = CAD_TRY(read_op_log(in));
  return in.end();
}

bool has_duplicates(std::vector<ShardId> ids) {
  std::ranges::sort(ids);
  return std::ranges::adjacent_find(ids) != ids.end();
}

bool has_duplicates(const SpawnedView& spawned) {
  std::vector<ShardId> ids;
  ids.reserve(spawned.size());
  for (std::size_t i = 0; i < spawned.size(); ++i)
    ids.push_back(spawned[i]);
  return has_duplicates(std::move(ids));
}

bool is_storable(const CursorUpdate& cursor) noexcept {
  const auto fits = [](std::optional<ByteView> bytes, std::size_t max) {
    return !bytes || bytes->size() <= max;
  };
  return fits(cursor.last_key(), kMaxKeySize) && fits(cursor.token(), kMaxTokenSize);
}

// Whether every entry has a hash and a time.
template <class Log>
bool is_storable(const Log& log) noexcept {
  return std::ranges::all_of(log, [](const auto& entry) {
    return entry.payload_hash != 0 && entry.executed_at != LogicalTime();
  });
}

// What any stored shard must satisfy, whoever wrote it.
Result<void, DecodeError> check_shard(const ShardDump& shard) {
  const auto spec = ShardSpecRef::unchecked(shard.start, shard.end, shard.metadata);
  if (!shard::validate(spec)) return error(Code::kInvalidSpec);
  if (shard.last_key.empty() && !shard.token.empty()) return violation("a token has a last key");
  base::Bytes scratch;
  const ShardRecordView record = view_of(shard, scratch);
  if (!is_storable(record.cursor)) return error(Code::kInvalidCursor);
  if (has_duplicates(record.spawned)) return violation("spawned shards are distinct");
  const auto held = check_invariants(record);
  if (!held) return violation(held.error().text);
  return {};
}

}  // namespace

ShardRecordView view_of(const ShardDump& record, base::Bytes& spawned_scratch) {
  spawned_scratch.resize(record.spawned.size() * sizeof(std::uint64_t));
  for (std::size_t i = 0; i < record.spawned.size(); ++i)
    base::store_le(spawned_scratch.data() + i * sizeof(std::uint64_t), record.spawned[i].raw());
  const auto cursor = record.last_key.empty() ? CursorUpdate::initial()
                                              : CursorUpdate::make(record.last_key, record.token);
  return {record.state, ShardSpecRef::unchecked(record.start, record.end, record.metadata), cursor,
          SpawnedView(spawned_scratch)};
}

base::Bytes encode(const ShardRecordView& record) {
  assert_invariants(record);
  CAD_CHECK(shard::validate(record.spec).has_value(), "a stored spec is valid");
  CAD_CHECK(is_storable(record.cursor), "a stored cursor has a legal size");
  CAD_CHECK(!has_duplicates(record.spawned), "stored spawned shards are distinct");
  CAD_CHECK(is_storable(record.state.op_log), "a stored operation has a hash and a time");
  const ShardState& state = record.state;
  BlobWriter out;
  write_header(out, BlobKind::kShard);
  out.raw(state.tenant.as_bytes());
  out.u64(state.run.raw());
  out.u64(state.shard.raw());
  out.u8(static_cast<std::uint8_t>(state.status));
  out.presence(state.park_reason.has_value());
  if (state.park_reason) out.u8(static_cast<std::uint8_t>(*state.park_reason));
  out.bytes(record.spec.start());
  out.bytes(record.spec.end());
  out.bytes(record.spec.metadata());
  write_cursor(out, record.cursor);
  out.u8(static_cast<std::uint8_t>(state.semantics));
  write_ownership(out, state);
  out.presence(state.parent.has_value());
  if (state.parent) out.u64(state.parent->raw());
  out.u32(static_cast<std::uint32_t>(record.spawned.size()));
  out.raw(record.spawned.packed());
  write_op_log(out, state.op_log);
  return out.take();
}

base::Bytes encode(const ShardDump& record) {
  const auto valid = check_shard(record);
  CAD_CHECK(valid.has_value(), "what is written can be read");
  base::Bytes scratch;
  return encode(view_of(record, scratch));
}

Result<ShardDump, DecodeError> decode_shard(ByteView bytes) {
  BlobReader in(bytes);
  CAD_TRY(read_header(in, BlobKind::kShard));
  ShardDump shard;
  CAD_TRY(read_shard_fields(in, shard));
  CAD_TRY(check_shard(shard));
  return shard;
}

// ---- Runs ----------------------------------------------------------------------------------------

namespace {

void write_ids(BlobWriter& out, const std::vector<ShardId>& ids) {
  out.u32(static_cast<std::uint32_t>(ids.size()));
  for (const ShardId id : ids)
    out.u64(id.raw());
}

void write_run_op_log(BlobWriter& out, const RunOpLog& log) {
  out.u32(static_cast<std::uint32_t>(log.size()));
  for (const RunOpLogEntry& entry : log) {
    out.u64(entry.op_id.raw());
    out.u8(static_cast<std::uint8_t>(entry.kind));
    out.u64(entry.payload_hash);
    out.u64(entry.executed_at.raw());
    if (entry.kind == RunOpKind::kRegisterShards) {
      out.u8(kResultRegistered);
      write_ids(out, entry.registered);
    } else {
      out.u8(kResultAck);
    }
  }
}

Result<RunOpLogEntry, DecodeError> read_run_op(BlobReader& in) {
  RunOpLogEntry entry;
  entry.op_id = OpId::from_raw(CAD_TRY(in.u64()));
  entry.kind = CAD_TRY(in.enumerator<RunOpKind>("RunOpKind"));
  entry.payload_hash = CAD_TRY(in.u64());
  entry.executed_at = LogicalTime::from_raw(CAD_TRY(in.u64()));
  const std::uint8_t result = CAD_TRY(in.u8());
  if (result != kResultRegistered && result != kResultAck) {
    return error(Code::kInvalidEnum, result, 0, "RunOpResult");
  }
  if (result == kResultRegistered) entry.registered = CAD_TRY(in.ids(kMaxInitialShards));
  const bool registers = entry.kind == RunOpKind::kRegisterShards;
  if (registers != (result == kResultRegistered)) {
    return violation("registrations carry shard ids, and nothing else does");
  }
  if (entry.payload_hash == 0) return violation("a logged hash is not 0");
  if (entry.executed_at == LogicalTime()) return violation("a logged time is not 0");
  return entry;
}

Result<void, DecodeError> read_run_fields(BlobReader& in, RunRecord& run) {
  run.tenant = CAD_TRY(in.tenant());
  run.run = RunId::from_raw(CAD_TRY(in.u64()));
  run.config.cursor_semantics = CAD_TRY(in.enumerator<CursorSemantics>("CursorSemantics"));
  run.config.lease_duration = CAD_TRY(in.u64());
  if (CAD_TRY(in.presence())) run.config.max_shard_retries = CAD_TRY(in.u32());
  run.status = CAD_TRY(in.enumerator<RunStatus>("RunStatus"));
  run.created_at = LogicalTime::from_raw(CAD_TRY(in.u64()));
  if (const auto completed = CAD_TRY(in.optional_u64())) {
    run.completed_at = LogicalTime::from_raw(*completed);
  }
  run.root_shards = CAD_TRY(in.ids(kMaxInitialShards));
  const std::size_t count = CAD_TRY(in.count(kRunOpLogCapacity));
  for (std::size_t i = 0; i < count; ++i)
    run.op_log.push_back_overwrite(CAD_TRY(read_run_op(in)));
  return in.end();
}

}  // namespace

base::Bytes encode(const RunRecord& record) {
  assert_invariants(record);
  CAD_CHECK(record.root_shards.size() <= kMaxInitialShards, "a stored run's roots are bounded");
  CAD_CHECK(is_storable(record.op_log), "a stored operation has a hash and a time");
  BlobWriter out;
  write_header(out, BlobKind::kRun);
  out.raw(record.tenant.as_bytes());
  out.u64(record.run.raw());
  out.u8(static_cast<std::uint8_t>(record.config.cursor_semantics));
  out.u64(record.config.lease_duration);
  out.presence(record.config.max_shard_retries.has_value());
  if (record.config.max_shard_retries) out.u32(*record.config.max_shard_retries);
  out.u8(static_cast<std::uint8_t>(record.status));
  out.u64(record.created_at.raw());
  out.presence(record.completed_at.has_value());
  if (record.completed_at) out.u64(record.completed_at->raw());
  write_ids(out, record.root_shards);
  write_run_op_log(out, record.op_log);
  return out.take();
}

Result<RunRecord, DecodeError> decode_run(ByteView bytes) {
  BlobReader in(bytes);
  CAD_TRY(read_header(in, BlobKind::kRun));
  RunRecord run;
  CAD_TRY(read_run_fields(in, run));
  const auto held = check_invariants(run);
  if (!held) return violation(held.error().text);
  return run;
}

// ---- Owners and counters -------------------------------------------------------------------------

base::Bytes encode(const OwnerValue& owner) {
  CAD_CHECK(is_assigned(owner.fence), "an owner has an epoch");
  BlobWriter out;
  write_header(out, BlobKind::kOwner);
  out.u64(owner.worker.raw());
  out.u64(owner.fence.raw());
  return out.take();
}

Result<OwnerValue, DecodeError> decode_owner(ByteView bytes) {
  BlobReader in(bytes);
  CAD_TRY(read_header(in, BlobKind::kOwner));
  OwnerValue owner;
  owner.worker = WorkerId::from_raw(CAD_TRY(in.u64()));
  owner.fence = FenceEpoch::from_raw(CAD_TRY(in.u64()));
  CAD_TRY(in.end());
  if (!is_assigned(owner.fence)) return violation("an owner has an epoch");
  return owner;
}

base::Bytes encode_shard_count(std::uint64_t count) {
  BlobWriter out;
  out.u64(count);
  return out.take();
}

Result<std::uint64_t, DecodeError> decode_shard_count(ByteView bytes) {
  BlobReader in(bytes);
  const std::uint64_t count = CAD_TRY(in.u64());
  CAD_TRY(in.end());
  return count;
}

std::string_view code_name(const DecodeError& error) noexcept {
  switch (error.code) {
    case Code::kTruncated: return "truncated";
    case Code::kInvalidVersionPrefix: return "invalid_version_prefix";
    case Code::kInvalidBlobKind: return "invalid_blob_kind";
    case Code::kUnexpectedBlobKind: return "unexpected_blob_kind";
    case Code::kInvalidBool: return "invalid_bool";
    case Code::kInvalidEnum: return "invalid_enum";
    case Code::kInvalidSpec: return "invalid_spec";
    case Code::kInvalidCursor: return "invalid_cursor";
    case Code::kTrailingBytes: return "trailing_bytes";
    case Code::kInvariantViolation: return "invariant_violation";
    case Code::kFieldTooLarge: return "field_too_large";
  }
  return "unknown";
}

std::string to_text(const DecodeError& error) {
  return fmt::format("{} ({}, {}){}{}", code_name(error), error.first, error.second,
                     error.what.empty() ? "" : ": ", error.what);
}

}  // namespace cadastre::coord
