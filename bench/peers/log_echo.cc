#include "bench/peers/log_echo.h"

#include <array>
#include <string>
#include <utility>

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>

#include "base/check.h"
#include "log/propose.h"

namespace cadastre::bench {
namespace {

void propose(log::Group& group, const grpc::Slice& command, log::Done done) {
  std::array proposals{log::Proposal{
      {reinterpret_cast<const std::byte*>(command.begin()), command.size()}, std::move(done)}};
  group.propose(proposals, log::Class::kUser);
}

grpc::ByteBuffer an_answer() {
  const grpc::Slice one_byte(std::string(1, '\0'));
  return {&one_byte, 1};
}

// One call, or one stream of them: read, propose, answer, in turn.
class Talk final : public grpc::ServerGenericBidiReactor {
 public:
  Talk(log::Group* group, bool is_stream) : group_(group), is_stream_(is_stream) {
    StartRead(&request_);
  }

  void OnReadDone(bool ok) override {
    if (!ok && is_stream_) return Finish(grpc::Status::OK);  // The caller has no more.
    if (!ok) return Finish(grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "no request"));
    if (group_ == nullptr) return answer(log::Applied{});
    grpc::Slice whole;
    if (!request_.DumpToSingleSlice(&whole).ok())
      return Finish(grpc::Status(grpc::StatusCode::INTERNAL, "no bytes"));
    propose(*group_, whole, [this](const log::Answer& answer) { this->answer(answer); });
  }
  void OnWriteDone(bool ok) override {
    if (!ok) return Finish(grpc::Status(grpc::StatusCode::CANCELLED, "the caller went"));
    StartRead(&request_);
  }
  void OnDone() override { delete this; }

 private:
  void answer(const log::Answer& answer) {
    if (!answer) return Finish(grpc::Status(grpc::StatusCode::UNAVAILABLE, answer.error().detail));
    response_ = an_answer();
    if (is_stream_) return StartWrite(&response_);
    StartWriteAndFinish(&response_, {}, grpc::Status::OK);
  }

  log::Group* group_;
  const bool is_stream_;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer response_;
};

class Service final : public grpc::CallbackGenericService {
 public:
  explicit Service(log::Group* group) : group_(group) {}

  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override {
    return new Talk(group_, context->method() ==
                                LogEcho::kStreamMethod);  // Deletes itself when the call is over.
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
