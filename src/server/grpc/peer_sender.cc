#include "server/grpc/peer_sender.h"

#include <limits>
#include <optional>
#include <utility>

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include "base/gate.h"
#include "server/grpc/peer_wire.h"

namespace cadastre::server {
namespace {

constexpr std::size_t kReasonBytesMax = 256;
// What the log thread encodes and writes itself, a few microseconds' worth; a transport thread does the rest (L-62).
constexpr std::size_t kOwnWriteBytesMax = 64 * log::kKiB;

}  // namespace

// gRPC deletes nothing: it says when nothing is under way (OnDone), and the stream goes. A hold keeps it until the
// sender has seen that it broke, because writes begin outside of gRPC's calls.
class PeerSender::Stream final
    : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  Stream(std::shared_ptr<PeerSender> sender, base::Gate::Pass pass, const std::string& address)
      : sender_(std::move(sender)),
        pass_(std::move(pass)),
        stub_(peer_channel(*sender_->core_, address, kReasonBytesMax)) {
    const PeerParts& parts = sender_->core_->parts;
    buffer_ = to_buffer(base::ByteView{log::encode_preamble({.lane = sender_->lane_,
                                                             .cluster = parts.self.cluster,
                                                             .from = parts.self.node,
                                                             .to = sender_->to_,
                                                             .incarnation = parts.incarnation})});
    stub_.PrepareBidiStreamingCall(&context_, kFramesMethod, {}, this);
  }

  void start() {
    AddHold();
    StartRead(&reason_);
    StartWrite(&buffer_);
    StartCall();
  }
  void write(grpc::ByteBuffer buffer) {
    buffer_ = std::move(buffer);
    StartWrite(&buffer_);
  }
  void cancel() { context_.TryCancel(); }
  void release() { RemoveHold(); }

  void OnReadInitialMetadataDone(bool ok) override {
    if (!ok || !context_.GetServerInitialMetadata().contains(kLetInKey)) return;
    const PeerIdentity peer{sender_->core_->parts.self.cluster, sender_->to_};
    const auto end = context_.auth_context();
    if (end != nullptr && vouches_for(authenticated(*end, sender_->core_->security), peer)) {
      sender_->on_let_in(*this);
    } else {
      sender_->core_->counters.refuse(PeerRefusal::kIdentity);
      cancel();
    }
  }
  void OnWriteDone(bool ok) override { sender_->on_written(*this, ok); }
  void OnReadDone(bool ok) override {
    if (!ok) return sender_->on_broken(*this);
    base::Bytes text(reason_.Length());
    if (copy_out(reason_, text.data()))
      sender_->core_->warn_refused(sender_->to_, base::as_text(text));
    StartRead(&reason_);
  }
  void OnDone(const grpc::Status& /*status*/) override {
    sender_->on_end(*this);
    delete this;
  }

  // The sender's, under its lock.
  bool let_in = false;
  bool writing = true;  // The preamble, at first.
  bool broken = false;
  bool released = false;

 private:
  const std::shared_ptr<PeerSender> sender_;
  const base::Gate::Pass pass_;
  grpc::ClientContext context_;
  grpc::GenericStub stub_;
  grpc::ByteBuffer buffer_;  // Being written.
  grpc::ByteBuffer reason_;  // Being read.
};

void PeerSender::start() {
  const base::MutexLock lock(mutex_);
  wait_locked(std::chrono::nanoseconds{0});
}

void PeerSender::wait_locked(std::chrono::nanoseconds delay) {
  state_ = State::kWaiting;
  const std::uint64_t wait = ++wait_;
  PeerCore::later(core_, delay, [self = shared_from_this(), wait] { self->connect(wait); });
}

void PeerSender::connect(std::uint64_t wait) {
  Stream* stream = nullptr;
  {
    const base::MutexLock lock(mutex_);
    if (state_ != State::kWaiting || wait != wait_) return;
    auto pass = core_->gate.enter();
    if (!pass) return;
    stream = new Stream(shared_from_this(), std::move(*pass), address_);  // OnDone deletes it.
    stream_ = stream;
    state_ = State::kConnecting;
  }
  stream->start();
}

