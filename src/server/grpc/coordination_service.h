// CoordinationService: the generated service over the handlers. For grpc/ only: it knows gRPC.

#pragma once

#include <string>
#include <type_traits>

#include <grpcpp/grpcpp.h>

#include "cadastre/v1/coordination.grpc.pb.h"

#include "server/coordination_handlers.h"
#include "server/grpc/forwarder.h"

namespace cadastre::server {

class CoordinationService final : public v1::Coordination::CallbackService {
 public:
  // The parts and the forwarder outlive it; without a forwarder every call is answered here.
  CoordinationService(const HandlerParts& parts, Forwarder* forwarder)
      : parts_(parts), handlers_(parts_), forwarder_(forwarder) {}

// One method that answers once: gRPC's name, the messages, the handler.
#define CAD_UNARY(Name, Request, Answer, handler)                                                  \
  grpc::ServerUnaryReactor* Name(grpc::CallbackServerContext* context, const v1::Request* request, \
                                 v1::Answer* answer) override {                                    \
    const ForwardMethod<v1::Request, v1::Answer> forwarded = &ForwardStub::Name;                   \
    return unary(*context, {*request, *answer}, &CoordinationHandlers::handler, forwarded);        \
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
  struct Messages {
    const Request& request;
    Answer& answer;
  };

  template <class Request, class Answer>
  grpc::ServerUnaryReactor* unary(grpc::CallbackServerContext& context,
                                  std::type_identity_t<Messages<Request, Answer>> messages,
                                  Handler<Request, Answer> handler,
                                  ForwardMethod<Request, Answer> method);
  template <class Request, class Answer>
  void forward(const grpc::CallbackServerContext& context,
               grpc::ServerUnaryReactor& reactor,
               const Messages<Request, Answer>& messages,
               ForwardMethod<Request, Answer> method,
               const std::string& address);

  const HandlerParts parts_;
  CoordinationHandlers handlers_;
  Forwarder* const forwarder_;
};

// What the call brings; borrowed from it.
[[nodiscard]] Caller caller_of(const grpc::CallbackServerContext& context,
                               const CurrentAccess& access);
// What a client gets.
[[nodiscard]] grpc::Status to_grpc(const client::WireStatus& status);

}  // namespace cadastre::server
