// Inbound: frames of peers on their way to the log thread, in the order of their arrival, and peers that
// could not be reached. Bounded by kInboundBytesMax: what does not fit is dropped and counted, which to
// Raft is ordinary loss (L-9). Safe from any thread; take() is the log thread's.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <set>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "log/limits.h"
#include "log/transport.h"
#include "log/types.h"

namespace cadastre::log {

class Inbound {
 public:
  struct Some {
    std::vector<Frame> frames;
    std::set<NodeId> unreachable;
    bool more = false;
  };

  // How many were dropped.
  [[nodiscard]] std::size_t push(NodeId from, std::vector<Frame> frames) CAD_EXCLUDES(mutex_) {
    const base::MutexLock lock(mutex_);
    std::size_t dropped = 0;
    for (Frame& frame : frames) {
      if (frame.from != from || bytes_ + frame.body.size() > kInboundBytesMax) {
        ++dropped;
        continue;
      }
      bytes_ += frame.body.size();
      frames_.push_back(std::move(frame));
    }
    return dropped;
  }
  void unreachable(NodeId to) CAD_EXCLUDES(mutex_) {
    const base::MutexLock lock(mutex_);
    unreachable_.insert(to);
  }

  [[nodiscard]] Some take(std::size_t frames_most) CAD_EXCLUDES(mutex_) {
    const base::MutexLock lock(mutex_);
    Some some;
    some.unreachable = std::exchange(unreachable_, {});
    while (!frames_.empty() && some.frames.size() < frames_most) {
      bytes_ -= frames_.front().body.size();
      some.frames.push_back(std::move(frames_.front()));
      frames_.pop_front();
    }
    some.more = !frames_.empty();
    return some;
  }

  [[nodiscard]] std::size_t bytes() const CAD_EXCLUDES(mutex_) {
    const base::MutexLock lock(mutex_);
    return bytes_;
  }

 private:
  mutable base::Mutex mutex_;
  std::deque<Frame> frames_ CAD_GUARDED_BY(mutex_);
  std::size_t bytes_ CAD_GUARDED_BY(mutex_) = 0;
  std::set<NodeId> unreachable_ CAD_GUARDED_BY(mutex_);
};

}  // namespace cadastre::log
