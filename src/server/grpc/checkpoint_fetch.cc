#include "server/grpc/checkpoint_fetch.h"

#include <chrono>
#include <optional>
#include <utility>

#include <grpc/support/time.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include "base/gate.h"
#include "server/checkpoint_store.h"
#include "server/fetch_request.h"
#include "server/grpc/first_word.h"
#include "server/grpc/peer_wire.h"
#include "server/limits.h"

namespace cadastre::server {
namespace {

// What a refusal means to whoever stages. A node that is not the one meant may be another one tomorrow, at the right
// address.
FetchError error_of(const grpc::Status& status) noexcept {
  if (status.error_code() == grpc::StatusCode::NOT_FOUND) return FetchError::kGone;
  if (status.error_code() == grpc::StatusCode::OUT_OF_RANGE ||
      status.error_code() == grpc::StatusCode::INVALID_ARGUMENT)
    return FetchError::kRefused;
  return FetchError::kUnavailable;
}

grpc::Status status_of(const base::Error<RangeError>& error) {
  switch (error.code) {
    case RangeError::kGone: return {grpc::StatusCode::NOT_FOUND, "the checkpoint is not here"};
    case RangeError::kNoRange: return {grpc::StatusCode::OUT_OF_RANGE, "it has no such range"};
    case RangeError::kBusy: return {grpc::StatusCode::RESOURCE_EXHAUSTED, "come back later"};
    case RangeError::kStorage: break;  // What the disk says is this node's operator's.
  }
  return {grpc::StatusCode::UNAVAILABLE, "the disk refuses"};
}

class CheckpointOutlet final : public grpc::ServerGenericBidiReactor {
 public:
  CheckpointOutlet(std::shared_ptr<PeerCore> core,
                   CheckpointStore& store,
                   grpc::GenericCallbackServerContext& context)
      : core_(std::move(core)), store_(store), context_(context), first_word_(core_, context) {
    StartRead(&buffer_);
  }

  void OnReadDone(bool ok) override {
    first_word_.came();
    if (!ok) return Finish(grpc::Status::CANCELLED);
    const auto request = judged();
    if (!request) return refuse(request.error().code);
    store_.read(request->checkpoint, request->range,
                [this](const base::Result<base::Bytes, RangeError>& bytes) { answer(bytes); });
  }
  void OnDone() override {
    first_word_.came();
    delete this;
  }

 private:
  [[nodiscard]] base::Result<FetchRequest, PeerRefusal> judged() {
    if (buffer_.Length() > kFetchRequestBytesMax) return base::fail(PeerRefusal::kTooLong);
    base::Bytes bytes(buffer_.Length());
    if (!copy_out(buffer_, bytes.data())) return base::fail(PeerRefusal::kDamaged);
    FetchRequest request = CAD_TRY(decode_fetch_request(bytes));
    const Authenticated end = authenticated(*context_.auth_context(), core_->security);
    if (const auto refused = refuse_fetch(request, core_->parts.self, end))
      return base::fail(*refused);
    return request;
  }

  void refuse(PeerRefusal why) {
    core_->counters.refuse(why);
    const bool bad = why == PeerRefusal::kDamaged || why == PeerRefusal::kTooLong;
    Finish({bad ? grpc::StatusCode::INVALID_ARGUMENT : grpc::StatusCode::FAILED_PRECONDITION,
            std::string(name_of(why))});
  }

  void answer(const base::Result<base::Bytes, RangeError>& bytes) {
    if (!bytes) return Finish(status_of(bytes.error()));
    buffer_ = to_buffer(base::ByteView{*bytes});
    StartWriteAndFinish(&buffer_, {}, grpc::Status::OK);
  }

  const std::shared_ptr<PeerCore> core_;
  CheckpointStore& store_;
  grpc::GenericCallbackServerContext& context_;
  FirstWord first_word_;
  grpc::ByteBuffer buffer_;  // The request, then the answer.
};

}  // namespace

struct GrpcCheckpointSource::Call {
  Call(base::Gate::Pass inside, FetchDone then) : pass(std::move(inside)), done(std::move(then)) {}

  const base::Gate::Pass pass;
  FetchDone done;
  log::NodeId from = {};
  std::uint32_t bytes = 0;
  grpc::ClientContext context;
  grpc::ByteBuffer request;
  grpc::ByteBuffer answer;
  grpc::Status status;
};

void GrpcCheckpointSource::fetch(const log::CheckpointName& name,
                                 const FileRange& range,
                                 FetchDone done) {
  auto pass = core_->gate.enter();
  const std::optional<std::string> address = core_->address_of(name.node);
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<Call> call;
  if (pass && address) {
    call = std::make_unique<Call>(std::move(*pass), std::move(done));
    call->from = name.node;
    call->bytes = range.bytes;
    call->request =
        to_buffer(base::ByteView{encode_fetch_request({.cluster = core_->parts.self.cluster,
                                                       .from = core_->parts.self.node,
                                                       .checkpoint = name,
                                                       .range = range})});
    call->context.set_deadline(gpr_time_from_seconds(kFetchDeadline.count(), GPR_TIMESPAN));
    const base::MutexLock lock(mutex_);
    if (!stopped_) {
      Connection& connection = connections_[name.node];
      if (connection.channel == nullptr || connection.address != *address)
        connection = {*address, peer_channel(*core_, *address, kFetchBytesMax)};
      channel = connection.channel;
      calls_.insert(call.get());
    } else {
      done = std::move(call->done);
    }
  }
  if (channel == nullptr) {
    // Not before this returns.
    core_->parts.timer.after(std::chrono::milliseconds(0), [done = std::move(done)]() mutable {
      done(base::fail(FetchError::kUnavailable, "there is no way to it"));
    });
    return;
  }
  Call* const raw = call.release();  // Deleted when it is answered.
  grpc::GenericStub(channel).UnaryCall(&raw->context, kFetchMethod, {}, &raw->request, &raw->answer,
                                       [this, raw](grpc::Status status) {
                                         raw->status = std::move(status);
                                         on_answer(*raw);
                                       });
}

void GrpcCheckpointSource::on_answer(Call& answered) {
  const std::unique_ptr<Call> call(&answered);
  {
    const base::MutexLock lock(mutex_);
    calls_.erase(call.get());
  }
  if (!call->status.ok())
    return call->done(base::fail(error_of(call->status), call->status.error_message()));
  const auto end = call->context.auth_context();
  const PeerIdentity peer{core_->parts.self.cluster, call->from};
  if (end == nullptr || !vouches_for(authenticated(*end, core_->security), peer)) {
    core_->counters.refuse(PeerRefusal::kIdentity);
    return call->done(base::fail(FetchError::kUnavailable, "another node answers for it"));
  }
  base::Bytes bytes(call->answer.Length());
  if (bytes.size() != call->bytes || !copy_out(call->answer, bytes.data()))
    return call->done(base::fail(FetchError::kRefused, "the answer has another length"));
  call->done(std::move(bytes));
}

void GrpcCheckpointSource::stop() {
  const base::MutexLock lock(mutex_);
  stopped_ = true;
  for (Call* const call : calls_)
    call->context.TryCancel();
}

grpc::ServerGenericBidiReactor* open_checkpoint_outlet(
    std::shared_ptr<PeerCore> core,
    CheckpointStore& store,
    grpc::GenericCallbackServerContext& context) {
  return new CheckpointOutlet(std::move(core), store, context);  // OnDone deletes it.
}

}  // namespace cadastre::server
