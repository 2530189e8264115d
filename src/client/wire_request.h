// Requests of cadastre.v1 and the arguments that they stand for, both ways.
//
// decode() is what a server does with whatever arrives: the arguments, or the first field that is wrong;
// nothing is guessed. It refuses what the interfaces (coord/backend.h) cannot be asked. What they can be
// asked and refuse, such as a key that is too large, passes through and gets their own error. encode() is
// its inverse.
//
// Arguments borrow the bytes of the message that they were read from. `now` absent: the server's clock.
// Everything here is a pure function.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/attributes.h"
#include "base/result.h"
#include "client/wire_messages.h"
#include "client/wire_values.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/run_record.h"
#include "coord/shard_summary.h"
#include "coord/states.h"
#include "shard/cursor.h"
#include "shard/manifest.h"
#include "shard/split_plan.h"

namespace cadastre::client {

using Now = std::optional<coord::LogicalTime>;

struct CreateRunArguments {
  coord::TenantId tenant;
  Now now;
  coord::RunId run;
  coord::RunConfig config;
};

struct RegisterArguments {
  coord::TenantId tenant;
  Now now;
  coord::RunId run;
  std::vector<shard::InitialShardInput> shards;
  coord::OpId op;
};

// Of get_run (without a time), get_run_progress and collect_claim_candidates.
struct RunArguments {
  coord::TenantId tenant;
  Now now;
  coord::RunId run;
};

struct ListRunsArguments {
  coord::TenantId tenant;
  std::optional<coord::RunId> after;
  std::size_t limit = 0;  // 1 to kListLimitMax
};

struct GetShardArguments {
  coord::TenantId tenant;
  coord::ShardKey key;
};

struct ListShardsArguments {
  coord::TenantId tenant;
  Now now;
  coord::RunId run;
  coord::ShardFilter filter;
  coord::ShardPage page;  // of 1 to kListLimitMax
};

struct EndRunArguments {
  coord::TenantId tenant;
  Now now;
  coord::RunId run;
  coord::OpId op;
};

struct UnparkArguments {
  coord::TenantId tenant;
  Now now;
  coord::ShardKey key;
  coord::OpId op;
};

struct CollectArguments {
  coord::TenantId tenant;
  coord::LogicalTime completed_before;
};

struct AcquireArguments {
  coord::TenantId tenant;
  Now now;
  coord::ShardKey key;
  coord::WorkerId worker;
};

struct ClaimArguments {
  coord::TenantId tenant;
  Now now;
  coord::RunId run;
  coord::WorkerId worker;
};

struct ClaimStreamArguments {
  coord::TenantId tenant;
  coord::RunId run;
  coord::WorkerId worker;
  std::uint32_t grants_max = 1;  // 1 to kStreamGrantsMax
};

struct RenewArguments {
  coord::TenantId tenant;
  Now now;
  coord::Lease lease;
};

struct RenewManyArguments {
  coord::TenantId tenant;
  Now now;
  std::vector<coord::Lease> leases;
};

// Of checkpoint, complete and release.
struct CheckpointArguments {
  coord::TenantId tenant;
  Now now;
  coord::Lease lease;
  shard::CursorUpdate cursor;
  coord::OpId op;
};

struct ParkArguments {
  coord::TenantId tenant;
  Now now;
  coord::Lease lease;
  coord::ParkReason reason;
  coord::OpId op;
};

// 24 KiB, as the plan.
struct SplitReplaceArguments {
  coord::TenantId tenant;
  Now now;
  coord::Lease lease;
  shard::SplitReplacePlan plan;
  coord::OpId op;
};

struct SplitResidualArguments {
  coord::TenantId tenant;
  Now now;
  coord::Lease lease;
  shard::SplitResidualPlan plan;
  coord::OpId op;
};

template <class Arguments>
using Decoded = Result<Arguments, BadRequest>;

[[nodiscard]] Decoded<CreateRunArguments> decode(const v1::CreateRunRequest& request);
[[nodiscard]] Decoded<RegisterArguments> decode(
    const v1::RegisterShardsRequest& request CAD_LIFETIMEBOUND);
[[nodiscard]] Decoded<RunArguments> decode(const v1::GetRunRequest& request);
[[nodiscard]] Decoded<RunArguments> decode(const v1::GetRunProgressRequest& request);
[[nodiscard]] Decoded<RunArguments> decode(const v1::ListClaimCandidatesRequest& request);
[[nodiscard]] Decoded<ListRunsArguments> decode(const v1::ListRunsRequest& request);
[[nodiscard]] Decoded<GetShardArguments> decode(const v1::GetShardRequest& request);
[[nodiscard]] Decoded<ListShardsArguments> decode(const v1::ListShardsRequest& request);
[[nodiscard]] Decoded<EndRunArguments> decode(const v1::EndRunRequest& request);
[[nodiscard]] Decoded<UnparkArguments> decode(const v1::UnparkShardRequest& request);
[[nodiscard]] Decoded<CollectArguments> decode(const v1::CollectTerminalRunsRequest& request);
[[nodiscard]] Decoded<AcquireArguments> decode(const v1::AcquireRequest& request);
[[nodiscard]] Decoded<ClaimArguments> decode(const v1::ClaimRequest& request);
[[nodiscard]] Decoded<ClaimStreamArguments> decode(const v1::ClaimStreamRequest& request);
[[nodiscard]] Decoded<RenewArguments> decode(const v1::RenewRequest& request);
[[nodiscard]] Decoded<RenewManyArguments> decode(const v1::RenewManyRequest& request);
[[nodiscard]] Decoded<CheckpointArguments> decode(
    const v1::CheckpointRequest& request CAD_LIFETIMEBOUND);
[[nodiscard]] Decoded<ParkArguments> decode(const v1::ParkRequest& request);
[[nodiscard]] Decoded<SplitReplaceArguments> decode(
    const v1::SplitReplaceRequest& request CAD_LIFETIMEBOUND);
[[nodiscard]] Decoded<SplitResidualArguments> decode(
    const v1::SplitResidualRequest& request CAD_LIFETIMEBOUND);

// `out` is empty.
void encode(const CreateRunArguments& arguments, v1::CreateRunRequest& out);
void encode(const RegisterArguments& arguments, v1::RegisterShardsRequest& out);
void encode(const RunArguments& arguments, v1::GetRunRequest& out);
void encode(const RunArguments& arguments, v1::GetRunProgressRequest& out);
void encode(const RunArguments& arguments, v1::ListClaimCandidatesRequest& out);
void encode(const ListRunsArguments& arguments, v1::ListRunsRequest& out);
void encode(const GetShardArguments& arguments, v1::GetShardRequest& out);
void encode(const ListShardsArguments& arguments, v1::ListShardsRequest& out);
void encode(const EndRunArguments& arguments, v1::EndRunRequest& out);
void encode(const UnparkArguments& arguments, v1::UnparkShardRequest& out);
void encode(const CollectArguments& arguments, v1::CollectTerminalRunsRequest& out);
void encode(const AcquireArguments& arguments, v1::AcquireRequest& out);
void encode(const ClaimArguments& arguments, v1::ClaimRequest& out);
void encode(const ClaimStreamArguments& arguments, v1::ClaimStreamRequest& out);
void encode(const RenewArguments& arguments, v1::RenewRequest& out);
void encode(const RenewManyArguments& arguments, v1::RenewManyRequest& out);
void encode(const CheckpointArguments& arguments, v1::CheckpointRequest& out);
void encode(const ParkArguments& arguments, v1::ParkRequest& out);
void encode(const SplitReplaceArguments& arguments, v1::SplitReplaceRequest& out);
void encode(const SplitResidualArguments& arguments, v1::SplitResidualRequest& out);

}  // namespace cadastre::client
