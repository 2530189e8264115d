#include "server/coordination_handlers.h"

#include <memory>
#include <optional>
#include <utility>

#include "cadastre/v1/coordination.pb.h"

#include "base/result.h"
#include "client/wire_error.h"
#include "client/wire_request.h"
#include "client/wire_values.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/snapshot.h"
#include "server/access.h"
#include "server/admission.h"
#include "server/claim_waiters.h"
#include "server/operation_metrics.h"
#include "server/reply.h"

namespace cadastre::server {
namespace {

using client::Refusal;
using client::StatusCode;
using client::WireStatus;
using coord::RetryAdvice;

WireStatus not_allowed(Access access) {
  if (access == Access::kUnauthenticated) {
    return client::to_status(Refusal{StatusCode::kUnauthenticated, "unauthenticated",
                                     "a bearer token of this server is needed"});
  }
  return client::to_status(Refusal{StatusCode::kPermissionDenied, "permission_denied",
                                   "the token is not bound to this tenant"});
}

}  // namespace

std::optional<WireStatus> CoordinationHandlers::refusal(const Caller& caller,
                                                        Admission::Entry entry) const {
  switch (entry) {
    case Admission::Entry::kStopping:
      return client::to_status(Refusal{StatusCode::kUnavailable, "stopping",
                                       "the server is stopping; nothing was executed",
                                       RetryAdvice::kLater});
    case Admission::Entry::kOverloaded:
      return client::to_status(Refusal{StatusCode::kResourceExhausted, "overloaded",
                                       "too many calls are under way; nothing was executed",
                                       RetryAdvice::kLater});
    case Admission::Entry::kEntered: break;
  }
  if (caller.deadline && *caller.deadline <= parts_.clock.now()) {
    return client::to_status(Refusal{StatusCode::kDeadlineExceeded, "deadline_exceeded",
                                     "the deadline had passed; nothing was executed",
                                     RetryAdvice::kLater});
  }
  return std::nullopt;
}

template <class Request>
auto CoordinationHandlers::decode(const Caller& caller, const Request& request) const {
  using Arguments = typename decltype(client::decode(request))::value_type;
  using Decoded = base::Result<Arguments, WireStatus>;
  const auto tenant = client::tenant_from_wire(request.tenant());
  if (!tenant) return Decoded(base::fail(client::to_status(tenant.error())));
  const Access access = parts_.access.decide(caller.authorization, *tenant);
  if (access != Access::kAllowed) return Decoded(base::fail(not_allowed(access)));
  auto arguments = client::decode(request);
  if (!arguments) return Decoded(base::fail(client::to_status(arguments.error())));
  return Decoded(*std::move(arguments));
}

template <class Request, class Reply>
auto CoordinationHandlers::admit(const Caller& caller, const Request& request, Reply& reply) const {
  using Arguments = typename decltype(client::decode(request))::value_type;
  if (const auto refused = refusal(caller, reply.entry())) {
    reply.finish(*refused);
    return std::optional<Arguments>();
  }
  auto arguments = decode(caller, request);
  if (!arguments) {
    reply.finish(arguments.error());
    return std::optional<Arguments>();
  }
  return std::optional<Arguments>(*std::move(arguments));
}

template <class Arguments>
coord::LogicalTime CoordinationHandlers::now_of(const Arguments& arguments) const {
  return parts_.stamper.stamp_unless(arguments.now, arguments.tenant);
}

// ---- For operators and schedulers ------------------------------------------------------------------

void CoordinationHandlers::create_run(const Caller& caller,
                                      const v1::CreateRunRequest& request,
                                      v1::Run& answer,
                                      Done done) {
  Reply reply(parts_, Method::kCreateRun, answer, std::move(done));
  const auto asked = admit(caller, request, reply);
  if (!asked) return;
  parts_.backend.create_run(now_of(*asked), asked->tenant, asked->run, asked->config,
                            std::move(reply));
}

void CoordinationHandlers::register_shards(const Caller& caller,
                                           const v1::RegisterShardsRequest& request,
                                           v1::RegisterShardsResponse& answer,
                                           Done done) {
  Reply reply(parts_, Method::kRegisterShards, answer, std::move(done));
  const auto asked = admit(caller, request, reply);
  if (!asked) return;
  reply.will_wake({asked->tenant, asked->run});
  parts_.backend.register_shards(now_of(*asked), asked->tenant, asked->run, asked->shards,
                                 asked->op, std::move(reply));
}

void CoordinationHandlers::get_run(const Caller& caller,
                                   const v1::GetRunRequest& request,
                                   v1::Run& answer,
                                   Done done) {
  Reply reply(parts_, Method::kGetRun, answer, std::move(done));
  const auto asked = admit(caller, request, reply);
  if (!asked) return;
  parts_.backend.get_run(asked->tenant, asked->run, std::move(reply));
}

void CoordinationHandlers::get_run_progress(const Caller& caller,
                                            const v1::GetRunProgressRequest& request,
                                            v1::RunProgress& answer,
                                            Done done) {
  Reply reply(parts_, Method::kGetRunProgress, answer, std::move(done));
  const auto asked = admit(caller, request, reply);
  if (!asked) return;
  parts_.backend.get_run_progress(now_of(*asked), asked->tenant, asked->run, std::move(reply));
}

void CoordinationHandlers::list_runs(const Caller& caller,
                                     const v1::ListRunsRequest& request,
                                     v1::ListRunsResponse& answer,
                                     Done done) {
  Reply reply(parts_, Method::kListRuns, answer, std::move(done));
  const auto asked = admit(caller, request, reply);
  if (!asked) return;
  parts_.backend.list_runs(asked->tenant, asked->after, asked->limit, std::move(reply));
}

void CoordinationHandlers::get_shard(const Caller& caller,
                                     const v1::GetShardRequest& request,
                                     v1::Shard& answer,
                                     Done done) {
  Reply reply(parts_, Method::kGetShard, answer, std::move(done));
  const auto asked = admit(caller, request, reply);
  if (!asked) return;
  parts_.backend.get_shard(asked->tenant, asked->key, std::move(reply));
}

void CoordinationHandlers::list_shards(const Caller& caller,
                                       const v1::ListShardsRequest& request,
                                       v1::ListShardsResponse& answer,
                                       Done done) {
  Reply reply(parts_, Method::kListShards, answer, std::move(done));
  const auto asked = admit(caller, request, reply);
  if (!asked) return;
  parts_.backend.list_shards(now_of(*asked), asked->tenant, asked->run, asked->filter, asked->page,
                             std::move(reply));
}

void CoordinationHandlers::list_claim_candidates(const Caller& caller,
                                                 const v1::ListClaimCandidatesRequest& request,
                                                 v1::ListClaimCandidatesResponse& answer,
                                                 Done done) {
  Reply reply(parts_, Method::kListClaimCandidates, answer, std::move(done));
  const auto asked = admit(caller, request, reply);
  if (!asked) return;
  parts_.backend.collect_claim_candidates(now_of(*asked), asked->tenant, asked->run,
                                          std::move(reply));
}

void CoordinationHandlers::complete_run(const Caller& caller,
                                        const v1::EndRunRequest& request,
                                        v1::OutcomeResponse& answer,
                                        Done done) {
  Reply reply(parts_, Method::kCompleteRun, answer, std::move(done));
  const auto asked = admit(caller, request, reply);
  if (!asked) return;
  reply.will_wake({asked->tenant, asked->run});
  parts_.backend.complete_run(now_of(*asked), asked->tenant, asked->run, asked->op,
                              std::move(reply));
}

void CoordinationHandlers::fail_run(const Caller& caller,
                                    const v1::EndRunRequest& request,
                                    v1::OutcomeResponse& answer,
                                    Done done) {
  Reply reply(parts_, Method::kFailRun, answer, std::move(done));
  const auto asked = admit(caller, request, reply);
  if (!asked) return;
  reply.will_wake({asked->tenant, asked->run});
  parts_.backend.fail_run(now_of(*asked), asked->tenant, asked->run, asked->op, std::move(reply));
}

void CoordinationHandlers::cancel_run(const Caller& caller,
                                      const v1::EndRunRequest& request,
                                      v1::OutcomeResponse& answer,
                                      Done done) {
  Reply reply(parts_, Method::kCancelRun, answer, std::move(done));
  const auto asked = admit(caller, request, reply);
  if (!asked) return;
  reply.will_wake({asked->tenant, asked->run});
  parts_.backend.cancel_run(now_of(*asked), asked->tenant, asked->run, asked->op, std::move(reply));
}

void CoordinationHandlers::unpark_shard(const Caller& caller,
                                        const v1::UnparkShardRequest& request,
                                        v1::UnparkShardResponse& answer,
                                        Done done) {
  Reply reply(parts_, Method::kUnparkShard, answer, std::move(done));
  const auto asked = admit(caller, request, reply);
  if (!asked) return;
  reply.will_wake({asked->tenant, asked->key.run});
  parts_.backend.unpark_shard(now_of(*asked), asked->tenant, asked->key, asked->op,
                              std::move(reply));
}

void CoordinationHandlers::collect_terminal_runs(const Caller& caller,
                                                 const v1::CollectTerminalRunsRequest& request,
                                                 v1::CollectTerminalRunsResponse& answer,
                                                 Done done) {
  Reply reply(parts_, Method::kCollectTerminalRuns, answer, std::move(done));
  const auto asked = admit(caller, request, reply);
  if (!asked) return;
  parts_.backend.gc_terminal_runs(asked->tenant, asked->completed_before, std::move(reply));
}

// ---- For workers -----------------------------------------------------------------------------------

void CoordinationHandlers::acquire(const Caller& caller,
                                   const v1::AcquireRequest& request,
                                   v1::Grant& answer,
                                   Done done) {
  Reply reply(parts_, Method::kAcquire, answer, std::move(done));
  const auto asked = admit(caller, request, reply);
  if (!asked) return;
  auto scratch = std::make_unique_for_overwrite<coord::AcquireScratch>();
  coord::AcquireScratch& out = *scratch;
  parts_.backend.acquire_and_restore_into(
      now_of(*asked), asked->tenant, asked->key, asked->worker, out,
      [kept = std::move(scratch), reply = std::move(reply)](
          const base::Result<coord::AcquireResultView, coord::AcquireError>& acquired) mutable {
        reply(acquired);
      });
}

void CoordinationHandlers::claim(const Caller& caller,
                                 const v1::ClaimRequest& request,
                                 v1::Grant& answer,
                                 Done done) {
  Reply reply(parts_, Method::kClaim, answer, std::move(done));
  const auto asked = admit(caller, request, reply);
  if (!asked) return;
  auto scratch = std::make_unique_for_overwrite<coord::AcquireScratch>();
  coord::AcquireScratch& out = *scratch;
  parts_.backend.claim_next_available(
      now_of(*asked), asked->tenant, asked->run, asked->worker, out,
      [kept = std::move(scratch), reply = std::move(reply)](
          const base::Result<coord::AcquireResultView, coord::ClaimError>& claimed) mutable {
        reply(claimed);
      });
}

void CoordinationHandlers::renew(const Caller& caller,
                                 const v1::RenewRequest& request,
                                 v1::RenewResponse& answer,
                                 Done done) {
  Reply reply(parts_, Method::kRenew, answer, std::move(done));
  const auto asked = admit(caller, request, reply);
  if (!asked) return;
  parts_.backend.renew(now_of(*asked), asked->tenant, asked->lease, std::move(reply));
}

void CoordinationHandlers::renew_many(const Caller& caller,
                                      const v1::RenewManyRequest& request,
                                      v1::RenewManyResponse& answer,
                                      Done done) {
  Reply reply(parts_, Method::kRenewMany, answer, std::move(done));
  const auto asked = admit(caller, request, reply);
  if (!asked) return;
  parts_.backend.renew_many(now_of(*asked), asked->tenant, asked->leases, std::move(reply));
}

void CoordinationHandlers::checkpoint(const Caller& caller,
                                      const v1::CheckpointRequest& request,
                                      v1::OutcomeResponse& answer,
                                      Done done) {
  Reply reply(parts_, Method::kCheckpoint, answer, std::move(done));
  const auto asked = admit(caller, request, reply);
  if (!asked) return;
  parts_.backend.checkpoint(now_of(*asked), asked->tenant, asked->lease, asked->cursor, asked->op,
                            std::move(reply));
}

void CoordinationHandlers::complete(const Caller& caller,
                                    const v1::CheckpointRequest& request,
                                    v1::OutcomeResponse& answer,
                                    Done done) {
  Reply reply(parts_, Method::kComplete, answer, std::move(done));
  const auto asked = admit(caller, request, reply);
  if (!asked) return;
  parts_.backend.complete(now_of(*asked), asked->tenant, asked->lease, asked->cursor, asked->op,
                          std::move(reply));
}

void CoordinationHandlers::release(const Caller& caller,
                                   const v1::CheckpointRequest& request,
                                   v1::OutcomeResponse& answer,
                                   Done done) {
  Reply reply(parts_, Method::kRelease, answer, std::move(done));
  const auto asked = admit(caller, request, reply);
  if (!asked) return;
  reply.will_wake({asked->tenant, asked->lease.run()});
  parts_.backend.release_shard(now_of(*asked), asked->tenant, asked->lease, asked->cursor,
                               asked->op, std::move(reply));
}

void CoordinationHandlers::park(const Caller& caller,
                                const v1::ParkRequest& request,
                                v1::OutcomeResponse& answer,
                                Done done) {
  Reply reply(parts_, Method::kPark, answer, std::move(done));
  const auto asked = admit(caller, request, reply);
  if (!asked) return;
  parts_.backend.park_shard(now_of(*asked), asked->tenant, asked->lease, asked->reason, asked->op,
                            std::move(reply));
}

void CoordinationHandlers::split_replace(const Caller& caller,
                                         const v1::SplitReplaceRequest& request,
                                         v1::SplitReplaceResponse& answer,
                                         Done done) {
  Reply reply(parts_, Method::kSplitReplace, answer, std::move(done));
  const auto asked = admit(caller, request, reply);
  if (!asked) return;
  reply.will_wake({asked->tenant, asked->lease.run()});
  parts_.backend.split_replace(now_of(*asked), asked->tenant, asked->lease, asked->plan, asked->op,
                               std::move(reply));
}

void CoordinationHandlers::split_residual(const Caller& caller,
                                          const v1::SplitResidualRequest& request,
                                          v1::SplitResidualResponse& answer,
                                          Done done) {
  Reply reply(parts_, Method::kSplitResidual, answer, std::move(done));
  const auto asked = admit(caller, request, reply);
  if (!asked) return;
  reply.will_wake({asked->tenant, asked->lease.run()});
  parts_.backend.split_residual(now_of(*asked), asked->tenant, asked->lease, asked->plan, asked->op,
                                std::move(reply));
}

base::Result<client::ClaimStreamArguments, WireStatus> CoordinationHandlers::open_claim_stream(
    const Caller& caller, const v1::ClaimStreamRequest& request) {
  if (auto refused = refusal(caller, Admission::Entry::kEntered))
    return base::fail(*std::move(refused));
  return decode(caller, request);
}

}  // namespace cadastre::server
