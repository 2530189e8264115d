// Held: outputs of one engine that are not persisted yet, and the messages that wait for them (5.2, L-54).
//
// Outputs persist in order. One that need not be synced counts as persisted as soon as all before it do;
// its messages wait with it, since an answer that overtook them would acknowledge what a crash can still
// take back. One with a snapshot counts as persisted only once the state machine has switched to it as well (7.3).
// Pure; belongs to the log thread.

#pragma once

#include <algorithm>
#include <deque>
#include <iterator>
#include <utility>
#include <vector>

#include "base/check.h"
#include "log/engine.h"
#include "log/types.h"

namespace cadastre::log {

class Held {
 public:
  struct Released {
    OutputNumber upto;  // Persisted up to here; 0: nothing changed.
    std::vector<PeerMessage> messages;
  };

  // The next output, whose held messages it takes. Whatever that releases at once.
  [[nodiscard]] Released taken(Output& output) {
    CAD_CHECK(outputs_.empty() || outputs_.back().number < output.number, "outputs come in order");
    outputs_.push_back(
        {output.number, output.must_sync, output.snapshot.has_value(), std::move(output.held)});
    return release(OutputNumber{0});
  }
  // The sets that hold outputs up to `upto` are synced.
  [[nodiscard]] Released persisted(OutputNumber upto) { return release(upto); }
  // The state machine has switched to the oldest snapshot here.
  [[nodiscard]] Released installed() {
    const auto oldest = std::ranges::find(outputs_, true, &Waiting::installs);
    if (oldest != outputs_.end()) oldest->installs = false;
    return release(OutputNumber{0});
  }

  [[nodiscard]] bool empty() const noexcept { return outputs_.empty(); }
  [[nodiscard]] std::size_t outputs() const noexcept { return outputs_.size(); }
  [[nodiscard]] std::size_t messages() const noexcept {
    std::size_t all = 0;
    for (const Waiting& output : outputs_)
      all += output.messages.size();
    return all;
  }

 private:
  struct Waiting {
    OutputNumber number;
    bool must_sync;
    bool installs;
    std::vector<PeerMessage> messages;
  };

  Released release(OutputNumber upto) {
    Released released;
    synced_ = std::max(synced_, upto);
    while (!outputs_.empty()) {
      Waiting& oldest = outputs_.front();
      if (oldest.installs || (oldest.must_sync && oldest.number > synced_)) break;
      released.upto = oldest.number;
      released.messages.insert(released.messages.end(),
                               std::make_move_iterator(oldest.messages.begin()),
                               std::make_move_iterator(oldest.messages.end()));
      outputs_.pop_front();
    }
    return released;
  }

  std::deque<Waiting> outputs_;
  OutputNumber synced_;
};

}  // namespace cadastre::log
