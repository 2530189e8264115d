#include "server/grpc/coordination_service.h"

#include <optional>
#include <string_view>
#include <utility>

#include <grpcpp/grpcpp.h>

#include "base/clock.h"
#include "client/wire_error.h"
#include "server/coordination_handlers.h"
#include "server/grpc/claim_reactor.h"

namespace cadastre::server {

grpc::Status to_grpc(const client::WireStatus& status) {
  if (status.code == client::StatusCode::kOk) return grpc::Status::OK;
  return {static_cast<grpc::StatusCode>(status.code), status.message, status.details};
}

Caller CoordinationService::caller_of(const grpc::CallbackServerContext& context) const {
  Caller caller;
  if (parts_.access.needs_token()) {
    const auto header = context.client_metadata().find("authorization");
    if (header != context.client_metadata().end())
      caller.authorization = std::string_view(header->second.data(), header->second.size());
  }
  // gRPC has the end of time for a call without a deadline.
  caller.deadline = std::chrono::time_point_cast<std::chrono::nanoseconds>(context.deadline());
  return caller;
}

template <class Request, class Answer>
grpc::ServerUnaryReactor* CoordinationService::unary(grpc::CallbackServerContext& context,
                                                     const Request& request,
                                                     Answer& answer,
                                                     Handler<Request, Answer> handler) {
  grpc::ServerUnaryReactor* const reactor = context.DefaultReactor();
  (handlers_.*handler)(
      caller_of(context), request, answer,
      [reactor](const client::WireStatus& status) { reactor->Finish(to_grpc(status)); });
  return reactor;
}

grpc::ServerWriteReactor<v1::Grant>* CoordinationService::ClaimStream(
    grpc::CallbackServerContext* context, const v1::ClaimStreamRequest* request) {
  return open_claim_reactor(parts_, handlers_.open_claim_stream(caller_of(*context), *request));
}

}  // namespace cadastre::server
