#include "coord/replicated/fields.h"

#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "base/result.h"
#include "coord/blob_reader.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/record_codec.h"
#include "coord/replicated/settings.h"
#include "shard/cursor.h"
#include "shard/shard_spec.h"

namespace cadastre::coord::replicated {

using shard::CursorUpdate;
using shard::ShardSpecRef;

void write_optional_bytes(BlobWriter& out, std::optional<ByteView> bytes) {
  out.presence(bytes.has_value());
  if (bytes) out.bytes(*bytes);
}

void write_cursor(BlobWriter& out, const CursorUpdate& cursor) {
  write_optional_bytes(out, cursor.last_key());
  write_optional_bytes(out, cursor.token());
}

void write_spec(BlobWriter& out, const ShardSpecRef& spec) {
  out.bytes(spec.start());
  out.bytes(spec.end());
  out.bytes(spec.metadata());
}

void write_lease(BlobWriter& out, const Lease& lease) {
  out.raw(lease.tenant().as_bytes());
  out.u64(lease.run().raw());
  out.u64(lease.shard().raw());
  out.u64(lease.owner().raw());
  out.u64(lease.fence().raw());
  out.u64(lease.deadline().raw());
}

void write_optional_u64(BlobWriter& out, std::optional<std::uint64_t> value) {
  out.presence(value.has_value());
  if (value) out.u64(*value);
}

void write_settings(BlobWriter& out, const Settings& settings) {
  out.u64(settings.shards_per_tenant_max);
  out.u64(settings.shards_total_max);
  out.u64(settings.claim_cooldown_interval);
  out.u64(settings.record_bytes_max);
  out.u64(settings.children_max);
}

Result<ByteView, DecodeError> read_bytes(BlobReader& in) noexcept {
  return in.raw(CAD_TRY(in.u32()));
}

Result<CursorUpdate, DecodeError> read_cursor(BlobReader& in) noexcept {
  ByteView key;
  ByteView token;
  if (CAD_TRY(in.presence())) {
    key = CAD_TRY(read_bytes(in));
    if (key.empty()) return base::fail(violation("a last key is not empty"));
  }
  if (CAD_TRY(in.presence())) {
    token = CAD_TRY(read_bytes(in));
    if (token.empty()) return base::fail(violation("a token is not empty"));
    if (key.empty()) return base::fail(violation("a token has a last key"));
  }
  return key.empty() ? CursorUpdate::initial() : CursorUpdate::make(key, token);
}

Result<ShardSpecRef, DecodeError> read_spec(BlobReader& in) noexcept {
  const ByteView start = CAD_TRY(read_bytes(in));
  const ByteView end = CAD_TRY(read_bytes(in));
  const ByteView metadata = CAD_TRY(read_bytes(in));
  return ShardSpecRef::unchecked(start, end, metadata);
}

Result<Lease, DecodeError> read_lease(BlobReader& in) noexcept {
  LeaseParts parts;
  parts.tenant = CAD_TRY(in.tenant());
  parts.key.run = CAD_TRY(read_id<RunId>(in));
  parts.key.shard = CAD_TRY(read_id<ShardId>(in));
  parts.owner = CAD_TRY(read_id<WorkerId>(in));
  parts.fence = CAD_TRY(read_id<FenceEpoch>(in));
  parts.deadline = CAD_TRY(read_id<LogicalTime>(in));
  const auto lease = Lease::presented(parts);
  if (!lease) return base::fail(violation("a lease has an epoch and a deadline"));
  return *lease;
}

Result<Settings, DecodeError> read_settings(BlobReader& in) noexcept {
  Settings settings;
  settings.shards_per_tenant_max = CAD_TRY(in.u64());
  settings.shards_total_max = CAD_TRY(in.u64());
  settings.claim_cooldown_interval = CAD_TRY(in.u64());
  settings.record_bytes_max = CAD_TRY(in.u64());
  settings.children_max = CAD_TRY(in.u64());
  if (!is_valid(settings)) return base::fail(violation("settings are within their bounds"));
  return settings;
}

}  // namespace cadastre::coord::replicated
