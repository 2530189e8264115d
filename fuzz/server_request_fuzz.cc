// Requests to the server: whatever messages arrive at whichever methods, each is answered once, with an
// answer or a typed refusal, and the backend behind them stays whole.
//
// Input: requests, each a byte for the method and a string (fuzz/input.h) of the message's bytes; the byte
// after the last method advances the clock by a number of milliseconds. A message that protobuf refuses is
// skipped, as gRPC does. A message without a tenant gets one.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cadastre/v1/coordination.pb.h"

#include "base/bytes.h"
#include "base/check.h"
#include "client/wire_error.h"
#include "coord/memory/memory_backend.h"
#include "fuzz/input.h"
#include "fuzz/target.h"
#include "server/access.h"
#include "server/claim_streams.h"
#include "server/coordination_handlers.h"
#include "server/handlers_testing.h"

namespace cadastre::fuzz {
namespace {

// Small enough that inputs reach every limit.
constexpr coord::memory::MemoryOptions kOptions{
    .limits = {.per_tenant_max = 40, .total_max = 50},
    .claim_cooldown_interval = 3,
    .slab_capacity = 64 << 10,
    .children_max = 8,
};
constexpr std::size_t kMessageBytesMax = std::size_t{64} << 10;
constexpr std::size_t kTenantBytes = 32;

using Handlers = server::CoordinationHandlers;

class Run {
 public:
  Run() : backend_(kOptions), scene_(backend_, server::AccessTable::open_to_all()) {}

  template <class Request, class Answer>
  void call(void (Handlers::*handler)(const server::Caller&, const Request&, Answer&, server::Done),
            const base::Bytes& bytes) {
    Request request;
    if (!parse(bytes, request)) return;
    Answer answer;
    const client::WireStatus status = scene_.call(handler, request, answer);
    CAD_CHECK(status.code == client::StatusCode::kOk || !status.details.empty(),
              "a refusal has its details");
    CAD_CHECK(status.code != client::StatusCode::kInternal, "a request breaks nothing inside");
  }

  void open_stream(const base::Bytes& bytes) {
    v1::ClaimStreamRequest request;
    if (!parse(bytes, request)) return;
    const auto arguments = scene_.handlers.open_claim_stream({}, request);
    if (!arguments) return;
    auto sink = std::make_unique<server::RecordingSink>();
    (void)scene_.streams.open({arguments->tenant, arguments->run}, arguments->worker, *sink);
    scene_.streams.run();
    scene_.deliver();
    sinks_.push_back(std::move(sink));
  }

  void advance(std::uint64_t by) { scene_.advance(std::chrono::milliseconds(by % 100'000)); }

  void finish() {
    scene_.streams.stop();
    scene_.deliver();
    CAD_CHECK(scene_.admission.calls() == 0, "no call is left");
    backend_.verify();
  }

 private:
  template <class Request>
  [[nodiscard]] static bool parse(const base::Bytes& bytes, Request& request) {
    if (!request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return false;
    if (request.tenant().empty()) request.set_tenant(std::string(kTenantBytes, 't'));
    return true;
  }

  coord::memory::MemoryBackend backend_;
  std::vector<std::unique_ptr<server::RecordingSink>> sinks_;
  server::HandlerScene scene_;
};

using Step = void (*)(Run&, const base::Bytes&);

#define CAD_STEP(Request, Answer, handler)                        \
  [](Run& run, const base::Bytes& bytes) {                        \
    run.call<v1::Request, v1::Answer>(&Handlers::handler, bytes); \
  },
constexpr Step kSteps[] = {
    CAD_SERVER_METHODS(CAD_STEP)[](Run & run, const base::Bytes& bytes){run.open_stream(bytes);
}  // namespace
,
};  // namespace cadastre::fuzz
#undef CAD_STEP

}  // namespace

void run_one(base::ByteView input) {
  Input in(input);
  Run run;
  while (!in.done()) {
    const std::size_t step = in.below(std::size(kSteps) + 1);
    if (step == std::size(kSteps)) {
      run.advance(in.number());
    } else {
      kSteps[step](run, in.string(kMessageBytesMax));
    }
  }
  run.finish();
}

}  // namespace cadastre::fuzz
