// Reply: the answer of one call under way, as a completion of the backend's.
//
// Encodes the value or the error, counts the call, tells the caller, and wakes whoever waits for what the
// operation may have freed. Called exactly once, on any thread.

#pragma once

#include <expected>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "client/wire_answer.h"
#include "client/wire_error.h"
#include "server/admission.h"
#include "server/claim_streams.h"
#include "server/claim_waiters.h"
#include "server/coordination_handlers.h"
#include "server/operation_metrics.h"

namespace cadastre::server {

template <class Answer>
class Reply {
 public:
  // Parts and answer outlive it.
  Reply(const HandlerParts& parts, Method method, Answer& answer, Done done)
      : parts_(&parts),
        answer_(&answer),
        done_(std::move(done)),
        began_(parts.clock.elapsed()),
        method_(method),
        entry_(parts.admission.enter()) {}

  [[nodiscard]] Admission::Entry entry() const noexcept { return entry_; }

  // A success may have freed a shard of the run, or ended it.
  void will_wake(const RunName& run) { wakes_ = run; }

  void finish(const client::WireStatus& status) {
    parts_->metrics.record(method_, status.code, parts_->clock.elapsed() - began_);
    if (entry_ == Admission::Entry::kEntered) parts_->admission.leave();
    done_(status);
  }

  template <class T, class E>
  void operator()(const std::expected<T, E>& result) {
    if (!result) return finish(client::to_status(client::AnyError(result.error())));
    client::encode(*result, *answer_);
    // The call's own memory may go with the answer.
    const std::optional<RunName> wakes = wakes_;
    ClaimStreams& streams = parts_->streams;
    finish({});
    if (wakes) streams.wake(*wakes);
  }

 private:
  const HandlerParts* parts_;
  Answer* answer_;
  Done done_;
  base::Elapsed began_;
  Method method_;
  Admission::Entry entry_;
  std::optional<RunName> wakes_;
};

}  // namespace cadastre::server
