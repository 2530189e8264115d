// AdminService: the generated service over the handlers. For grpc/ only: it knows gRPC.

#pragma once

#include <functional>

#include <grpcpp/grpcpp.h>

#include "cadastre/v1/admin.grpc.pb.h"

#include "server/admin_handlers.h"
#include "server/grpc/forwarder.h"

namespace cadastre::server {

class AdminService final : public v1::Admin::CallbackService {
 public:
  // The parts and the forwarder outlive it; without a forwarder every call is answered here.
  AdminService(const AdminParts& parts, Forwarder* forwarder)
      : parts_(parts), handlers_(parts), forwarder_(forwarder) {}

  grpc::ServerUnaryReactor* GetMembership(grpc::CallbackServerContext* context,
                                          const v1::GetMembershipRequest* request,
                                          v1::Membership* answer) override;
  grpc::ServerUnaryReactor* ChangeMembership(grpc::CallbackServerContext* context,
                                             const v1::ChangeMembershipRequest* request,
                                             v1::Membership* answer) override;
  grpc::ServerUnaryReactor* TransferLeadership(grpc::CallbackServerContext* context,
                                               const v1::TransferLeadershipRequest* request,
                                               v1::TransferLeadershipResponse* answer) override;

 private:
  using AdminStub = v1::Admin::StubInterface::async_interface;
  template <class Request, class Answer>
  using AdminMethod = void (AdminStub::*)(grpc::ClientContext*,
                                          const Request*,
                                          Answer*,
                                          std::function<void(grpc::Status)>);
  template <class Request, class Answer>
  using AdminHandler = void (AdminHandlers::*)(const Caller&, const Request&, Answer&, Done);

  // Messages of one method, borrowed until it is answered.
  template <class Request, class Answer>
  struct Messages {
    const Request& request;
    Answer& answer;
  };

  template <class Request, class Answer>
  grpc::ServerUnaryReactor* at_leader(grpc::CallbackServerContext& context,
                                      Messages<Request, Answer> messages,
                                      AdminHandler<Request, Answer> handler,
                                      AdminMethod<Request, Answer> method);
  template <class Request, class Answer>
  grpc::ServerUnaryReactor* here(grpc::CallbackServerContext& context,
                                 Messages<Request, Answer> messages,
                                 AdminHandler<Request, Answer> handler);

  const AdminParts parts_;
  AdminHandlers handlers_;
  Forwarder* const forwarder_;
};

}  // namespace cadastre::server
