#include "coord/replicated/replicated_backend.h"

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "base/result.h"
#include "coord/async_backend.h"
#include "coord/backend.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/limits.h"
#include "coord/memory/memory_backend.h"
#include "coord/outcome.h"
#include "coord/progress.h"
#include "coord/record_codec.h"
#include "coord/replicated/answer.h"
#include "coord/replicated/command.h"
#include "coord/replicated/machine.h"
#include "coord/replicated/settings.h"
#include "coord/run_record.h"
#include "coord/shard_summary.h"
#include "coord/snapshot.h"
#include "coord/states.h"
#include "log/group.h"
#include "log/limits.h"
#include "log/propose.h"

namespace cadastre::coord::replicated {
namespace {

InfraError not_known(const char* label, const base::Error<log::ProposeError>& error) {
  return transient(
      label, std::string(name_of(error.code)) + (error.detail.empty() ? "" : ": " + error.detail));
}

// What an operation says to bytes that no entry can hold; nothing where none can be so many.
template <class E>
E too_large([[maybe_unused]] std::size_t bytes) {
  if constexpr (std::is_same_v<E, RegisterShardsError>) {
    return RegistrationExhausted{"entry_bytes"};
  } else if constexpr (requires { E(ResourceExhausted{}); }) {
    return ResourceExhausted{{.resource = base::SlabResource::kBytes,
                              .requested = bytes,
                              .available = log::kCommandBytesMax}};
  } else {
    CAD_CHECK(false, "an operation without bytes of its own fits an entry");
  }
}

// The scratch-filling answer of an acquisition.
template <class E>
auto restoring(AcquireScratch& out, Completion<AcquireResultView, E> done) {
  return [&out, done = std::move(done)](Result<AcquireAnswer, E> answer) mutable {
    if (!answer) return done(base::fail(std::move(answer.error())));
    done(answer->restore_into(out));
  };
}

}  // namespace

template <class Reply, class Done>
void ReplicatedBackend::propose(const Command& command, const char* label, Done done) {
  const base::Bytes bytes = encode(command);
  if (bytes.size() > log::kCommandBytesMax) {
    return done(base::fail(too_large<typename Reply::error_type>(bytes.size())));
  }
  propose_bytes<Reply>(bytes, label, std::move(done));
}

template <class Reply, class Done>
void ReplicatedBackend::propose_bytes(base::ByteView command, const char* label, Done done) {
  using E = typename Reply::error_type;
  std::array proposals{
      log::Proposal{command, [label, done = std::move(done)](log::Answer answer) mutable {
                      if (!answer) return done(base::fail(E(not_known(label, answer.error()))));
                      auto reply = decode_answer<Reply>(answer->result);
                      if (!reply) {
                        return done(base::fail(E(corruption(label, to_text(reply.error())))));
                      }
                      done(*std::move(reply));
                    }}};
  group_.propose(proposals, log::Class::kUser);
}

template <class T, class E, class Read>
void ReplicatedBackend::read(const char* label, Read read, Completion<T, E> done) {
  read_in<T, E>(log::ReadMode::kLeaseIfValid, label, std::move(read), std::move(done));
}

template <class T, class E, class Read>
void ReplicatedBackend::read_in(log::ReadMode mode,
                                const char* label,
                                Read read,
                                Completion<T, E> done) {
  group_.read_barrier(mode, [this, label, read = std::move(read),
                             done = std::move(done)](log::ReadAnswer barrier) mutable {
    if (!barrier) return done(base::fail(E(transient(label, barrier.error().detail))));
    auto found = machine_.read(read);
    if (group_.still_holds(*barrier)) return done(std::move(found));
    read_in<T, E>(log::ReadMode::kLinearizable, label, std::move(read), std::move(done));
  });
}

void ReplicatedBackend::configure(const Settings& settings,
                                  Completion<std::size_t, InfraError> done) {
  propose_bytes<CountReply>(encode({{}, {}, Configure{settings}}), "configure.propose",
                            std::move(done));
}

// NOLINTBEGIN(readability-function-size): an operation of five parameters, and its completion

void ReplicatedBackend::acquire_and_restore_into(LogicalTime now,
                                                 const TenantId& tenant,
                                                 const ShardKey& key,
                                                 WorkerId worker,
                                                 AcquireScratch& out,
                                                 Completion<AcquireResultView, AcquireError> done) {
  propose<AcquireReply>({now, tenant, Acquire{key, worker}}, "acquire.propose",
                        restoring<AcquireError>(out, std::move(done)));
}

void ReplicatedBackend::renew(LogicalTime now,
                              const TenantId& tenant,
                              const Lease& lease,
                              Completion<RenewResult, RenewError> done) {
  propose<RenewReply>({now, tenant, Renew{lease}}, "renew.propose", std::move(done));
}

void ReplicatedBackend::renew_many(
    LogicalTime now,
    const TenantId& tenant,
    std::span<const Lease> leases,
    Completion<CoordinationBackend::RenewedLeases, RenewManyError> done) {
  if (leases.size() > kRenewManyMax) {
    return done(base::fail(RenewManyError(TooManyLeases{leases.size(), kRenewManyMax})));
  }
  propose<RenewManyReply>({now, tenant, RenewMany{leases}}, "renew_many.propose", std::move(done));
}

void ReplicatedBackend::checkpoint(LogicalTime now,
                                   const TenantId& tenant,
                                   const Lease& lease,
                                   const CursorUpdate& cursor,
                                   OpId op,
                                   Completion<IdempotentOutcome<Unit>, CheckpointError> done) {
  propose<CheckpointReply>({now, tenant, Checkpoint{lease, cursor, op}}, "checkpoint.propose",
                           std::move(done));
}

void ReplicatedBackend::complete(LogicalTime now,
                                 const TenantId& tenant,
                                 const Lease& lease,
                                 const CursorUpdate& cursor,
                                 OpId op,
                                 Completion<IdempotentOutcome<Unit>, CompleteError> done) {
  propose<CheckpointReply>({now, tenant, Complete{lease, cursor, op}}, "complete.propose",
                           std::move(done));
}

void ReplicatedBackend::park_shard(LogicalTime now,
                                   const TenantId& tenant,
                                   const Lease& lease,
                                   ParkReason reason,
                                   OpId op,
                                   Completion<IdempotentOutcome<Unit>, ParkError> done) {
  propose<ParkReply>({now, tenant, Park{lease, reason, op}}, "park.propose", std::move(done));
}

void ReplicatedBackend::release_shard(LogicalTime now,
                                      const TenantId& tenant,
                                      const Lease& lease,
                                      const CursorUpdate& cursor,
                                      OpId op,
                                      Completion<IdempotentOutcome<Unit>, ReleaseError> done) {
  propose<ReleaseReply>({now, tenant, Release{lease, cursor, op}}, "release.propose",
                        std::move(done));
}

void ReplicatedBackend::split_replace(
    LogicalTime now,
    const TenantId& tenant,
    const Lease& lease,
    const SplitReplacePlan& plan,
    OpId op,
    Completion<IdempotentOutcome<SplitReplaceResult>, SplitReplaceError> done) {
  propose<SplitReplaceReply>({now, tenant, SplitReplace{lease, op, plan.children()}},
                             "split_replace.propose", std::move(done));
}

void ReplicatedBackend::split_residual(
    LogicalTime now,
    const TenantId& tenant,
    const Lease& lease,
    const SplitResidualPlan& plan,
    OpId op,
    Completion<IdempotentOutcome<SplitResidualResult>, SplitResidualError> done) {
  propose<SplitResidualReply>(
      {now, tenant, SplitResidual{lease, op, plan.new_parent(), plan.residual()}},
      "split_residual.propose", std::move(done));
}

void ReplicatedBackend::create_run(LogicalTime now,
                                   const TenantId& tenant,
                                   RunId run,
                                   const RunConfig& config,
                                   Completion<RunRecord, CreateRunError> done) {
  propose<CreateRunReply>({now, tenant, CreateRun{run, config}}, "create_run.propose",
                          std::move(done));
}

void ReplicatedBackend::register_shards(
    LogicalTime now,
    const TenantId& tenant,
    RunId run,
    std::span<const InitialShardInput> shards,
    OpId op,
    Completion<IdempotentOutcome<std::vector<ShardId>>, RegisterShardsError> done) {
  propose<RegisterReply>({now, tenant, RegisterShards{run, op, shards, shards.size()}},
                         "register_shards.propose", std::move(done));
}

void ReplicatedBackend::get_run(const TenantId& tenant,
                                RunId run,
                                Completion<RunRecord, GetRunError> done) {
  read<RunRecord, GetRunError>(
      "get_run.read",
      [tenant, run](memory::MemoryBackend& records) { return records.get_run(tenant, run); },
      std::move(done));
}

void ReplicatedBackend::get_run_progress(LogicalTime now,
                                         const TenantId& tenant,
                                         RunId run,
                                         Completion<RunProgress, GetRunError> done) {
  read<RunProgress, GetRunError>(
      "get_run_progress.read",
      [now, tenant, run](memory::MemoryBackend& records) {
        return records.get_run_progress(now, tenant, run);
      },
      std::move(done));
}

void ReplicatedBackend::get_shard(const TenantId& tenant,
                                  const ShardKey& key,
                                  Completion<ShardDump, GetShardError> done) {
  read<ShardDump, GetShardError>(
      "get_shard.read",
      [tenant, key](memory::MemoryBackend& records) { return records.get_shard(tenant, key); },
      std::move(done));
}

void ReplicatedBackend::list_shards(LogicalTime now,
                                    const TenantId& tenant,
                                    RunId run,
                                    const ShardFilter& filter,
                                    const ShardPage& page,
                                    Completion<std::vector<ShardSummary>, ListShardsError> done) {
  read<std::vector<ShardSummary>, ListShardsError>(
      "list_shards.read",
      [now, tenant, run, filter,
       page](memory::MemoryBackend& records) -> Result<std::vector<ShardSummary>, ListShardsError> {
        std::vector<ShardSummary> shards;
        CAD_TRY(records.list_shards_into(now, tenant, run, filter, page, shards));
        return shards;
      },
      std::move(done));
}

void ReplicatedBackend::list_runs(const TenantId& tenant,
                                  std::optional<RunId> after,
                                  std::size_t limit,
                                  Completion<std::vector<RunId>, InfraError> done) {
  read<std::vector<RunId>, InfraError>(
      "list_runs.read",
      [tenant, after, limit](memory::MemoryBackend& records) {
        return records.list_runs(tenant, after, limit);
      },
      std::move(done));
}

void ReplicatedBackend::collect_claim_candidates(LogicalTime now,
                                                 const TenantId& tenant,
                                                 RunId run,
                                                 Completion<ClaimCandidates, GetRunError> done) {
  read<ClaimCandidates, GetRunError>(
      "collect_claim_candidates.read",
      [now, tenant, run](memory::MemoryBackend& records) -> Result<ClaimCandidates, GetRunError> {
        ClaimCandidates candidates;
        candidates.earliest_deadline =
            CAD_TRY(records.collect_claim_candidates_into(now, tenant, run, candidates.shards));
        return candidates;
      },
      std::move(done));
}

void ReplicatedBackend::complete_run(LogicalTime now,
                                     const TenantId& tenant,
                                     RunId run,
                                     OpId op,
                                     Completion<IdempotentOutcome<Unit>, RunTransitionError> done) {
  propose<TransitionReply>({now, tenant, CompleteRun{run, op}}, "complete_run.propose",
                           std::move(done));
}

void ReplicatedBackend::fail_run(LogicalTime now,
                                 const TenantId& tenant,
                                 RunId run,
                                 OpId op,
                                 Completion<IdempotentOutcome<Unit>, RunTransitionError> done) {
  propose<TransitionReply>({now, tenant, FailRun{run, op}}, "fail_run.propose", std::move(done));
}

void ReplicatedBackend::cancel_run(LogicalTime now,
                                   const TenantId& tenant,
                                   RunId run,
                                   OpId op,
                                   Completion<IdempotentOutcome<Unit>, RunTransitionError> done) {
  propose<TransitionReply>({now, tenant, CancelRun{run, op}}, "cancel_run.propose",
                           std::move(done));
}

void ReplicatedBackend::unpark_shard(LogicalTime now,
                                     const TenantId& tenant,
                                     const ShardKey& key,
                                     OpId op,
                                     Completion<IdempotentOutcome<FenceEpoch>, UnparkError> done) {
  propose<UnparkReply>({now, tenant, Unpark{key, op}}, "unpark.propose", std::move(done));
}

void ReplicatedBackend::gc_terminal_runs(const TenantId& tenant,
                                         LogicalTime completed_before,
                                         Completion<std::size_t, InfraError> done) {
  propose<CountReply>({{}, tenant, GcTerminalRuns{completed_before}}, "gc_terminal_runs.propose",
                      std::move(done));
}

void ReplicatedBackend::claim_next_available(LogicalTime now,
                                             const TenantId& tenant,
                                             RunId run,
                                             WorkerId worker,
                                             AcquireScratch& out,
                                             Completion<AcquireResultView, ClaimError> done) {
  propose<ClaimReply>({now, tenant, Claim{run, worker}}, "claim.propose",
                      restoring<ClaimError>(out, std::move(done)));
}

// NOLINTEND(readability-function-size)

}  // namespace cadastre::coord::replicated
