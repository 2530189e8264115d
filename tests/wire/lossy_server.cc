#include "tests/wire/lossy_server.h"

#include <memory>
#include <string>

#include <fmt/format.h>
#include <grpcpp/grpcpp.h>

#include "cadastre/v1/coordination.grpc.pb.h"

#include "base/check.h"
#include "client/wire_error.h"
#include "server/coordination_handlers.h"
#include "server/grpc/coordination_service.h"

namespace cadastre::wire {

class LossyServer::Service final : public v1::Coordination::CallbackService {
 public:
  Service(LossyServer& owner, const server::HandlerParts& parts)
      : owner_(owner), handlers_(parts) {}

  grpc::ServerUnaryReactor* Checkpoint(grpc::CallbackServerContext* context,
                                       const v1::CheckpointRequest* request,
                                       v1::OutcomeResponse* answer) override {
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    handlers_.checkpoint({}, *request, *answer, answering(*reactor));
    return reactor;
  }
  grpc::ServerUnaryReactor* Claim(grpc::CallbackServerContext* context,
                                  const v1::ClaimRequest* request,
                                  v1::Grant* answer) override {
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    handlers_.claim({}, *request, *answer, answering(*reactor));
    return reactor;
  }
  grpc::ServerUnaryReactor* CreateRun(grpc::CallbackServerContext* context,
                                      const v1::CreateRunRequest* request,
                                      v1::Run* answer) override {
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    handlers_.create_run({}, *request, *answer, answering(*reactor));
    return reactor;
  }

 private:
  server::Done answering(grpc::ServerUnaryReactor& reactor) {
    ++owner_.requests_;
    return [this, &reactor](const client::WireStatus& status) {
      const bool lost = owner_.to_lose_.fetch_sub(1) > 0;
      reactor.Finish(lost ? grpc::Status(grpc::StatusCode::UNAVAILABLE, "lost on the way")
                          : server::to_grpc(status));
    };
  }

  LossyServer& owner_;
  server::CoordinationHandlers handlers_;
};

struct LossyServer::Running {
  std::unique_ptr<grpc::Server> server;
  int port = 0;
};

LossyServer::LossyServer(const server::HandlerParts& parts)
    : service_(std::make_unique<Service>(*this, parts)), running_(std::make_unique<Running>()) {
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &running_->port);
  builder.RegisterService(service_.get());
  running_->server = builder.BuildAndStart();
  CAD_CHECK(running_->server != nullptr, "a test can listen");
}

LossyServer::~LossyServer() {
  running_->server->Shutdown();
  running_->server->Wait();
}

std::string LossyServer::address() const {
  return fmt::format("127.0.0.1:{}", running_->port);
}

}  // namespace cadastre::wire
