#include "server/grpc/claim_reactor.h"

#include <cstdint>
#include <optional>

#include <grpcpp/grpcpp.h>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "client/wire_answer.h"
#include "client/wire_error.h"
#include "client/wire_request.h"
#include "coord/errors.h"
#include "coord/lease.h"
#include "coord/snapshot.h"
#include "server/claim_streams.h"
#include "server/claim_waiters.h"
#include "server/coordination_handlers.h"
#include "server/grpc/coordination_service.h"
#include "server/operation_metrics.h"

namespace cadastre::server {
namespace {

client::WireStatus refused(ClaimStreams::OpenError error) {
  if (error == ClaimStreams::OpenError::kStopping) {
    return client::to_status(client::Refusal{client::StatusCode::kUnavailable, "stopping",
                                             "the server is stopping", coord::RetryAdvice::kLater});
  }
  return client::to_status(client::Refusal{client::StatusCode::kResourceExhausted, "overloaded",
                                           "too many claim streams are open",
                                           coord::RetryAdvice::kLater});
}

// Waits in the line, or writes a grant; gRPC deletes it once finish() was called and nothing is under
// way. Exactly one of the places that call finish() is reached: the one that ends the stream's place in
// ClaimStreams.
class ClaimReactor final : public grpc::ServerWriteReactor<v1::Grant>, public ClaimSink {
 public:
  explicit ClaimReactor(const HandlerParts& parts) : parts_(parts), began_(parts.clock.elapsed()) {}

  void finish(const client::WireStatus& status) {
    parts_.metrics.record(Method::kClaimStream, status.code, parts_.clock.elapsed() - began_);
    Finish(to_grpc(status));
  }

  void open(const client::ClaimStreamArguments& arguments) CAD_EXCLUDES(mutex_) {
    std::optional<ClaimStreams::OpenError> error;
    {
      const base::MutexLock lock(mutex_);  // A grant may come before open() has returned.
      grants_left_ = arguments.grants_max;
      const auto waiter =
          parts_.streams.open({arguments.tenant, arguments.run}, arguments.worker, *this);
      if (waiter) {
        waiter_ = *waiter;
      } else {
        error = waiter.error().code;
      }
    }
    if (error) return finish(refused(*error));
    parts_.streams.run();
  }

  void grant(const coord::AcquireResultView& granted) override CAD_EXCLUDES(mutex_) {
    {
      const base::MutexLock lock(mutex_);
      writing_ = true;
      lease_ = granted.lease;
      message_.Clear();
      client::encode(granted, message_);
    }
    StartWrite(&message_);
  }

  void end(const client::WireStatus& status) override { finish(status); }

  void OnWriteDone(bool ok) override CAD_EXCLUDES(mutex_) {
    if (!ok) return give_up();
    parts_.metrics.streamed_grants.fetch_add(1, std::memory_order_relaxed);
    std::optional<client::WireStatus> ending;
    {
      const base::MutexLock lock(mutex_);
      writing_ = false;
      --grants_left_;
      if (cancelled_ || grants_left_ == 0) {
        parts_.streams.close(waiter_);
        ending = cancelled_
                     ? client::WireStatus{client::StatusCode::kCancelled, "the caller left", {}}
                     : client::WireStatus{};
      } else if (!parts_.streams.again(waiter_)) {
        ending = refused(ClaimStreams::OpenError::kStopping);
      }
    }
    if (ending) return finish(*ending);
    parts_.streams.run();
  }

  void OnCancel() override CAD_EXCLUDES(mutex_) {
    {
      const base::MutexLock lock(mutex_);
      cancelled_ = true;
      // Else end() follows, or OnWriteDone: of a grant that is written, or that is about to come.
      if (writing_ || parts_.streams.leave(waiter_) != ClaimWaiters::Leaving::kGone) return;
    }
    finish({client::StatusCode::kCancelled, "the caller left", {}});
  }

  void OnDone() override { delete this; }

 private:
  // The grant did not go out: its shard is free again at once.
  void give_up() CAD_EXCLUDES(mutex_) {
    parts_.streams.give_back(*lease_);
    {
      const base::MutexLock lock(mutex_);
      parts_.streams.close(waiter_);
    }
    finish({client::StatusCode::kCancelled, "the caller left", {}});
  }

  const HandlerParts parts_;
  const base::Elapsed began_;
  base::Mutex mutex_;  // Taken before that of ClaimStreams.
  WaiterId waiter_ CAD_GUARDED_BY(mutex_);
  std::uint32_t grants_left_ CAD_GUARDED_BY(mutex_) = 0;
  bool writing_ CAD_GUARDED_BY(mutex_) = false;
  bool cancelled_ CAD_GUARDED_BY(mutex_) = false;
  v1::Grant message_;                  // Untouched while it is written.
  std::optional<coord::Lease> lease_;  // The same.
};

}  // namespace

grpc::ServerWriteReactor<v1::Grant>* open_claim_reactor(
    const HandlerParts& parts,
    const base::Result<client::ClaimStreamArguments, client::WireStatus>& arguments) {
  auto* const reactor = new ClaimReactor(parts);  // OnDone deletes it.
  if (arguments) {
    reactor->open(*arguments);
  } else {
    reactor->finish(arguments.error());
  }
  return reactor;
}

}  // namespace cadastre::server