void PeerSender::send(std::vector<log::LaneMessage> messages) {
  std::size_t full = 0;
  std::size_t away = 0;
  Stream* idle = nullptr;
  bool small = false;
  {
    const base::MutexLock lock(mutex_);
    if (state_ == State::kConnecting || state_ == State::kUp) {
      for (log::LaneMessage& message : messages)
        full += queue_.add(std::move(message));
      if (stream_->let_in && !stream_->writing && !stream_->broken) {
        stream_->writing = true;
        idle = stream_;
        small = queue_.bytes() <= kOwnWriteBytesMax;
      }
    } else {
      away = messages.size();
    }
  }
  core_->counters.drop(lane_, PeerDrop::kFull, full);
  core_->counters.drop(lane_, PeerDrop::kAway, away);
  if (full + away != 0) core_->report_unreachable(to_);
  if (idle == nullptr) return;
  // While `writing` is set the stream stays.
  if (small) return pump(*idle);
  core_->parts.timer.after(std::chrono::milliseconds(0),
                           [self = shared_from_this(), idle] { self->pump(*idle); });
}

void PeerSender::pump(Stream& stream) {
  std::vector<log::LaneFrame> frames;
  bool release = false;
  {
    const base::MutexLock lock(mutex_);
    if (!stream.broken && stream.let_in) frames = queue_.take();
    if (frames.empty()) {
      stream.writing = false;
      release = stream.broken && !stream.released;
      if (release) stream.released = true;
    }
  }
  if (!frames.empty()) {
    PeerCounters::count(core_->counters.messages_sent);
    PeerCounters::count(core_->counters.frames_sent, frames.size());
    stream.write(to_buffer(frames));
  } else if (release) {
    stream.release();
  }
}

// Whoever lets this node in may know an old address of it: what it hears at the new one is where it answers (L-69).
std::size_t PeerSender::announce_locked() {
  if (lane_ != log::Lane::kControl || !core_->announced) return 0;
  return queue_.add({.kind = log::FrameKind::kAddressHint,
                     .group = {},
                     .from = core_->parts.self.node,
                     .to = to_,
                     .body = log::Body::copy_of(log::encode_address_hint(*core_->announced))});
}

void PeerSender::on_let_in(Stream& stream) {
  PeerCounters::count(core_->counters.streams_opened);
  {
    const base::MutexLock lock(mutex_);
    core_->counters.drop(lane_, PeerDrop::kFull, announce_locked());
    stream.let_in = true;
    if (state_ == State::kConnecting) state_ = State::kUp;
    if (stream.writing) return;  // The preamble: on_written goes on.
    stream.writing = true;
  }
  pump(stream);
}

void PeerSender::on_written(Stream& stream, bool ok) {
  if (!ok) {
    const base::MutexLock lock(mutex_);
    stream.broken = true;
  }
  pump(stream);
}

void PeerSender::on_broken(Stream& stream) {
  bool release = false;
  {
    const base::MutexLock lock(mutex_);
    stream.broken = true;
    release = !stream.writing && !stream.released;
    if (release) stream.released = true;
  }
  stream.cancel();
  if (release) stream.release();
}

void PeerSender::on_end(Stream& stream) {
  std::size_t lost = 0;
  bool stopped = false;
  {
    const base::MutexLock lock(mutex_);
    if (stream_ == &stream) stream_ = nullptr;
    lost = queue_.clear();
    stopped = state_ == State::kStopped;
    if (!stopped) wait_locked(core_->reconnect_delay(attempts_));
    if (attempts_ < std::numeric_limits<std::uint32_t>::max()) ++attempts_;
  }
  core_->counters.drop(lane_, PeerDrop::kStreamLost, lost);
  if (stopped) return;
  if (stream.let_in) PeerCounters::count(core_->counters.streams_lost);
  core_->report_unreachable(to_);
}

void PeerSender::heard() {
  const base::MutexLock lock(mutex_);
  if (attempts_ == 0) return;
  attempts_ = 0;
  if (state_ == State::kWaiting) wait_locked(log::kReconnectMin);
}

void PeerSender::set_address(const std::string& address) {
  const base::MutexLock lock(mutex_);
  if (address == address_) return;
  address_ = address;
  attempts_ = 0;
  if (stream_ != nullptr) {
    stream_->cancel();
  } else if (state_ == State::kWaiting) {
    wait_locked(std::chrono::nanoseconds{0});
  }
}

std::string PeerSender::address() const {
  const base::MutexLock lock(mutex_);
  return address_;
}

void PeerSender::stop() {
  const base::MutexLock lock(mutex_);
  state_ = State::kStopped;
  if (stream_ != nullptr) stream_->cancel();
}

}  // namespace cadastre::server
