// SocketFrames: the same frames over a bare TCP connection on loopback, without TLS: what a transport can hope for.
//
// One connection for each direction; a thread writes what gathered, as PeerLane gives it, a thread reads, checks and hands
// over. Threads are the caller's: run() once with each part.

#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "base/mutex.h"
#include "base/signal.h"
#include "log/peer_lane.h"
#include "log/transport.h"

namespace cadastre::bench {

// One direction.
class SocketFrames {
 public:
  explicit SocketFrames(log::TransportSink& sink);
  SocketFrames(const SocketFrames&) = delete;
  SocketFrames& operator=(const SocketFrames&) = delete;
  ~SocketFrames();

  void send(log::Frame frame);
  // Until stop().
  void write_all();
  void read_all();
  void stop();

 private:
  log::TransportSink& sink_;
  int writing_ = -1;
  int reading_ = -1;
  base::Signal work_;
  base::Mutex mutex_;
  log::PeerLane queue_ CAD_GUARDED_BY(mutex_){log::Lane::kBulk};
  bool stopped_ CAD_GUARDED_BY(mutex_) = false;
};

}  // namespace cadastre::bench
