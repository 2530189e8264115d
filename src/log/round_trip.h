// RoundTrip: how long a peer takes to answer a heartbeat (log_peer_rtt_seconds).
//
// raft-rs's heartbeats carry no time, and an answer does not say which one it answers. So what is measured is one that
// leaves while none is unanswered: the first answer is its own. After a loss one always seems unanswered; once nothing was
// measured for kRoundTripForgotten the count begins anew. Where the way takes longer than heartbeats are apart, nothing
// can be said, or one figure in that time that is too small.
//
// Pure: time is an argument. Belongs to the log thread.

#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "log/limits.h"

namespace cadastre::log {

class RoundTrip {
 public:
  void asked(base::Elapsed now) noexcept {
    if (now - began_ >= kRoundTripForgotten) unanswered_ = 0;
    if (unanswered_++ != 0) return;
    began_ = now;
    measuring_ = true;
  }
  void answered(base::Elapsed now) noexcept {
    if (unanswered_ == 0) return;  // Of a heartbeat that was given up.
    --unanswered_;
    if (measuring_) last_ = now - began_;
    measuring_ = false;
  }

  // The newest; nothing: none was measured.
  [[nodiscard]] std::optional<base::Elapsed> last() const noexcept { return last_; }

 private:
  std::uint64_t unanswered_ = 0;
  bool measuring_ = false;  // From `began_` on, until the next answer.
  base::Elapsed began_{};
  std::optional<base::Elapsed> last_;
};

}  // namespace cadastre::log
