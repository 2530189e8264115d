#include "bench/peers/grpc_loop.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <grpc/support/time.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include "base/check.h"
#include "base/signal.h"
#include "bench/closed_loop.h"
#include "bench/peers/grpc_channels.h"

namespace cadastre::bench {
namespace {

constexpr std::chrono::seconds kAnswerMax{30};

std::string bytes_of(const grpc::ByteBuffer& buffer) {
  grpc::Slice whole;
  CAD_CHECK(buffer.DumpToSingleSlice(&whole).ok(), "an answer has bytes");
  return {reinterpret_cast<const char*>(whole.begin()), whole.size()};
}

class Caller {
 public:
  Caller(Conversation& talk, std::shared_ptr<grpc::Channel> channel, const CallForm& form)
      : talk_(talk), stub_(std::move(channel)), form_(form) {}

  // Calls until the conversation says that an operation is over.
  void operate(LoopDone done) {
    done_ = std::move(done);
    call();
  }

 private:
  void call() {
    const UnaryCall call = talk_.next();
    context_ = std::make_unique<grpc::ClientContext>();
    if (form_.deadline.count() != 0)
      context_->set_deadline(gpr_time_from_millis(form_.deadline.count(), GPR_TIMESPAN));
    if (form_.requires_leader) context_->AddMetadata("hasleader", "true");
    const grpc::Slice slice(call.request);
    request_ = grpc::ByteBuffer(&slice, 1);
    stub_.UnaryCall(context_.get(), std::string(call.method), {}, &request_, &response_,
                    [this](const grpc::Status& status) { answered(status); });
  }

  void answered(const grpc::Status& status) {
    CAD_CHECK(status.ok(), status.error_message().c_str());
    if (!talk_.answered(bytes_of(response_))) return call();
    std::exchange(done_, nullptr)();
  }

  Conversation& talk_;
  grpc::GenericStub stub_;
  const CallForm form_;
  LoopDone done_;
  std::unique_ptr<grpc::ClientContext> context_;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer response_;
};

class SameCall final : public Conversation {
 public:
  SameCall(const CallPlan& plan, std::atomic<std::uint64_t>& number)
      : plan_(plan), number_(number) {}

  UnaryCall next() override { return {plan_.method, plan_.request(number_.fetch_add(1))}; }
  bool answered(const std::string& /*response*/) override { return true; }

 private:
  const CallPlan& plan_;
  std::atomic<std::uint64_t>& number_;
};

}  // namespace

struct GrpcCalls::Stub {
  explicit Stub(std::shared_ptr<grpc::Channel> channel) : stub(std::move(channel)) {}
  grpc::GenericStub stub;
};

GrpcCalls::GrpcCalls(const std::string& address)
    : stub_(std::make_unique<Stub>(connect_channels(address, 1).front())) {}
GrpcCalls::~GrpcCalls() = default;

std::string GrpcCalls::call(const UnaryCall& call) {
  auto answer = try_call(call, kAnswerMax);
  CAD_CHECK(answer.has_value(), "the server answers");
  return *std::move(answer);
}

std::optional<std::string> GrpcCalls::try_call(const UnaryCall& call,
                                               std::chrono::milliseconds limit) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + limit);
  const grpc::Slice slice(call.request);
  const grpc::ByteBuffer request(&slice, 1);
  grpc::ByteBuffer response;
  grpc::Status status;
  base::Signal answered;
  stub_->stub.UnaryCall(&context, std::string(call.method), {}, &request, &response,
                        [&](const grpc::Status& said) {
                          status = said;
                          answered.raise();
                        });
  answered.wait();
  if (!status.ok()) return std::nullopt;
  return bytes_of(response);
}

double run_conversations(const TalkPlan& plan) {
  const auto channels = connect_channels(plan.address, plan.connections);
  std::vector<std::unique_ptr<Caller>> callers;
  callers.reserve(plan.callers.size());
  for (std::size_t i = 0; i < plan.callers.size(); ++i)
    callers.push_back(
        std::make_unique<Caller>(*plan.callers[i], channels[i % channels.size()], plan.form));
  return run_loops(
      {.callers = callers.size(), .seconds = plan.seconds},
      [&](std::size_t caller, LoopDone done) { callers[caller]->operate(std::move(done)); });
}

double run_calls(const CallPlan& plan) {
  std::atomic<std::uint64_t> number{0};
  TalkPlan talk{.address = plan.address,
                .callers = {},
                .connections = plan.connections,
                .seconds = plan.seconds,
                .form = {}};
  talk.callers.reserve(plan.outstanding);
  for (std::size_t i = 0; i < plan.outstanding; ++i)
    talk.callers.push_back(std::make_unique<SameCall>(plan, number));
  return run_conversations(talk);
}

}  // namespace cadastre::bench
