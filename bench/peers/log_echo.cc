#include "bench/peers/log_echo.h"

#include <array>
#include <vector>

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>

#include "base/check.h"
#include "log/propose.h"

namespace cadastre::bench {
namespace {

// One call: read, propose, answer.
class Call final : public grpc::ServerGenericBidiReactor {
 public:
  explicit Call(log::Group* group) : group_(group) { StartRead(&request_); }

  void OnReadDone(bool ok) override {
    if (!ok) return Finish(grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "no request"));
    if (group_ == nullptr) return answer(log::Applied{});
    grpc::Slice whole;
    if (!request_.DumpToSingleSlice(&whole).ok())
      return Finish(grpc::Status(grpc::StatusCode::INTERNAL, "no bytes"));
    std::array proposals{
        log::Proposal{{reinterpret_cast<const std::byte*>(whole.begin()), whole.size()},
                      [this](const log::Answer& answer) {
                        this->answer(answer);
                      }}};
    group_->propose(proposals, log::Class::kUser);
  }
  void OnDone() override { delete this; }

 private:
  void answer(const log::Answer& answer) {
    if (!answer) return Finish(grpc::Status(grpc::StatusCode::UNAVAILABLE, answer.error().detail));
    const grpc::Slice empty(std::string(1, '\0'));
    response_ = grpc::ByteBuffer(&empty, 1);
    StartWriteAndFinish(&response_, {}, grpc::Status::OK);
  }

  log::Group* group_;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer response_;
};

class Service final : public grpc::CallbackGenericService {
 public:
  explicit Service(log::Group* group) : group_(group) {}

  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* /*context*/) override {
    return new Call(group_);  // Deletes itself when the call is over.
  }

 private:
  log::Group* group_;
};

}  // namespace

struct LogEcho::Server {
  explicit Server(log::Group* group) : service(group) {}

  Service service;
  std::unique_ptr<grpc::Server> server;
};

LogEcho::LogEcho(log::Group* group) : server_(std::make_unique<Server>(group)) {
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterCallbackGenericService(&server_->service);
  server_->server = builder.BuildAndStart();
  CAD_CHECK(server_->server != nullptr && port != 0, "a loopback port can be bound");
  address_ = "127.0.0.1:" + std::to_string(port);
}

LogEcho::~LogEcho() {
  server_->server->Shutdown();
}

}  // namespace cadastre::bench
