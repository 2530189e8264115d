#include "server/grpc/peer_core.h"

#include <grpcpp/grpcpp.h>

#include "server/grpc/peer_sender.h"

namespace cadastre::server {
namespace {

constexpr int kKeepaliveMs = 10'000;

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
  {
    const base::MutexLock lock(pacing_mutex_);
    if (!unreachable_.due(to, parts.clock.elapsed())) return;
  }
  PeerCounters::count(counters.unreachable);
  if (sink != nullptr) sink->on_unreachable(to);
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
