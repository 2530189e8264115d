// Requests to coordination: what a caller typed or sent, as the protocol's own types.
//
// Everything here takes hostile input. What the protocol forbids its callers by contract (time 0, a
// lease that cannot have been granted, an empty last key) is an error here and never reaches it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/attributes.h"
#include "base/bytes.h"
#include "base/result.h"
#include "cli/command_error.h"
#include "cli/json_fields.h"
#include "cli/manifest_file.h"
#include "cli/options.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/limits.h"
#include "coord/run_record.h"
#include "coord/shard_summary.h"
#include "coord/states.h"
#include "coord/tenant_name.h"
#include "shard/cursor.h"

namespace cadastre::cli {

using base::Result;

// Who asks, and when.
struct Caller {
  coord::TenantId tenant;
  coord::LogicalTime now;  // not 0
};

// A cursor's own bytes.
struct OwnedCursor {
  base::Bytes last_key;  // empty: absent
  base::Bytes token;     // empty: absent

  [[nodiscard]] shard::CursorUpdate update() const noexcept CAD_LIFETIMEBOUND {
    return last_key.empty() ? shard::CursorUpdate::initial()
                            : shard::CursorUpdate::make(last_key, token);
  }
};

struct ShardListing {
  coord::ShardFilter filter;
  std::uint64_t limit = coord::kListLimitDefault;
  std::optional<coord::ShardId> after = std::nullopt;
};

struct RunListing {
  std::uint64_t limit = coord::kListLimitDefault;
  std::optional<coord::RunId> after = std::nullopt;
};

// ---- From values, however they arrived -------------------------------------------------------------

// The 32 bytes of a tenant that users know by name.
using coord::tenant_named;
// From 64 hexadecimal digits; `what` names their place in an error.
[[nodiscard]] Result<coord::TenantId, CommandError> tenant_with_id(std::string_view digits,
                                                                   std::string_view what);

// `empty_last_key`, or `bad_request` for a token without a key. Sizes are the protocol's to judge.
[[nodiscard]] Result<OwnedCursor, CommandError> make_cursor(std::optional<base::Bytes> last_key,
                                                            base::Bytes token);

// `all`, `active`, `available` or `parked`.
[[nodiscard]] std::optional<coord::ShardFilter> filter_named(std::string_view name) noexcept;

// ---- From the fields of a request --------------------------------------------------------------------

// "tenant" or "tenant_id", and "now".
[[nodiscard]] Result<Caller, CommandError> parse_caller(const JsonFields& request);

[[nodiscard]] Result<coord::OpId, CommandError> parse_op_id(const JsonFields& request);
[[nodiscard]] Result<coord::RunId, CommandError> parse_run(const JsonFields& request);
[[nodiscard]] Result<coord::ShardKey, CommandError> parse_shard_key(const JsonFields& request);
[[nodiscard]] Result<coord::WorkerId, CommandError> parse_worker(const JsonFields& request);

// "lease_ms", "semantics", "max_retries"
[[nodiscard]] Result<coord::RunConfig, CommandError> parse_run_config(const JsonFields& request);

// "shards"
[[nodiscard]] Result<std::vector<ManifestShard>, CommandError> parse_shards(
    const JsonFields& request, KeyForm keys);

// A lease object as it was printed, presented by this tenant.
[[nodiscard]] Result<coord::Lease, CommandError> parse_lease(const JsonFields& lease,
                                                             const coord::TenantId& tenant);
// "lease", "leases"
[[nodiscard]] Result<coord::Lease, CommandError> parse_lease_of(const JsonFields& request,
                                                                const coord::TenantId& tenant);
[[nodiscard]] Result<std::vector<coord::Lease>, CommandError> parse_leases_of(
    const JsonFields& request, const coord::TenantId& tenant);

// "last_key", "token"; both may be absent.
[[nodiscard]] Result<OwnedCursor, CommandError> parse_cursor(const JsonFields& request,
                                                             KeyForm keys);

// "reason"
[[nodiscard]] Result<coord::ParkReason, CommandError> parse_park_reason(const JsonFields& request);

// "filter", "root_only", "limit", "after"
[[nodiscard]] Result<ShardListing, CommandError> parse_shard_listing(const JsonFields& request);
// "limit", "after"
[[nodiscard]] Result<RunListing, CommandError> parse_run_listing(const JsonFields& request);

}  // namespace cadastre::cli
