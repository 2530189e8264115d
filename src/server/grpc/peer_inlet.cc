#include "server/grpc/peer_inlet.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include <grpcpp/grpcpp.h>

#include "base/mutex.h"
#include "log/fragment_joiner.h"
#include "log/frame_bodies.h"
#include "log/frame_codec.h"
#include "server/grpc/first_word.h"
#include "server/grpc/peer_wire.h"

namespace cadastre::server {
namespace {

class PeerInlet;

// Whether a stream waits for room in its peer's account. Outlives the stream; safe from any thread.
struct Pause {
  base::Mutex mutex;
  PeerInlet* inlet CAD_GUARDED_BY(mutex) = nullptr;  // Whoever waits; null: nobody.
  bool cancelled CAD_GUARDED_BY(mutex) = false;
};

// One read is under way, or it waits for room, or it is being finished. Finished exactly once: by the read that ends, or by
// the cancellation of a stream that waits.
class PeerInlet final : public grpc::ServerGenericBidiReactor {
 public:
  PeerInlet(std::shared_ptr<PeerCore> core, grpc::GenericCallbackServerContext& context)
      : core_(std::move(core)), context_(context), first_word_(core_, context) {
    StartRead(&buffer_);
  }

  void OnReadDone(bool ok) override {
    if (!ok) return Finish(grpc::Status::OK);  // The peer left, or the stream was cancelled.
    first_word_.came();
    const std::optional<PeerRefusal> refused = admitted_ ? take_in() : begin();
    if (refused) return refuse(*refused);
    read_on();
  }

  void OnCancel() override {
    {
      const base::MutexLock lock(pause_->mutex);
      pause_->cancelled = true;
      if (std::exchange(pause_->inlet, nullptr) == nullptr) return;  // The read ends, and finishes.
    }
    Finish(grpc::Status::CANCELLED);
  }

  void OnDone() override {
    first_word_.came();
    if (admitted_) core_->forget_stream(*admitted_);
    delete this;
  }

 private:
  using Refused = std::optional<PeerRefusal>;

  Refused begin() {
    if (buffer_.Length() > log::kStreamMessageBytesMax) return PeerRefusal::kTooLong;
    base::Bytes bytes(buffer_.Length());
    if (!copy_out(buffer_, bytes.data())) return PeerRefusal::kDamaged;
    auto admitted = core_->admit(bytes, authenticated(*context_.auth_context(), core_->security),
                                 [this] { context_.TryCancel(); });
    if (!admitted) return admitted.error().code;
    admitted_ = std::move(*admitted);
    context_.AddInitialMetadata(kLetInKey, "1");  // By this the peer knows.
    StartSendInitialMetadata();
    return std::nullopt;
  }

  Refused take_in() {
    const std::size_t bytes = buffer_.Length();
    if (bytes > log::kStreamMessageBytesMax) return PeerRefusal::kTooLong;
    if (!core_->is_current(admitted_->stream)) return PeerRefusal::kIncarnation;
    const std::shared_ptr<std::byte[]> memory = admitted_->account->take(bytes);
    if (!copy_out(buffer_, memory.get())) return PeerRefusal::kDamaged;
    const auto frames = log::decode_frames({memory.get(), bytes});
    if (!frames) return refusal_of(frames.error().code);
    for (const log::FrameView& frame : *frames) {
      if (const auto refused = PeerAdmission::refuse(admitted_->stream, frame)) return refused;
      if (frame.kind != log::FrameKind::kAddressHint && !core_->hooks->has_group(frame.group))
        return PeerRefusal::kGroup;
    }
    PeerCounters::count(core_->counters.messages_received);
    PeerCounters::count(core_->counters.frames_received, frames->size());
    core_->heard(admitted_->stream.from);
    return hand_over(*frames, memory);
  }

