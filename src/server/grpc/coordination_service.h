// CoordinationService: the generated service over the handlers. For grpc/ only: it knows gRPC.

#pragma once

#include <grpcpp/grpcpp.h>

#include "cadastre/v1/coordination.grpc.pb.h"

#include "server/coordination_handlers.h"

namespace cadastre::server {

class CoordinationService final : public v1::Coordination::CallbackService {
 public:
  // The parts outlive it.
  explicit CoordinationService(const HandlerParts& parts) : parts_(parts), handlers_(parts_) {}

// One method that answers once: gRPC's name, the messages, the handler.
#define CAD_UNARY(Name, Request, Answer, handler)                                                  \
  grpc::ServerUnaryReactor* Name(grpc::CallbackServerContext* context, const v1::Request* request, \
                                 v1::Answer* answer) override {                                    \
    return unary(*context, *request, *answer, &CoordinationHandlers::handler);                     \
  }
  CAD_UNARY(CreateRun, CreateRunRequest, Run, create_run)
  CAD_UNARY(RegisterShards, RegisterShardsRequest, RegisterShardsResponse, register_shards)
  CAD_UNARY(GetRun, GetRunRequest, Run, get_run)
  CAD_UNARY(GetRunProgress, GetRunProgressRequest, RunProgress, get_run_progress)
  CAD_UNARY(ListRuns, ListRunsRequest, ListRunsResponse, list_runs)
  CAD_UNARY(GetShard, GetShardRequest, Shard, get_shard)
  CAD_UNARY(ListShards, ListShardsRequest, ListShardsResponse, list_shards)
  CAD_UNARY(ListClaimCandidates,
            ListClaimCandidatesRequest,
            ListClaimCandidatesResponse,
            list_claim_candidates)
  CAD_UNARY(CompleteRun, EndRunRequest, OutcomeResponse, complete_run)
  CAD_UNARY(FailRun, EndRunRequest, OutcomeResponse, fail_run)
  CAD_UNARY(CancelRun, EndRunRequest, OutcomeResponse, cancel_run)
  CAD_UNARY(UnparkShard, UnparkShardRequest, UnparkShardResponse, unpark_shard)
  CAD_UNARY(CollectTerminalRuns,
            CollectTerminalRunsRequest,
            CollectTerminalRunsResponse,
            collect_terminal_runs)
  CAD_UNARY(Acquire, AcquireRequest, Grant, acquire)
  CAD_UNARY(Claim, ClaimRequest, Grant, claim)
  CAD_UNARY(Renew, RenewRequest, RenewResponse, renew)
  CAD_UNARY(RenewMany, RenewManyRequest, RenewManyResponse, renew_many)
  CAD_UNARY(Checkpoint, CheckpointRequest, OutcomeResponse, checkpoint)
  CAD_UNARY(Complete, CheckpointRequest, OutcomeResponse, complete)
  CAD_UNARY(Release, CheckpointRequest, OutcomeResponse, release)
  CAD_UNARY(Park, ParkRequest, OutcomeResponse, park)
  CAD_UNARY(SplitReplace, SplitReplaceRequest, SplitReplaceResponse, split_replace)
  CAD_UNARY(SplitResidual, SplitResidualRequest, SplitResidualResponse, split_residual)
#undef CAD_UNARY

  grpc::ServerWriteReactor<v1::Grant>* ClaimStream(grpc::CallbackServerContext* context,
                                                   const v1::ClaimStreamRequest* request) override;

 private:
  template <class Request, class Answer>
  using Handler = void (CoordinationHandlers::*)(const Caller&, const Request&, Answer&, Done);

  template <class Request, class Answer>
  grpc::ServerUnaryReactor* unary(grpc::CallbackServerContext& context,
                                  const Request& request,
                                  Answer& answer,
                                  Handler<Request, Answer> handler);
  [[nodiscard]] Caller caller_of(const grpc::CallbackServerContext& context) const;

  const HandlerParts parts_;
  CoordinationHandlers handlers_;
};

// What a client gets.
[[nodiscard]] grpc::Status to_grpc(const client::WireStatus& status);

}  // namespace cadastre::server
