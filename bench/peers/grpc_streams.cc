#include "bench/peers/grpc_streams.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include "base/check.h"
#include "base/signal.h"
#include "bench/closed_loop.h"
#include "bench/peers/grpc_channels.h"

namespace cadastre::bench {
namespace {

// One caller's stream, from construction to end().
class StreamCaller final : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  StreamCaller(std::shared_ptr<grpc::Channel> channel, const std::string& method)
      : stub_(std::move(channel)) {
    stub_.PrepareBidiStreamingCall(&context_, method, {}, this);
    AddHold();  // Messages are begun outside of its reactions, too.
    StartCall();
  }

  void operate(const std::string& request, LoopDone done) {
    done_ = std::move(done);
    const grpc::Slice slice(request);
    request_ = grpc::ByteBuffer(&slice, 1);
    under_way_.store(2);
    StartWrite(&request_);
    StartRead(&response_);
  }
  // After the last operation.
  void end() {
    StartWritesDone();
    RemoveHold();
    over_.wait();
  }

  void OnWriteDone(bool ok) override { one_done(ok); }
  void OnReadDone(bool ok) override { one_done(ok); }
  void OnDone(const grpc::Status& status) override {
    CAD_CHECK(status.ok(), status.error_message().c_str());
    over_.raise();
  }

 private:
  // The answer may be here before the request is known to have left.
  void one_done(bool ok) {
    CAD_CHECK(ok, "the server answers");
    if (under_way_.fetch_sub(1) == 1) std::exchange(done_, nullptr)();
  }

  grpc::GenericStub stub_;
  grpc::ClientContext context_;
  LoopDone done_;
  std::atomic<int> under_way_{0};
  grpc::ByteBuffer request_;
  grpc::ByteBuffer response_;
  base::Signal over_;
};

}  // namespace

double run_streams(const CallPlan& plan) {
  const auto channels = connect_channels(plan.address, plan.connections);
  std::vector<std::unique_ptr<StreamCaller>> callers;
  callers.reserve(plan.outstanding);
  for (std::size_t i = 0; i < plan.outstanding; ++i)
    callers.push_back(std::make_unique<StreamCaller>(channels[i % channels.size()], plan.method));
  std::atomic<std::uint64_t> number{0};
  const double rate = run_loops(
      {.callers = callers.size(), .seconds = plan.seconds}, [&](std::size_t caller, LoopDone done) {
        callers[caller]->operate(plan.request(number.fetch_add(1)), std::move(done));
      });
  for (const auto& caller : callers)
    caller->end();
  return rate;
}

}  // namespace cadastre::bench