  Refused hand_over(const std::vector<log::FrameView>& frames,
                    const std::shared_ptr<std::byte[]>& memory) {
    std::vector<log::Frame> messages;
    for (const log::FrameView& frame : frames) {
      const std::uint64_t gaps = joiner_.dropped();
      if (frame.kind == log::FrameKind::kFragment) {
        if (const auto whole = joiner_.add(frame)) keep(frame, body_of(*whole), messages);
      } else {
        joiner_.interrupt();
        if (frame.kind == log::FrameKind::kMessage) {
          keep(frame, {memory, frame.body}, messages);
        } else if (!tell(frame)) {
          return PeerRefusal::kDamaged;
        }
      }
      PeerCounters::count(core_->counters.fragments_dropped, joiner_.dropped() - gaps);
    }
    if (!messages.empty())
      core_->sink.load()->on_frames(admitted_->stream.from, std::move(messages));
    return std::nullopt;
  }

  log::Body body_of(base::ByteView whole) {
    std::shared_ptr<std::byte[]> memory = admitted_->account->take(whole.size());
    std::ranges::copy(whole, memory.get());
    const base::ByteView view{memory.get(), whole.size()};
    return {std::move(memory), view};
  }

  void keep(const log::FrameView& frame, log::Body body, std::vector<log::Frame>& messages) {
    const log::NodeId from = admitted_->stream.from;
    if (const auto configuration = core_->hooks->not_here(frame.group, from)) {
      core_->answer_not_here(from, frame.group, *configuration);
    } else {
      messages.push_back({frame.group, from, frame.to, std::move(body)});
    }
  }

  // What is no engine's. False: it is nothing that a node sends.
  bool tell(const log::FrameView& frame) {
    const log::NodeId from = admitted_->stream.from;
    if (frame.kind == log::FrameKind::kSnapshotReport) {
      const auto report = log::decode_snapshot_report(frame.body);
      if (report) core_->hooks->on_snapshot_report(from, frame.group, *report);
      return report.has_value();
    }
    if (frame.kind == log::FrameKind::kAddressHint) {
      const auto address = log::decode_address_hint(frame.body);
      if (address) core_->hooks->on_address_hint(from, *address);
      return address.has_value();
    }
    const auto configuration = log::decode_not_here(frame.body);
    if (configuration) core_->hooks->on_not_here(from, frame.group, *configuration);
    return configuration.has_value();
  }

  void refuse(PeerRefusal why) {
    core_->counters.refuse(why);
    buffer_ = to_buffer(base::as_bytes(sentence_of(why)));
    StartWriteAndFinish(&buffer_, {},
                        {grpc::StatusCode::FAILED_PRECONDITION, std::string(name_of(why))});
  }

  void read_on() {
    buffer_.Clear();
    if (admitted_ && waits_for_room()) return;
    StartRead(&buffer_);
  }

  // False: there is room, or the stream was cancelled and its read will say so.
  bool waits_for_room() {
    {
      const base::MutexLock lock(pause_->mutex);
      if (pause_->cancelled) return false;
      pause_->inlet = this;
    }
    // Bytes are given back on any thread, also on the log's: the read begins on another.
    const bool waits = admitted_->account->wait_for_room([core = core_, pause = pause_] {
      PeerCore::later(core, std::chrono::nanoseconds{0}, [pause] { go_on(*pause); });
    });
    if (waits) {
      PeerCounters::count(core_->counters.reads_paused);
      return true;
    }
    const base::MutexLock lock(pause_->mutex);
    return std::exchange(pause_->inlet, nullptr) == nullptr;  // Cancelled meanwhile: that finished.
  }

  static void go_on(Pause& pause) {
    PeerInlet* inlet = nullptr;
    {
      const base::MutexLock lock(pause.mutex);
      inlet = std::exchange(pause.inlet, nullptr);
    }
    if (inlet != nullptr) inlet->StartRead(&inlet->buffer_);  // It stays: nobody has finished it.
  }

  const std::shared_ptr<PeerCore> core_;
  grpc::GenericCallbackServerContext& context_;
  FirstWord first_word_;
  grpc::ByteBuffer buffer_;  // Being read, or the refusal that is written.
  std::optional<PeerCore::Admitted> admitted_;
  log::FragmentJoiner joiner_;

  const std::shared_ptr<Pause> pause_ = std::make_shared<Pause>();
};

}  // namespace

grpc::ServerGenericBidiReactor* open_peer_inlet(std::shared_ptr<PeerCore> core,
                                                grpc::GenericCallbackServerContext& context) {
  return new PeerInlet(std::move(core), context);  // OnDone deletes it.
}

}  // namespace cadastre::server
