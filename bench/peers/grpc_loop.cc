#include "bench/peers/grpc_loop.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <vector>

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include "base/check.h"
#include "base/mutex.h"
#include "base/signal.h"

namespace cadastre::bench {
namespace {

using Seconds = std::chrono::duration<double>;
using SteadyClock = std::chrono::steady_clock;

struct Shared {
  explicit Shared(const CallPlan& calls) : plan(calls) {}

  const CallPlan& plan;
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> next{0};
  std::atomic<std::uint64_t> answered{0};
  base::Mutex mutex;
  base::CondVar changed;
  std::size_t running CAD_GUARDED_BY(mutex) = 0;
};

class Caller {
 public:
  Caller(Shared& shared, std::shared_ptr<grpc::Channel> channel)
      : shared_(shared), stub_(std::move(channel)) {}

  void call() {
    if (shared_.stop.load(std::memory_order_relaxed)) {
      const base::MutexLock lock(shared_.mutex);
      --shared_.running;
      shared_.changed.notify_all();
      return;
    }
    context_ = std::make_unique<grpc::ClientContext>();
    const grpc::Slice slice(shared_.plan.request(shared_.next.fetch_add(1)));
    request_ = grpc::ByteBuffer(&slice, 1);
    stub_.UnaryCall(context_.get(), shared_.plan.method, {}, &request_, &response_,
                    [this](const grpc::Status& status) {
                      CAD_CHECK(status.ok(), "the server answers");
                      shared_.answered.fetch_add(1, std::memory_order_relaxed);
                      call();
                    });
  }

 private:
  Shared& shared_;
  grpc::GenericStub stub_;
  std::unique_ptr<grpc::ClientContext> context_;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer response_;
};

}  // namespace

double run_calls(const CallPlan& plan) {
  Shared shared(plan);
  std::vector<std::shared_ptr<grpc::Channel>> channels;
  for (std::size_t i = 0; i < plan.connections; ++i) {
    grpc::ChannelArguments arguments;
    arguments.SetInt("bench.connection", static_cast<int>(i));  // Else they share one.
    channels.push_back(
        grpc::CreateCustomChannel(plan.address, grpc::InsecureChannelCredentials(), arguments));
    CAD_CHECK(channels.back()->WaitForConnected(std::chrono::system_clock::now() +
                                                std::chrono::seconds(30)),
              "the server is there");
  }
  std::vector<std::unique_ptr<Caller>> callers;
  for (std::size_t i = 0; i < plan.outstanding; ++i)
    callers.push_back(std::make_unique<Caller>(shared, channels[i % channels.size()]));
  {
    const base::MutexLock lock(shared.mutex);
    shared.running = callers.size();
  }
  for (const auto& caller : callers)
    caller->call();
  base::Signal().wait_for(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Seconds(plan.seconds / 5)));
  const std::uint64_t before = shared.answered.load();
  const auto started = SteadyClock::now();
  base::Signal().wait_for(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Seconds(plan.seconds)));
  const double rate = static_cast<double>(shared.answered.load() - before) /
                      Seconds(SteadyClock::now() - started).count();
  shared.stop.store(true);
  const base::MutexLock lock(shared.mutex);
  while (shared.running != 0)
    shared.changed.wait(shared.mutex);
  return rate;
}

}  // namespace cadastre::bench
