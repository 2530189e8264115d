// Answers of the protocol and their messages, both ways.
//
// encode() writes what the tenant may see: no payload hash leaves. decode() is what a client does with what
// a server sent: a message that no server of ours sends is an InfraError, and never a value that breaks a
// rule of its type. Op-logs come back without hashes (0), a run's op-log not at all.
//
// Everything here is a pure function.

#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "base/attributes.h"
#include "base/result.h"
#include "client/wire_messages.h"
#include "coord/backend.h"
#include "coord/decide_split.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/outcome.h"
#include "coord/progress.h"
#include "coord/run_record.h"
#include "coord/shard_summary.h"
#include "coord/snapshot.h"

namespace cadastre::client {

using base::Result;
using coord::IdempotentOutcome;
using coord::InfraError;

// `out` is empty.
void encode(const coord::RunRecord& run, v1::Run& out);
void encode(const IdempotentOutcome<std::vector<coord::ShardId>>& registered,
            v1::RegisterShardsResponse& out);
void encode(const coord::RunProgress& progress, v1::RunProgress& out);
void encode(const std::vector<coord::RunId>& runs, v1::ListRunsResponse& out);
void encode(const coord::ShardDump& shard, v1::Shard& out);
void encode(const std::vector<coord::ShardSummary>& shards, v1::ListShardsResponse& out);
void encode(const coord::ClaimCandidates& candidates, v1::ListClaimCandidatesResponse& out);
void encode(const IdempotentOutcome<coord::Unit>& outcome, v1::OutcomeResponse& out);
void encode(const IdempotentOutcome<coord::FenceEpoch>& unparked, v1::UnparkShardResponse& out);
void encode(std::size_t collected, v1::CollectTerminalRunsResponse& out);
void encode(const coord::AcquireResultView& acquired, v1::Grant& out);
void encode(const coord::RenewResult& renewed, v1::RenewResponse& out);
void encode(const coord::CoordinationBackend::RenewedLeases& renewed, v1::RenewManyResponse& out);
void encode(const IdempotentOutcome<coord::SplitReplaceResult>& split,
            v1::SplitReplaceResponse& out);
void encode(const IdempotentOutcome<coord::SplitResidualResult>& split,
            v1::SplitResidualResponse& out);

template <class T>
using Answered = Result<T, InfraError>;

[[nodiscard]] Answered<coord::RunRecord> decode(const v1::Run& run, const coord::TenantId& tenant);
[[nodiscard]] Answered<IdempotentOutcome<std::vector<coord::ShardId>>> decode(
    const v1::RegisterShardsResponse& answer);
[[nodiscard]] Answered<coord::RunProgress> decode(const v1::RunProgress& progress);
[[nodiscard]] std::vector<coord::RunId> decode(const v1::ListRunsResponse& answer);
[[nodiscard]] Answered<coord::ShardDump> decode(const v1::Shard& shard,
                                                const coord::TenantId& tenant);
[[nodiscard]] Answered<std::vector<coord::ShardSummary>> decode(
    const v1::ListShardsResponse& answer);
[[nodiscard]] coord::ClaimCandidates decode(const v1::ListClaimCandidatesResponse& answer);
[[nodiscard]] Answered<IdempotentOutcome<coord::Unit>> decode(const v1::OutcomeResponse& answer);
[[nodiscard]] Answered<IdempotentOutcome<coord::FenceEpoch>> decode(
    const v1::UnparkShardResponse& answer);
[[nodiscard]] std::size_t decode(const v1::CollectTerminalRunsResponse& answer) noexcept;
// Borrows `out`, into which the grant's bytes are copied.
[[nodiscard]] Answered<coord::AcquireResultView> decode(const v1::Grant& grant,
                                                        const coord::TenantId& tenant,
                                                        coord::AcquireScratch& out
                                                            CAD_LIFETIMEBOUND);
[[nodiscard]] Answered<coord::RenewResult> decode(const v1::RenewResponse& answer);
// One result for each of `count` leases.
[[nodiscard]] Answered<coord::CoordinationBackend::RenewedLeases> decode(
    const v1::RenewManyResponse& answer, const coord::TenantId& tenant, std::size_t count);
[[nodiscard]] Answered<IdempotentOutcome<coord::SplitReplaceResult>> decode(
    const v1::SplitReplaceResponse& answer);
[[nodiscard]] Answered<IdempotentOutcome<coord::SplitResidualResult>> decode(
    const v1::SplitResidualResponse& answer);

}  // namespace cadastre::client
