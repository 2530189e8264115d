// PeerSender: one lane to one peer: what waits, the stream under way, and the wait for the next one. For grpc/ only.
//
//   waiting ── delay over ──► connecting ── the peer lets the stream in ──► up
//      ▲                          │                                         │
//      └───── the stream ends ────┴─────────────────────────────────────────┘       stop() ─► stopped
//
// While waiting, what is sent is dropped and reported: an engine is better told at once than served late. Each stream
// is a connection of its own, and one write is under way at a time; what gathers meanwhile is the next one
// (L-64, L-65). Frames are encoded and summed on transport threads, but for a little that goes into an idle stream:
// the log thread writes it itself, because a hand-over would take longer than the write.
//
// Safe from any thread; send() is the log thread's and never blocks. Its caller holds no lock that the sink or a hook takes.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "log/engine.h"
#include "log/peer_lane.h"
#include "log/types.h"
#include "server/grpc/peer_core.h"

namespace cadastre::server {

class PeerSender : public std::enable_shared_from_this<PeerSender> {
 public:
  PeerSender(std::shared_ptr<PeerCore> core, log::NodeId to, log::Lane lane, std::string address)
      : core_(std::move(core)), to_(to), lane_(lane), address_(std::move(address)), queue_(lane) {}

  // Begins to connect.
  void start() CAD_EXCLUDES(mutex_);
  void send(std::vector<log::LaneMessage> messages) CAD_EXCLUDES(mutex_);
  // A frame came from the peer: it is there, so it is tried again soon (L-67).
  void heard() CAD_EXCLUDES(mutex_);
  // The stream to the old address ends; the next one goes to the new one.
  void set_address(const std::string& address) CAD_EXCLUDES(mutex_);
  [[nodiscard]] std::string address() const CAD_EXCLUDES(mutex_);
  // Ends the stream; nothing is sent any more.
  void stop() CAD_EXCLUDES(mutex_);

 private:
  class Stream;  // gRPC's side of one attempt
  enum class State : std::uint8_t {
    kWaiting,
    kConnecting,
    kUp,
    kStopped,
  };

  void connect(std::uint64_t wait) CAD_EXCLUDES(mutex_);
  void wait_locked(std::chrono::nanoseconds delay) CAD_REQUIRES(mutex_);
  void pump(Stream& stream) CAD_EXCLUDES(mutex_);
  // How many messages had to go for it.
  std::size_t announce_locked() CAD_REQUIRES(mutex_);

  // The stream calls these; each comes before on_end.
  void on_let_in(Stream& stream) CAD_EXCLUDES(mutex_);
  void on_written(Stream& stream, bool ok) CAD_EXCLUDES(mutex_);
  void on_broken(Stream& stream) CAD_EXCLUDES(mutex_);
  void on_end(Stream& stream) CAD_EXCLUDES(mutex_);

  const std::shared_ptr<PeerCore> core_;
  const log::NodeId to_;
  const log::Lane lane_;

  mutable base::Mutex mutex_;
  std::string address_ CAD_GUARDED_BY(mutex_);
  State state_ CAD_GUARDED_BY(mutex_) = State::kWaiting;
  log::PeerLane queue_ CAD_GUARDED_BY(mutex_);
  Stream* stream_ CAD_GUARDED_BY(mutex_) = nullptr;    // Until its on_end.
  std::uint32_t attempts_ CAD_GUARDED_BY(mutex_) = 0;  // That failed since a frame came.
  std::uint64_t wait_ CAD_GUARDED_BY(mutex_) = 0;      // A wait that is not the last one is void.
};

}  // namespace cadastre::server
