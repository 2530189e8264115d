#include "tests/peers/raw_stream.h"

#include <vector>

#include <fmt/format.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include "base/check.h"
#include "server/grpc/peer_wire.h"

namespace cadastre::peers {

struct RawStream::Call {
  Call(std::uint16_t port, const char* method)
      : stub(grpc::CreateChannel(fmt::format("127.0.0.1:{}", port),
                                 grpc::InsecureChannelCredentials())) {
    context.set_deadline(
        gpr_time_add(gpr_now(GPR_CLOCK_REALTIME), gpr_time_from_seconds(30, GPR_TIMESPAN)));
    stream = stub.PrepareCall(&context, method == nullptr ? server::kFramesMethod : method, &queue);
    stream->StartCall(this);
    (void)next();
  }
  ~Call() {
    context.TryCancel();
    queue.Shutdown();
    void* tag = nullptr;
    bool ok = false;
    while (queue.Next(&tag, &ok)) {}
  }
  // One operation at a time; whether it went well.
  bool next() {
    void* tag = nullptr;
    bool ok = false;
    CAD_CHECK(queue.Next(&tag, &ok), "the queue is open");
    return ok;
  }

  grpc::CompletionQueue queue;
  grpc::ClientContext context;
  grpc::GenericStub stub;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> stream;
};

RawStream::RawStream(std::uint16_t port, const char* method)
    : call_(std::make_unique<Call>(port, method)) {}
RawStream::~RawStream() = default;

bool RawStream::write(base::ByteView message) {
  call_->stream->Write(server::to_buffer(message), call_.get());
  return call_->next();
}

bool RawStream::is_let_in() {
  call_->stream->ReadInitialMetadata(call_.get());
  return call_->next() && call_->context.GetServerInitialMetadata().contains(server::kLetInKey);
}

RawStream::Ending RawStream::ending() {
  Ending ending;
  for (;;) {
    grpc::ByteBuffer buffer;
    call_->stream->Read(&buffer, call_.get());
    if (!call_->next()) break;
    base::Bytes bytes(buffer.Length());
    CAD_CHECK(server::copy_out(buffer, bytes.data()), "gRPC gives what it read");
    ending.reason += base::as_text(bytes);
  }
  grpc::Status status;
  call_->stream->Finish(&status, call_.get());
  (void)call_->next();
  ending.status = status.error_message();
  return ending;
}

}  // namespace cadastre::peers
