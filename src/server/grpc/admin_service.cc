#include "server/grpc/admin_service.h"

#include <memory>

#include <grpcpp/grpcpp.h>

#include "cadastre/v1/admin.grpc.pb.h"

#include "client/wire_error.h"
#include "server/admin_handlers.h"
#include "server/grpc/coordination_service.h"
#include "server/grpc/forwarder.h"
#include "server/leader_finder.h"

namespace cadastre::server {

template <class Request, class Answer>
grpc::ServerUnaryReactor* AdminService::here(grpc::CallbackServerContext& context,
                                             Messages<Request, Answer> messages,
                                             AdminHandler<Request, Answer> handler) {
  grpc::ServerUnaryReactor* const reactor = context.DefaultReactor();
  (handlers_.*handler)(
      caller_of(context, parts_.access), messages.request, messages.answer,
      [reactor](const client::WireStatus& status) { reactor->Finish(to_grpc(status)); });
  return reactor;
}

template <class Request, class Answer>
grpc::ServerUnaryReactor* AdminService::at_leader(grpc::CallbackServerContext& context,
                                                  Messages<Request, Answer> messages,
                                                  AdminHandler<Request, Answer> handler,
                                                  AdminMethod<Request, Answer> method) {
  if (forwarder_ == nullptr) return here(context, messages, handler);
  const LeaderRoute route = forwarder_->route_of(context);
  if (route.where == LeaderRoute::Where::kHere) return here(context, messages, handler);
  grpc::ServerUnaryReactor* const reactor = context.DefaultReactor();
  const Forwarder::Stubs* const stubs =
      route.address.empty() ? nullptr : forwarder_->stubs_of(route.address);
  if (stubs == nullptr) {
    reactor->Finish(to_grpc(Forwarder::no_leader()));
    return reactor;
  }
  const std::shared_ptr<grpc::ClientContext> onward = Forwarder::context_of(context);
  (stubs->admin->async()->*method)(onward.get(), &messages.request, &messages.answer,
                                   [reactor, onward](const grpc::Status& status) {
                                     reactor->Finish(Forwarder::passed_on(status));
                                   });
  return reactor;
}

grpc::ServerUnaryReactor* AdminService::GetMembership(grpc::CallbackServerContext* context,
                                                      const v1::GetMembershipRequest* request,
                                                      v1::Membership* answer) {
  const Messages<v1::GetMembershipRequest, v1::Membership> messages{*request, *answer};
  const bool nobody_leads =
      forwarder_ != nullptr && forwarder_->route_of(*context).where == LeaderRoute::Where::kUnknown;
  if (request->here() || nobody_leads)
    return here(*context, messages, &AdminHandlers::get_membership);
  return at_leader(*context, messages, &AdminHandlers::get_membership, &AdminStub::GetMembership);
}

grpc::ServerUnaryReactor* AdminService::ChangeMembership(grpc::CallbackServerContext* context,
                                                         const v1::ChangeMembershipRequest* request,
                                                         v1::Membership* answer) {
  const Messages<v1::ChangeMembershipRequest, v1::Membership> messages{*request, *answer};
  return at_leader(*context, messages, &AdminHandlers::change_membership,
                   &AdminStub::ChangeMembership);
}

grpc::ServerUnaryReactor* AdminService::TransferLeadership(
    grpc::CallbackServerContext* context,
    const v1::TransferLeadershipRequest* request,
    v1::TransferLeadershipResponse* answer) {
  const Messages<v1::TransferLeadershipRequest, v1::TransferLeadershipResponse> messages{*request,
                                                                                         *answer};
  return at_leader(*context, messages, &AdminHandlers::transfer_leadership,
                   &AdminStub::TransferLeadership);
}

}  // namespace cadastre::server
