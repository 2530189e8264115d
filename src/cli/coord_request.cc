#include "cli/coord_request.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/result.h"
#include "cli/command_error.h"
#include "cli/json_fields.h"
#include "cli/key_text.h"
#include "cli/manifest_file.h"
#include "cli/options.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/run_record.h"
#include "coord/shard_summary.h"
#include "coord/states.h"
#include "shard/cursor.h"

namespace cadastre::cli {
namespace {

// The field if it is there.
Result<std::optional<std::uint64_t>, CommandError> optional_u64(const JsonFields& request,
                                                                const char* name) {
  if (!request.has(name)) return std::nullopt;
  return CAD_TRY(request.u64(name));
}

Result<coord::TenantId, CommandError> parse_tenant(const JsonFields& request) {
  const bool by_name = request.has("tenant");
  if (by_name == request.has("tenant_id")) {
    return base::fail(
        bad_request("a request has either the field \"tenant\" or the field \"tenant_id\""));
  }
  if (!by_name) {
    return tenant_with_id(CAD_TRY(request.text("tenant_id")), "the field \"tenant_id\"");
  }
  const std::string_view name = CAD_TRY(request.text("tenant"));
  if (name.empty()) return base::fail(bad_request("the field \"tenant\" is empty"));
  return tenant_named(name);
}

// The error, told of an element of a list.
CommandError at_element(const char* list, std::size_t index, CommandError error) {
  return at(fmt::format("{}[{}]", list, index), std::move(error));
}

}  // namespace

Result<coord::TenantId, CommandError> tenant_with_id(std::string_view digits,
                                                     std::string_view what) {
  const base::Bytes bytes = CAD_TRY(parse_hex(digits, what));
  coord::TenantId::Bytes id{};
  if (bytes.size() != id.size()) {
    return base::fail(bad_request(fmt::format("{} has 64 hexadecimal digits", what)));
  }
  std::ranges::copy(bytes, id.begin());
  return coord::TenantId::from_bytes(id);
}

Result<OwnedCursor, CommandError> make_cursor(std::optional<base::Bytes> last_key,
                                              base::Bytes token) {
  if (last_key && last_key->empty()) {
    return base::fail(
        from_algebra(shard::CursorError{.code = shard::CursorError::Code::kEmptyLastKey}));
  }
  if (!last_key && !token.empty()) {
    return base::fail(bad_request("a token needs a last key beside it"));
  }
  return OwnedCursor{std::move(last_key).value_or(base::Bytes()), std::move(token)};
}

std::optional<coord::ShardFilter> filter_named(std::string_view name) noexcept {
  if (name == "all") return coord::ShardFilter::all();
  if (name == "active") return coord::ShardFilter::active();
  if (name == "available") return coord::ShardFilter::available();
  if (name == "parked") return coord::ShardFilter::parked();
  return std::nullopt;
}

Result<Caller, CommandError> parse_caller(const JsonFields& request) {
  const coord::TenantId tenant = CAD_TRY(parse_tenant(request));
  const std::uint64_t now = CAD_TRY(request.u64("now"));
  if (now == 0) return base::fail(bad_request("the field \"now\" is at least 1"));
  return Caller{tenant, coord::LogicalTime::from_raw(now)};
}

Result<coord::OpId, CommandError> parse_op_id(const JsonFields& request) {
  return coord::OpId::from_raw(CAD_TRY(request.u64("op_id")));
}

Result<coord::RunId, CommandError> parse_run(const JsonFields& request) {
  return coord::RunId::from_raw(CAD_TRY(request.u64("run")));
}

Result<coord::ShardKey, CommandError> parse_shard_key(const JsonFields& request) {
  const coord::RunId run = CAD_TRY(parse_run(request));
  return coord::ShardKey {
    run, coord::ShardId::from_raw(CAD_TRY(request.u64("shard")))
  };
}

Result<coord::WorkerId, CommandError> parse_worker(const JsonFields& request) {
  return coord::WorkerId::from_raw(CAD_TRY(request.u64("worker")));
}

Result<coord::RunConfig, CommandError> parse_run_config(const JsonFields& request) {
  coord::RunConfig config;
  config.lease_duration = CAD_TRY(request.u64("lease_ms"));
  if (request.has("semantics")) {
    const auto semantics = coord::semantics_named(CAD_TRY(request.text("semantics")));
    if (!semantics) {
      return base::fail(bad_request("the field \"semantics\" is none of completed, dispatched"));
    }
    config.cursor_semantics = *semantics;
  }
  if (const auto retries = CAD_TRY(optional_u64(request, "max_retries"))) {
    if (*retries > std::numeric_limits<std::uint32_t>::max()) {
      return base::fail(bad_request("the field \"max_retries\" is at most 2^32 - 1"));
    }
    config.max_shard_retries = static_cast<std::uint32_t>(*retries);
  }
  return config;
}

Result<std::vector<ManifestShard>, CommandError> parse_shards(const JsonFields& request,
                                                              KeyForm keys) {
  const auto objects = CAD_TRY(request.objects("shards"));
  std::vector<ManifestShard> shards;
  shards.reserve(objects.size());
  for (const JsonFields& object : objects) {
    auto shard = parse_manifest_shard(object, keys, std::nullopt);
    if (!shard) {
      return base::fail(at_element("shards", shards.size(), std::move(shard).error()));
    }
    shards.push_back(*std::move(shard));
  }
  return shards;
}

Result<coord::Lease, CommandError> parse_lease(const JsonFields& lease,
                                               const coord::TenantId& tenant) {
  coord::LeaseParts parts;
  parts.tenant = tenant;
  parts.key = CAD_TRY(parse_shard_key(lease));
  parts.owner = CAD_TRY(parse_worker(lease));
  parts.fence = coord::FenceEpoch::from_raw(CAD_TRY(lease.u64("fence")));
  parts.deadline = coord::LogicalTime::from_raw(CAD_TRY(lease.u64("deadline")));
  const auto presented = coord::Lease::presented(parts);
  if (!presented) {
    return base::fail(bad_request("a lease's fence and deadline are at least 1"));
  }
  return *presented;
}

Result<coord::Lease, CommandError> parse_lease_of(const JsonFields& request,
                                                  const coord::TenantId& tenant) {
  auto lease = parse_lease(CAD_TRY(request.object("lease")), tenant);
  if (!lease) return base::fail(at("lease", std::move(lease).error()));
  return lease;
}

Result<std::vector<coord::Lease>, CommandError> parse_leases_of(const JsonFields& request,
                                                                const coord::TenantId& tenant) {
  const auto objects = CAD_TRY(request.objects("leases"));
  std::vector<coord::Lease> leases;
  leases.reserve(objects.size());
  for (const JsonFields& object : objects) {
    auto lease = parse_lease(object, tenant);
    if (!lease) return base::fail(at_element("leases", leases.size(), std::move(lease).error()));
    leases.push_back(*lease);
  }
  return leases;
}

Result<OwnedCursor, CommandError> parse_cursor(const JsonFields& request, KeyForm keys) {
  std::optional<base::Bytes> last_key;
  if (request.has("last_key")) last_key = CAD_TRY(request.key("last_key", keys));
  base::Bytes token;
  if (request.has("token")) token = CAD_TRY(request.hex("token"));
  return make_cursor(std::move(last_key), std::move(token));
}

Result<coord::ParkReason, CommandError> parse_park_reason(const JsonFields& request) {
  const auto reason = coord::park_reason_named(CAD_TRY(request.text("reason")));
  if (reason) return *reason;
  return base::fail(
      bad_request("the field \"reason\" is none of permission_denied, not_found, poisoned, "
                  "too_many_errors, other"));
}

Result<ShardListing, CommandError> parse_shard_listing(const JsonFields& request) {
  ShardListing listing;
  if (request.has("filter")) {
    const auto filter = filter_named(CAD_TRY(request.text("filter")));
    if (!filter) {
      return base::fail(
          bad_request("the field \"filter\" is none of all, active, available, parked"));
    }
    listing.filter = *filter;
  }
  if (request.has("root_only")) listing.filter.root_only = CAD_TRY(request.flag("root_only"));
  if (const auto limit = CAD_TRY(optional_u64(request, "limit"))) listing.limit = *limit;
  if (const auto after = CAD_TRY(optional_u64(request, "after"))) {
    listing.after = coord::ShardId::from_raw(*after);
  }
  return listing;
}

Result<RunListing, CommandError> parse_run_listing(const JsonFields& request) {
  RunListing listing;
  if (const auto limit = CAD_TRY(optional_u64(request, "limit"))) listing.limit = *limit;
  if (const auto after = CAD_TRY(optional_u64(request, "after"))) {
    listing.after = coord::RunId::from_raw(*after);
  }
  return listing;
}

}  // namespace cadastre::cli
