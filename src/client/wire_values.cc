#include "client/wire_values.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "cadastre/v1/coordination.pb.h"

#include "base/bytes.h"
#include "base/result.h"
#include "client/limits.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/run_record.h"
#include "coord/snapshot.h"
#include "coord/states.h"
#include "shard/cursor.h"
#include "shard/shard_id.h"
#include "shard/shard_spec.h"

namespace cadastre::client {
namespace {

using base::as_bytes;
using base::as_text;
using base::ByteView;
using coord::LogicalTime;

std::string inside(std::string_view field, std::string_view name) {
  return std::string(field).append(".").append(name);
}

}  // namespace

std::string to_wire(const coord::TenantId& tenant) {
  return std::string(as_text(tenant.as_bytes()));
}

Result<coord::TenantId, BadRequest> tenant_from_wire(std::string_view bytes) {
  if (bytes.size() != kTenantBytes) return base::fail(BadRequest{"tenant", "a tenant is 32 bytes"});
  coord::TenantId::Bytes tenant{};
  std::ranges::copy(as_bytes(bytes), tenant.begin());
  return coord::TenantId::from_bytes(tenant);
}

void to_wire(const shard::ShardSpecRef& spec, v1::Spec& out) {
  out.set_start(std::string(as_text(spec.start())));
  out.set_end(std::string(as_text(spec.end())));
  out.set_metadata(std::string(as_text(spec.metadata())));
}

shard::ShardSpecRef from_wire(const v1::Spec& spec) {
  return shard::ShardSpecRef::unchecked(as_bytes(spec.start()), as_bytes(spec.end()),
                                        as_bytes(spec.metadata()));
}

void to_wire(const shard::CursorUpdate& cursor, v1::Cursor& out) {
  if (const auto key = cursor.last_key()) out.set_last_key(std::string(as_text(*key)));
  if (const auto token = cursor.token()) out.set_token(std::string(as_text(*token)));
}

Result<shard::CursorUpdate, BadRequest> from_wire(const v1::Cursor& cursor,
                                                  std::string_view field) {
  if (!cursor.has_last_key()) {
    if (cursor.has_token())
      return base::fail(BadRequest{inside(field, "token"), "a token stands beside a last key"});
    return shard::CursorUpdate::initial();
  }
  if (cursor.last_key().empty())
    return base::fail(BadRequest{inside(field, "last_key"), "a last key is left out or not empty"});
  return shard::CursorUpdate::make(as_bytes(cursor.last_key()), as_bytes(cursor.token()));
}

void to_wire(const coord::Lease& lease, const coord::TenantId& tenant, v1::Lease& out) {
  out.set_run(lease.run().raw());
  out.set_shard(lease.shard().raw());
  out.set_worker(lease.owner().raw());
  out.set_fence(lease.fence().raw());
  out.set_deadline(lease.deadline().raw());
  if (lease.tenant() != tenant) out.set_tenant(to_wire(lease.tenant()));
}

Result<coord::Lease, BadRequest> from_wire(const v1::Lease& lease,
                                           const coord::TenantId& tenant,
                                           std::string_view field) {
  coord::LeaseParts parts{
      .tenant = tenant,
      .key = {coord::RunId::from_raw(lease.run()), coord::ShardId::from_raw(lease.shard())},
      .owner = coord::WorkerId::from_raw(lease.worker()),
      .fence = coord::FenceEpoch::from_raw(lease.fence()),
      .deadline = LogicalTime::from_raw(lease.deadline()),
  };
  if (lease.has_tenant()) {
    const auto own = tenant_from_wire(lease.tenant());
    if (!own) return base::fail(BadRequest{inside(field, "tenant"), own.error().detail});
    parts.tenant = *own;
  }
  if (const auto presented = coord::Lease::presented(parts)) return *presented;
  return base::fail(
      BadRequest{std::string(field), "a lease has an epoch and a deadline; send it as it came"});
}

void to_wire(const coord::RunConfig& config, v1::RunConfig& out) {
  out.set_cursor_semantics(static_cast<v1::CursorSemantics>(wire_number(config.cursor_semantics)));
  out.set_lease_duration(config.lease_duration);
  if (config.max_shard_retries) out.set_max_shard_retries(*config.max_shard_retries);
}

Result<coord::RunConfig, BadRequest> from_wire(const v1::RunConfig& config) {
  const auto semantics = from_wire_number<coord::CursorSemantics>(config.cursor_semantics());
  if (!semantics)
    return base::fail(BadRequest{"config.cursor_semantics", "completed or dispatched"});
  coord::RunConfig read{.cursor_semantics = *semantics, .lease_duration = config.lease_duration()};
  if (config.has_max_shard_retries()) read.max_shard_retries = config.max_shard_retries();
  return read;
}

void to_wire(const coord::CapacityHint& capacity, v1::Capacity& out) {
  out.set_available(capacity.available_count);
  if (capacity.earliest_deadline) out.set_earliest_deadline(capacity.earliest_deadline->raw());
}

coord::CapacityHint from_wire(const v1::Capacity& capacity) noexcept {
  coord::CapacityHint hint{.available_count = capacity.available(), .earliest_deadline = {}};
  if (capacity.has_earliest_deadline())
    hint.earliest_deadline = LogicalTime::from_raw(capacity.earliest_deadline());
  return hint;
}

}  // namespace cadastre::client
