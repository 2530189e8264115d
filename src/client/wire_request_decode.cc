#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cadastre/v1/coordination.pb.h"

#include "base/result.h"
#include "client/limits.h"
#include "client/wire_request.h"
#include "client/wire_values.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/shard_summary.h"
#include "coord/states.h"
#include "shard/cursor.h"
#include "shard/manifest.h"
#include "shard/split_plan.h"

namespace cadastre::client {
namespace {

using coord::LogicalTime;
using coord::OpId;
using coord::RunId;
using coord::ShardId;
using coord::TenantId;
using coord::WorkerId;

constexpr std::string_view kLeftOut = "must not be left out";

std::unexpected<BadRequest> bad(std::string field, std::string_view detail) {
  return base::fail(BadRequest{std::move(field), std::string(detail)});
}

template <class Request>
Result<TenantId, BadRequest> tenant_of(const Request& request) {
  return tenant_from_wire(request.tenant());
}

template <class Request>
Result<Now, BadRequest> now_of(const Request& request) {
  if (!request.has_now()) return Now();
  if (request.now() == 0) return bad("now", "time 0 is no time; leave it out for the server's");
  return Now(LogicalTime::from_raw(request.now()));
}

template <class Request>
Result<coord::Lease, BadRequest> lease_of(const Request& request, const TenantId& tenant) {
  if (!request.has_lease()) return bad("lease", kLeftOut);
  return from_wire(request.lease(), tenant, "lease");
}

template <class Request>
Result<shard::CursorUpdate, BadRequest> cursor_of(const Request& request, std::string_view field) {
  if (!request.has_cursor()) return shard::CursorUpdate::initial();
  return from_wire(request.cursor(), field);
}

Result<std::size_t, BadRequest> limit_of(std::uint32_t limit) {
  if (limit > kListLimitMax) return bad("limit", fmt::format("at most {}", kListLimitMax));
  return limit == 0 ? kListLimitMax : limit;
}

template <class Request>
Decoded<RunArguments> decode_timed_run(const Request& request) {
  const TenantId tenant = CAD_TRY(tenant_of(request));
  return RunArguments {
    tenant, CAD_TRY(now_of(request))
    , RunId::from_raw(request.run())
  };
}

}  // namespace

Decoded<CreateRunArguments> decode(const v1::CreateRunRequest& request) {
  const TenantId tenant = CAD_TRY(tenant_of(request));
  const Now now = CAD_TRY(now_of(request));
  if (!request.has_config()) return bad("config", kLeftOut);
  return CreateRunArguments {
    tenant, now, RunId::from_raw(request.run()), CAD_TRY(from_wire(request.config()))
  };
}

Decoded<RegisterArguments> decode(const v1::RegisterShardsRequest& request) {
  const TenantId tenant = CAD_TRY(tenant_of(request));
  const Now now = CAD_TRY(now_of(request));
  if (request.shards_size() > kRequestShardsMax)
    return bad("shards", fmt::format("at most {}", coord::kMaxInitialShards));
  std::vector<shard::InitialShardInput> shards;
  shards.reserve(static_cast<std::size_t>(request.shards_size()));
  for (const v1::InitialShard& shard : request.shards()) {
    const auto field = [&](std::string_view name) {
      return fmt::format("shards[{}].{}", shards.size(), name);
    };
    if (!shard.has_spec()) return bad(field("spec"), kLeftOut);
    const auto cursor = CAD_TRY(cursor_of(shard, field("cursor")));
    shards.push_back({ShardId::from_raw(shard.shard()), from_wire(shard.spec()), cursor});
  }
  return RegisterArguments{tenant, now, RunId::from_raw(request.run()), std::move(shards),
                           OpId::from_raw(request.op_id())};
}

Decoded<RunArguments> decode(const v1::GetRunRequest& request) {
  return RunArguments {
    CAD_TRY(tenant_of(request))
    , Now(), RunId::from_raw(request.run())
  };
}

Decoded<RunArguments> decode(const v1::GetRunProgressRequest& request) {
  return decode_timed_run(request);
}

Decoded<RunArguments> decode(const v1::ListClaimCandidatesRequest& request) {
  return decode_timed_run(request);
}

Decoded<ListRunsArguments> decode(const v1::ListRunsRequest& request) {
  const TenantId tenant = CAD_TRY(tenant_of(request));
  std::optional<RunId> after;
  if (request.has_after()) after = RunId::from_raw(request.after());
  return ListRunsArguments {
    tenant, after, CAD_TRY(limit_of(request.limit()))
  };
}

Decoded<GetShardArguments> decode(const v1::GetShardRequest& request) {
  const TenantId tenant = CAD_TRY(tenant_of(request));
  return GetShardArguments{tenant,
                           {RunId::from_raw(request.run()), ShardId::from_raw(request.shard())}};
}

Decoded<ListShardsArguments> decode(const v1::ListShardsRequest& request) {
  ListShardsArguments arguments;
  arguments.tenant = CAD_TRY(tenant_of(request));
  arguments.now = CAD_TRY(now_of(request));
  arguments.run = RunId::from_raw(request.run());
  if (request.status() != v1::SHARD_STATUS_UNSPECIFIED) {
    arguments.filter.status = from_wire_number<coord::ShardStatus>(request.status());
    if (!arguments.filter.status) return bad("status", "no such status");
  }
  if (request.has_is_leased()) arguments.filter.is_leased = request.is_leased();
  arguments.filter.root_only = request.root_only();
  arguments.page.limit = CAD_TRY(limit_of(request.limit()));
  if (request.has_after()) arguments.page.after = ShardId::from_raw(request.after());
  return arguments;
}

Decoded<EndRunArguments> decode(const v1::EndRunRequest& request) {
  const TenantId tenant = CAD_TRY(tenant_of(request));
  return EndRunArguments {
    tenant, CAD_TRY(now_of(request))
    , RunId::from_raw(request.run()), OpId::from_raw(request.op_id())
  };
}

Decoded<UnparkArguments> decode(const v1::UnparkShardRequest& request) {
  const TenantId tenant = CAD_TRY(tenant_of(request));
  return UnparkArguments {
    tenant, CAD_TRY(now_of(request))
    , {RunId::from_raw(request.run()), ShardId::from_raw(request.shard())},
        OpId::from_raw(request.op_id())
  };
}

Decoded<CollectArguments> decode(const v1::CollectTerminalRunsRequest& request) {
  const TenantId tenant = CAD_TRY(tenant_of(request));
  return CollectArguments{tenant, LogicalTime::from_raw(request.completed_before())};
}

Decoded<AcquireArguments> decode(const v1::AcquireRequest& request) {
  const TenantId tenant = CAD_TRY(tenant_of(request));
  return AcquireArguments {
    tenant, CAD_TRY(now_of(request))
    , {RunId::from_raw(request.run()), ShardId::from_raw(request.shard())},
        WorkerId::from_raw(request.worker())
  };
}

Decoded<ClaimArguments> decode(const v1::ClaimRequest& request) {
  const TenantId tenant = CAD_TRY(tenant_of(request));
  return ClaimArguments {
    tenant, CAD_TRY(now_of(request))
    , RunId::from_raw(request.run()), WorkerId::from_raw(request.worker())
  };
}

Decoded<ClaimStreamArguments> decode(const v1::ClaimStreamRequest& request) {
  const TenantId tenant = CAD_TRY(tenant_of(request));
  if (request.grants_max() > kStreamGrantsMax)
    return bad("grants_max", fmt::format("at most {}", kStreamGrantsMax));
  return ClaimStreamArguments{tenant, RunId::from_raw(request.run()),
                              WorkerId::from_raw(request.worker()),
                              request.grants_max() == 0 ? 1U : request.grants_max()};
}

Decoded<RenewArguments> decode(const v1::RenewRequest& request) {
  const TenantId tenant = CAD_TRY(tenant_of(request));
  const Now now = CAD_TRY(now_of(request));
  return RenewArguments {
    tenant, now, CAD_TRY(lease_of(request, tenant))
  };
}

Decoded<RenewManyArguments> decode(const v1::RenewManyRequest& request) {
  const TenantId tenant = CAD_TRY(tenant_of(request));
  const Now now = CAD_TRY(now_of(request));
  if (request.leases_size() > kRequestLeasesMax)
    return bad("leases", fmt::format("at most {}", coord::kRenewManyMax));
  std::vector<coord::Lease> leases;
  leases.reserve(static_cast<std::size_t>(request.leases_size()));
  for (const v1::Lease& lease : request.leases())
    leases.push_back(CAD_TRY(from_wire(lease, tenant, fmt::format("leases[{}]", leases.size()))));
  return RenewManyArguments{tenant, now, std::move(leases)};
}

Decoded<CheckpointArguments> decode(const v1::CheckpointRequest& request) {
  const TenantId tenant = CAD_TRY(tenant_of(request));
  const Now now = CAD_TRY(now_of(request));
  const coord::Lease lease = CAD_TRY(lease_of(request, tenant));
  return CheckpointArguments {
    tenant, now, lease, CAD_TRY(cursor_of(request, "cursor"))
    , OpId::from_raw(request.op_id())
  };
}

Decoded<ParkArguments> decode(const v1::ParkRequest& request) {
  const TenantId tenant = CAD_TRY(tenant_of(request));
  const Now now = CAD_TRY(now_of(request));
  const coord::Lease lease = CAD_TRY(lease_of(request, tenant));
  const auto reason = from_wire_number<coord::ParkReason>(request.reason());
  if (!reason) return bad("reason", "no such reason");
  return ParkArguments{tenant, now, lease, *reason, OpId::from_raw(request.op_id())};
}

Decoded<SplitReplaceArguments> decode(const v1::SplitReplaceRequest& request) {
  const TenantId tenant = CAD_TRY(tenant_of(request));
  const Now now = CAD_TRY(now_of(request));
  const coord::Lease lease = CAD_TRY(lease_of(request, tenant));
  const auto count = static_cast<std::size_t>(request.children_size());
  if (count < 2 || count > coord::kMaxSplitChildren)
    return bad("children", fmt::format("2 to {} of them", coord::kMaxSplitChildren));
  std::vector<shard::SplitReplaceChild> children;
  children.reserve(count);
  for (const v1::SplitReplaceRequest::Child& child : request.children()) {
    const auto field = [&](std::string_view name) {
      return fmt::format("children[{}].{}", children.size(), name);
    };
    if (!child.has_spec()) return bad(field("spec"), kLeftOut);
    const auto cursor = CAD_TRY(cursor_of(child, field("cursor")));
    children.push_back({from_wire(child.spec()), cursor});
  }
  const auto plan = shard::SplitReplacePlan::try_make(children);
  if (!plan) return bad("children", code_name(plan.error()));
  return SplitReplaceArguments{tenant, now, lease, *plan, OpId::from_raw(request.op_id())};
}

Decoded<SplitResidualArguments> decode(const v1::SplitResidualRequest& request) {
  const TenantId tenant = CAD_TRY(tenant_of(request));
  const Now now = CAD_TRY(now_of(request));
  const coord::Lease lease = CAD_TRY(lease_of(request, tenant));
  if (!request.has_new_parent()) return bad("new_parent", kLeftOut);
  if (!request.has_residual()) return bad("residual", kLeftOut);
  const auto plan = shard::SplitResidualPlan::try_make(from_wire(request.new_parent()),
                                                       from_wire(request.residual()));
  if (!plan) return bad("residual", code_name(plan.error()));
  return SplitResidualArguments{tenant, now, lease, *plan, OpId::from_raw(request.op_id())};
}

}  // namespace cadastre::client
