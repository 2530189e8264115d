#include "server/grpc/peer_core.h"

#include <utility>

#include <grpcpp/grpcpp.h>

#include "server/grpc/peer_sender.h"
#include "server/limits.h"

namespace cadastre::server {
namespace {

constexpr int kKeepaliveMs = 10'000;
// An attempt to connect takes so long at most, TLS included: a peer behind a cut that ended is found soon (L-67).
constexpr int kConnectMs = 2'000;

}  // namespace

base::Result<PeerCore::Admitted, PeerRefusal> PeerCore::admit(
    base::ByteView first_message,
    const Authenticated& end,
    std::move_only_function<void()> cancel) {
  const base::MutexLock lock(streams_mutex_);
  const log::Preamble stream = CAD_TRY(admission_.admit(first_message, end));
  std::shared_ptr<InboundAccount>& account = accounts_[{stream.from, stream.lane}];
  if (account == nullptr) account = std::make_shared<InboundAccount>();
  OpenStream& open = streams_[{stream.from, stream.lane}];
  if (open.cancel) open.cancel();
  open = {++streams_begun_, std::move(cancel)};
  return Admitted{stream, open.number, account};
}

void PeerCore::forget_stream(const Admitted& stream) {
  const base::MutexLock lock(streams_mutex_);
  const auto open = streams_.find({stream.stream.from, stream.stream.lane});
  if (open != streams_.end() && open->second.number == stream.number) streams_.erase(open);
}

void PeerCore::disconnect(log::NodeId from) {
  counters.refuse(PeerRefusal::kDamaged);
  const base::MutexLock lock(streams_mutex_);
  for (const log::Lane lane : {log::Lane::kControl, log::Lane::kBulk}) {
    const auto open = streams_.find({from, lane});
    if (open == streams_.end() || !open->second.cancel) continue;
    std::exchange(open->second.cancel, nullptr)();
  }
}

bool PeerCore::is_current(const log::Preamble& stream) const {
  const base::MutexLock lock(streams_mutex_);
  return admission_.is_current(stream);
}

std::shared_ptr<PeerSender> PeerCore::find(log::NodeId to, log::Lane lane) const {
  const base::MutexLock lock(senders_mutex_);
  const auto sender = senders_.find({to, lane});
  return sender == senders_.end() ? nullptr : sender->second;
}

std::optional<std::string> PeerCore::address_of(log::NodeId node) const {
  const auto sender = find(node, log::Lane::kBulk);
  if (sender == nullptr) return std::nullopt;
  return sender->address();
}

PeerCore::Senders PeerCore::swap_senders(Senders senders) {
  const base::MutexLock lock(senders_mutex_);
  return std::exchange(senders_, std::move(senders));
}

PeerCore::Senders PeerCore::senders() const {
  const base::MutexLock lock(senders_mutex_);
  return senders_;
}

void PeerCore::heard(log::NodeId from) {
  for (const log::Lane lane : {log::Lane::kControl, log::Lane::kBulk}) {
    if (const auto sender = find(from, lane)) sender->heard();
  }
}

void PeerCore::send(log::NodeId to, log::Lane lane, std::vector<log::LaneMessage> messages) {
  if (const auto sender = find(to, lane)) {
    sender->send(std::move(messages));
  } else {
    counters.drop(lane, PeerDrop::kAway, messages.size());
    report_unreachable(to);
  }
}

void PeerCore::report_unreachable(log::NodeId to) {
  bool owed = false;
  {
    const base::MutexLock lock(pacing_mutex_);
    owed = !unreachable_.due(to, parts.clock.elapsed());
    if (owed && !unreachable_owed_.insert(to).second) return;
  }
  if (owed) return report_later(to);
  PeerCounters::count(counters.unreachable);
  if (log::TransportSink* const told = sink.load()) told->on_unreachable(to);
}

void PeerCore::report_later(log::NodeId to) {
  later(shared_from_this(), log::kUnreachableEvery, [this, to] {
    {
      const base::MutexLock lock(pacing_mutex_);
      unreachable_owed_.erase(to);
    }
    report_unreachable(to);
  });
}

void PeerCore::answer_not_here(log::NodeId to, log::GroupId group, log::Index configuration) {
  PeerCounters::count(counters.frames_not_here);
  {
    const base::MutexLock lock(pacing_mutex_);
    if (!not_here_.due({to, group}, parts.clock.elapsed())) return;
  }
  send(to, log::Lane::kControl,
       {{.kind = log::FrameKind::kNotHere,
         .group = group,
         .from = parts.self.node,
         .to = to,
         .body = log::Body::copy_of(log::encode_not_here(configuration))}});
}

std::chrono::nanoseconds PeerCore::reconnect_delay(std::uint32_t attempt) {
  const base::MutexLock lock(pacing_mutex_);
  return log::reconnect_delay(attempt, parts.random);
}

void PeerCore::warn_refused(log::NodeId by, std::string_view why) {
  PeerCounters::count(counters.refused_there);
  if (parts.logger == nullptr) return;
  {
    const base::MutexLock lock(pacing_mutex_);
    if (!warnings_.due(by, parts.clock.elapsed())) return;
  }
  parts.logger->warn("a peer refuses this node", {{"peer", by.value()}, {"reason", why}});
}

std::shared_ptr<grpc::Channel> peer_channel(const PeerCore& core,
                                            const std::string& address,
                                            std::size_t answer_bytes_max) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveMs);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  // By its name a pause; in fact how long an attempt may take, unless the pause after it is longer.
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kConnectMs);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kConnectMs);
  arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  arguments.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, kPeerWindowBytes);
  arguments.SetMaxReceiveMessageSize(static_cast<int>(answer_bytes_max));
  return grpc::CreateCustomChannel(address, core.credentials, arguments);
}

void PeerCore::later(const std::shared_ptr<PeerCore>& core,
                     std::chrono::nanoseconds delay,
                     std::move_only_function<void()> task) {
  core->parts.timer.after(std::chrono::ceil<std::chrono::milliseconds>(delay),
                          [core, task = std::move(task)]() mutable {
                            const auto pass = core->gate.enter();
                            if (pass) task();
                          });
}

}  // namespace cadastre::server
