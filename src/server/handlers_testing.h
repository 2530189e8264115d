// A server's handlers on any synchronous backend, in one thread, with a clock turned by hand: for tests and
// the fuzz target. Nothing completes before deliver().

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "client/wire_error.h"
#include "coord/async_over_sync.h"
#include "coord/backend.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/snapshot.h"
#include "server/access.h"
#include "server/admission.h"
#include "server/claim_streams.h"
#include "server/coordination_handlers.h"
#include "server/current_access.h"
#include "server/operation_metrics.h"
#include "server/stamper.h"

// Every method that answers once: request, answer, handler.
#define CAD_SERVER_METHODS(X)                                                       \
  X(CreateRunRequest, Run, create_run)                                              \
  X(RegisterShardsRequest, RegisterShardsResponse, register_shards)                 \
  X(GetRunRequest, Run, get_run)                                                    \
  X(GetRunProgressRequest, RunProgress, get_run_progress)                           \
  X(ListRunsRequest, ListRunsResponse, list_runs)                                   \
  X(GetShardRequest, Shard, get_shard)                                              \
  X(ListShardsRequest, ListShardsResponse, list_shards)                             \
  X(ListClaimCandidatesRequest, ListClaimCandidatesResponse, list_claim_candidates) \
  X(EndRunRequest, OutcomeResponse, complete_run)                                   \
  X(EndRunRequest, OutcomeResponse, fail_run)                                       \
  X(EndRunRequest, OutcomeResponse, cancel_run)                                     \
  X(UnparkShardRequest, UnparkShardResponse, unpark_shard)                          \
  X(CollectTerminalRunsRequest, CollectTerminalRunsResponse, collect_terminal_runs) \
  X(AcquireRequest, Grant, acquire)                                                 \
  X(ClaimRequest, Grant, claim)                                                     \
  X(RenewRequest, RenewResponse, renew)                                             \
  X(RenewManyRequest, RenewManyResponse, renew_many)                                \
  X(CheckpointRequest, OutcomeResponse, checkpoint)                                 \
  X(CheckpointRequest, OutcomeResponse, complete)                                   \
  X(CheckpointRequest, OutcomeResponse, release)                                    \
  X(ParkRequest, OutcomeResponse, park)                                             \
  X(SplitReplaceRequest, SplitReplaceResponse, split_replace)                       \
  X(SplitResidualRequest, SplitResidualResponse, split_residual)

namespace cadastre::server {

class RecordingAlarm final : public AlarmClock {
 public:
  void set(coord::LogicalTime time) override { at = time; }
  std::optional<coord::LogicalTime> at;
};

// Keeps what a stream gets. It lines up again while it wants more.
class RecordingSink final : public ClaimSink {
 public:
  void grant(const coord::AcquireResultView& granted) override { leases.push_back(granted.lease); }
  void end(const client::WireStatus& status) override {
    CAD_CHECK(!ended, "a stream ends once");
    ended = status;
  }
  std::vector<coord::Lease> leases;
  std::optional<client::WireStatus> ended;
};

class HandlerScene {
 public:
  static constexpr std::chrono::milliseconds kStart{1'000'000};

  // Borrows the backend.
  HandlerScene(coord::CoordinationFacade& backend, AccessTable access)
      : async(backend), access_(std::move(access)) {}

  // The whole of one call.
  template <class Request, class Answer>
  client::WireStatus call(
      void (CoordinationHandlers::*handler)(const Caller&, const Request&, Answer&, Done),
      const Request& request,
      Answer& answer,
      const Caller& caller = {}) {
    std::optional<client::WireStatus> status;
    (handlers.*handler)(caller, request, answer, [&status](const client::WireStatus& given) {
      CAD_CHECK(!status, "a call is answered once");
      status = given;
    });
    deliver();
    CAD_CHECK(status.has_value(), "a call is answered");
    return *std::move(status);
  }

  // Completes everything, also what completions ask for.
  void deliver() {
    while (async.deliver()) {}
  }
  void advance(std::chrono::milliseconds by) {
    clock.advance(by);
    streams.on_alarm();
    deliver();
  }

  base::ManualClock clock{base::Instant(kStart)};
  coord::AsyncOverSync async;
  coord::LogicalTime largest_now;
  Stamper stamper{clock, [this](const coord::TenantId&) {
                    return largest_now;
                  }};
  RecordingAlarm alarm;
  base::SeededRandom random{7};
  ClaimStreams streams{{async, stamper, alarm, random}};
  Admission admission{2};
  OperationMetrics metrics;

 private:
  CurrentAccess access_;

 public:
  CoordinationHandlers handlers{{async, clock, stamper, access_, streams, admission, metrics}};
};

}  // namespace cadastre::server
