#include "server/grpc/coordination_service.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <grpcpp/grpcpp.h>

#include "base/clock.h"
#include "base/result.h"
#include "client/wire_error.h"
#include "coord/errors.h"
#include "server/admission.h"
#include "server/coordination_handlers.h"
#include "server/grpc/claim_reactor.h"
#include "server/grpc/forwarder.h"
#include "server/leader_finder.h"

namespace cadastre::server {

grpc::Status to_grpc(const client::WireStatus& status) {
  if (status.code == client::StatusCode::kOk) return grpc::Status::OK;
  return {static_cast<grpc::StatusCode>(status.code), status.message, status.details};
}

Caller caller_of(const grpc::CallbackServerContext& context, const CurrentAccess& access) {
  Caller caller;
  if (access.needs_token()) {
    const auto header = context.client_metadata().find("authorization");
    if (header != context.client_metadata().end())
      caller.authorization = std::string_view(header->second.data(), header->second.size());
  }
  // gRPC has the end of time for a call without a deadline.
  caller.deadline = std::chrono::time_point_cast<std::chrono::nanoseconds>(context.deadline());
  return caller;
}

template <class Request, class Answer>
grpc::ServerUnaryReactor* CoordinationService::unary(
    grpc::CallbackServerContext& context,
    std::type_identity_t<Messages<Request, Answer>> messages,
    Handler<Request, Answer> handler,
    ForwardMethod<Request, Answer> method) {
  grpc::ServerUnaryReactor* const reactor = context.DefaultReactor();
  if (forwarder_ != nullptr) {
    const LeaderRoute route = forwarder_->route_of(context);
    if (route.where != LeaderRoute::Where::kHere) {
      forward(context, *reactor, messages, method, route.address);
      return reactor;
    }
  }
  (handlers_.*handler)(
      caller_of(context, parts_.access), messages.request, messages.answer,
      [reactor](const client::WireStatus& status) { reactor->Finish(to_grpc(status)); });
  return reactor;
}

// Without an address nobody leads.
template <class Request, class Answer>
void CoordinationService::forward(const grpc::CallbackServerContext& context,
                                  grpc::ServerUnaryReactor& reactor,
                                  const Messages<Request, Answer>& messages,
                                  ForwardMethod<Request, Answer> method,
                                  const std::string& address) {
  const Forwarder::Stubs* const stubs = address.empty() ? nullptr : forwarder_->stubs_of(address);
  if (stubs == nullptr) return reactor.Finish(to_grpc(Forwarder::no_leader()));
  const Admission::Entry entry = parts_.admission.enter();
  if (entry != Admission::Entry::kEntered) {
    return reactor.Finish(to_grpc(client::to_status(client::Refusal{
        client::StatusCode::kUnavailable, "overloaded",
        "the server is full or stopping; nothing was executed", coord::RetryAdvice::kLater})));
  }
  const std::shared_ptr<grpc::ClientContext> onward = Forwarder::context_of(context);
  (stubs->coordination->async()->*method)(onward.get(), &messages.request, &messages.answer,
                                          [this, &reactor, onward](const grpc::Status& status) {
                                            parts_.admission.leave();
                                            reactor.Finish(Forwarder::passed_on(status));
                                          });
}

grpc::ServerWriteReactor<v1::Grant>* CoordinationService::ClaimStream(
    grpc::CallbackServerContext* context, const v1::ClaimStreamRequest* request) {
  if (forwarder_ != nullptr) {
    const LeaderRoute route = forwarder_->route_of(*context);
    if (route.where == LeaderRoute::Where::kThere)
      return forwarder_->forward_claims(*context, *request, route.address);
    if (route.where == LeaderRoute::Where::kUnknown)
      return open_claim_reactor(parts_, base::fail(Forwarder::no_leader()));
  }
  return open_claim_reactor(
      parts_, handlers_.open_claim_stream(caller_of(*context, parts_.access), *request));
}

}  // namespace cadastre::server
