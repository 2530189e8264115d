// PeerCore: what the streams of one node's transport share. Kept alive by them; for grpc/ only.
//
// Threads: everything is safe from any thread. A sender's lock may be held when one of these is taken, never the other way
// round. None is held while a hook, the sink or gRPC is called, but for a cancellation, which calls nothing back.

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/gate.h"
#include "base/logger.h"
#include "base/mutex.h"
#include "base/random.h"
#include "client/timer.h"
#include "log/frame_bodies.h"
#include "log/frame_codec.h"
#include "log/peer_lane.h"
#include "log/peer_pacing.h"
#include "log/transport.h"
#include "server/inbound_account.h"
#include "server/listen_address.h"
#include "server/peer_admission.h"
#include "server/peer_counters.h"
#include "server/peer_hooks.h"
#include "server/peer_limits.h"

namespace grpc {
class Channel;
class ChannelCredentials;
}  // namespace grpc

namespace cadastre::server {

class PeerSender;

// What the transport is given; all of it outlives the transport.
struct PeerParts {
  PeerIdentity self;
  log::PeerIncarnation incarnation;  // Higher with every start of the node's process (L-68).
  const base::Clock& clock;
  base::Random& random;  // The transport's own.
  client::Timer& timer;  // Hands over to a transport thread, too.
  const base::Logger* logger = nullptr;
};

class PeerCore : public std::enable_shared_from_this<PeerCore> {
 public:
  explicit PeerCore(const PeerParts& given) : parts(given), admission_(given.self) {}

  // A stream from this peer begins, and ends the one before it on its lane. `cancel` is called at most once, and
  // never after forget_stream.
  struct Admitted {
    log::Preamble stream;
    std::uint64_t number = 0;
    std::shared_ptr<InboundAccount> account;
  };
  [[nodiscard]] base::Result<Admitted, PeerRefusal> admit(base::ByteView first_message,
                                                          const Authenticated& end,
                                                          std::move_only_function<void()> cancel)
      CAD_EXCLUDES(streams_mutex_);
  void forget_stream(const Admitted& stream) CAD_EXCLUDES(streams_mutex_);
  // The node sent what no node of ours sends: its streams end.
  void disconnect(log::NodeId from) CAD_EXCLUDES(streams_mutex_);
  [[nodiscard]] bool is_current(const log::Preamble& stream) const CAD_EXCLUDES(streams_mutex_);

  // Frames came from the node.
  void heard(log::NodeId from) CAD_EXCLUDES(senders_mutex_);
  // To a peer that is not in the address book: dropped.
  void send(log::NodeId to, log::Lane lane, std::vector<log::LaneMessage> messages)
      CAD_EXCLUDES(senders_mutex_);
  // At most once in kUnreachableEvery for each peer; what comes too soon is made up for (L-66): an engine whose snapshot was
  // dropped waits for that word.
  void report_unreachable(log::NodeId to) CAD_EXCLUDES(pacing_mutex_);
  void answer_not_here(log::NodeId to, log::GroupId group, log::Index configuration)
      CAD_EXCLUDES(pacing_mutex_, senders_mutex_);
  [[nodiscard]] std::chrono::nanoseconds reconnect_delay(std::uint32_t attempt)
      CAD_EXCLUDES(pacing_mutex_);
  void warn_refused(log::NodeId by, std::string_view why) CAD_EXCLUDES(pacing_mutex_);

  // Runs `task` on a transport thread, unless the transport has stopped by then.
  static void later(const std::shared_ptr<PeerCore>& core,
                    std::chrono::nanoseconds delay,
                    std::move_only_function<void()> task);

  using Senders = std::map<std::pair<log::NodeId, log::Lane>, std::shared_ptr<PeerSender>>;

  const PeerParts parts;
  PeerCounters counters;
  base::Gate gate;  // Streams and tasks under way.
  // Set before the first stream.
  std::shared_ptr<grpc::ChannelCredentials> credentials;
  Transport security = Transport::kPlain;
  PeerHooks* hooks = nullptr;
  // The log may send before the transport has started: what is dropped then is reported to nobody.
  std::atomic<log::TransportSink*> sink{nullptr};
  std::optional<log::NodeAddress> announced = std::nullopt;
  std::chrono::milliseconds first_word_wait = kFirstWordWait;

  // Where the node is now; nothing: it is not in the address book.
  [[nodiscard]] std::optional<std::string> address_of(log::NodeId node) const
      CAD_EXCLUDES(senders_mutex_);

  // The senders, for whoever changes them.
  [[nodiscard]] std::shared_ptr<PeerSender> find(log::NodeId to, log::Lane lane) const
      CAD_EXCLUDES(senders_mutex_);
  [[nodiscard]] Senders swap_senders(Senders senders) CAD_EXCLUDES(senders_mutex_);
  [[nodiscard]] Senders senders() const CAD_EXCLUDES(senders_mutex_);

 private:
  void report_later(log::NodeId to) CAD_EXCLUDES(pacing_mutex_);

  struct OpenStream {
    std::uint64_t number = 0;
    std::move_only_function<void()> cancel;
  };

  mutable base::Mutex streams_mutex_;
  PeerAdmission admission_ CAD_GUARDED_BY(streams_mutex_);
  std::map<std::pair<log::NodeId, log::Lane>, OpenStream> streams_ CAD_GUARDED_BY(streams_mutex_);
  // Of each lane: heartbeats must not wait for appends to be taken.
  std::map<std::pair<log::NodeId, log::Lane>, std::shared_ptr<InboundAccount>> accounts_
      CAD_GUARDED_BY(streams_mutex_);
  std::uint64_t streams_begun_ CAD_GUARDED_BY(streams_mutex_) = 0;

  mutable base::Mutex senders_mutex_;
  Senders senders_ CAD_GUARDED_BY(senders_mutex_);

  base::Mutex pacing_mutex_;  // Of `parts.random`, too.
  log::Pacer<log::NodeId> unreachable_ CAD_GUARDED_BY(pacing_mutex_){log::kUnreachableEvery,
                                                                     log::kPeersMax};
  std::set<log::NodeId> unreachable_owed_ CAD_GUARDED_BY(pacing_mutex_);
  log::Pacer<log::NodeId> warnings_ CAD_GUARDED_BY(pacing_mutex_){std::chrono::seconds(10),
                                                                  log::kPeersMax};
  log::Pacer<std::pair<log::NodeId, log::GroupId>> not_here_ CAD_GUARDED_BY(pacing_mutex_){
      log::kNotHereEvery, log::kNotHereKeptMax};
};

// A connection of its own to a peer: what goes to one must not share a socket (L-64). Messages that come back are at most so
// long.
[[nodiscard]] std::shared_ptr<grpc::Channel> peer_channel(const PeerCore& core,
                                                          const std::string& address,
                                                          std::size_t answer_bytes_max);

}  // namespace cadastre::server
