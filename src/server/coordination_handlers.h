// CoordinationHandlers: each method of the Coordination service from message to message: admission,
// deadline, access, decoding, time, the backend's call, encoding, metrics. No rules, no gRPC.
//
// A request is refused in this order, and the first refusal is the answer: the server stops or is full;
// the deadline has passed (nothing is executed); the tenant is no tenant; the token is none, or not the
// tenant's (before any record is looked at, so that answer and time are the same whether or not there
// are records); a field is wrong; then whatever the protocol says.
//
// Request and answer are borrowed until `done` is called, which happens exactly once, on any thread,
// perhaps before the method returns. Safe from any thread.

#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "client/wire_error.h"
#include "client/wire_messages.h"
#include "client/wire_request.h"
#include "coord/async_backend.h"
#include "server/admission.h"
#include "server/claim_streams.h"
#include "server/current_access.h"
#include "server/leader_finder.h"
#include "server/operation_metrics.h"
#include "server/stamper.h"

namespace cadastre::server {

using Done = std::move_only_function<void(const client::WireStatus&)>;

// What a call brings besides its message; borrowed for the method's call only.
struct Caller {
  std::string_view authorization;         // the header's value
  std::optional<base::Instant> deadline;  // none: it waits for ever
};

struct HandlerParts {
  coord::AsyncCoordinationFacade& backend;
  const base::Clock& clock;
  const Stamper& stamper;
  const CurrentAccess& access;
  ClaimStreams& streams;
  Admission& admission;
  OperationMetrics& metrics;
  const LeaderFinder* leader = nullptr;  // Nothing: every call is answered here.
};

class CoordinationHandlers {
 public:
  explicit CoordinationHandlers(const HandlerParts& parts) : parts_(parts) {}

  void create_run(const Caller& caller,
                  const v1::CreateRunRequest& request,
                  v1::Run& answer,
                  Done done);
  void register_shards(const Caller& caller,
                       const v1::RegisterShardsRequest& request,
                       v1::RegisterShardsResponse& answer,
                       Done done);
  void get_run(const Caller& caller, const v1::GetRunRequest& request, v1::Run& answer, Done done);
  void get_run_progress(const Caller& caller,
                        const v1::GetRunProgressRequest& request,
                        v1::RunProgress& answer,
                        Done done);
  void list_runs(const Caller& caller,
                 const v1::ListRunsRequest& request,
                 v1::ListRunsResponse& answer,
                 Done done);
  void get_shard(const Caller& caller,
                 const v1::GetShardRequest& request,
                 v1::Shard& answer,
                 Done done);
  void list_shards(const Caller& caller,
                   const v1::ListShardsRequest& request,
                   v1::ListShardsResponse& answer,
                   Done done);
  void list_claim_candidates(const Caller& caller,
                             const v1::ListClaimCandidatesRequest& request,
                             v1::ListClaimCandidatesResponse& answer,
                             Done done);
  void complete_run(const Caller& caller,
                    const v1::EndRunRequest& request,
                    v1::OutcomeResponse& answer,
                    Done done);
  void fail_run(const Caller& caller,
                const v1::EndRunRequest& request,
                v1::OutcomeResponse& answer,
                Done done);
  void cancel_run(const Caller& caller,
                  const v1::EndRunRequest& request,
                  v1::OutcomeResponse& answer,
                  Done done);
  void unpark_shard(const Caller& caller,
                    const v1::UnparkShardRequest& request,
                    v1::UnparkShardResponse& answer,
                    Done done);
  void collect_terminal_runs(const Caller& caller,
                             const v1::CollectTerminalRunsRequest& request,
                             v1::CollectTerminalRunsResponse& answer,
                             Done done);
  void acquire(const Caller& caller,
               const v1::AcquireRequest& request,
               v1::Grant& answer,
               Done done);
  void claim(const Caller& caller, const v1::ClaimRequest& request, v1::Grant& answer, Done done);
  void renew(const Caller& caller,
             const v1::RenewRequest& request,
             v1::RenewResponse& answer,
             Done done);
  void renew_many(const Caller& caller,
                  const v1::RenewManyRequest& request,
                  v1::RenewManyResponse& answer,
                  Done done);
  void checkpoint(const Caller& caller,
                  const v1::CheckpointRequest& request,
                  v1::OutcomeResponse& answer,
                  Done done);
  void complete(const Caller& caller,
                const v1::CheckpointRequest& request,
                v1::OutcomeResponse& answer,
                Done done);
  void release(const Caller& caller,
               const v1::CheckpointRequest& request,
               v1::OutcomeResponse& answer,
               Done done);
  void park(const Caller& caller,
            const v1::ParkRequest& request,
            v1::OutcomeResponse& answer,
            Done done);
  void split_replace(const Caller& caller,
                     const v1::SplitReplaceRequest& request,
                     v1::SplitReplaceResponse& answer,
                     Done done);
  void split_residual(const Caller& caller,
                      const v1::SplitResidualRequest& request,
                      v1::SplitResidualResponse& answer,
                      Done done);

  // A stream's arguments, or why there is none. A stream is no call under way: ClaimStreams bounds them.
  [[nodiscard]] base::Result<client::ClaimStreamArguments, client::WireStatus> open_claim_stream(
      const Caller& caller, const v1::ClaimStreamRequest& request);

 private:
  // Access and the arguments.
  template <class Request>
  [[nodiscard]] auto decode(const Caller& caller, const Request& request) const;
  // The arguments of a call that may go on; one that may not is answered.
  template <class Request, class Reply>
  [[nodiscard]] auto admit(const Caller& caller, const Request& request, Reply& reply) const;
  [[nodiscard]] std::optional<client::WireStatus> refusal(const Caller& caller,
                                                          Admission::Entry entry) const;
  template <class Arguments>
  [[nodiscard]] coord::LogicalTime now_of(const Arguments& arguments) const;

  const HandlerParts parts_;
};

}  // namespace cadastre::server
