#include "client/claim_stream.h"

#include <memory>
#include <optional>
#include <utility>

#include <grpcpp/grpcpp.h>

#include "cadastre/v1/coordination.grpc.pb.h"

#include "base/result.h"
#include "client/grpc/calls_under_way.h"
#include "client/grpc/channel.h"
#include "client/remote_coordination.h"
#include "client/wire_answer.h"
#include "client/wire_error.h"
#include "client/wire_request.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/snapshot.h"
#include "coord/worker_session.h"

namespace cadastre::client {
namespace {

using Next = base::Result<std::optional<coord::AcquiredShard>, coord::ClaimError>;

class GrpcClaimStream final : public ClaimStream {
 public:
  GrpcClaimStream(v1::Coordination::Stub& stub,
                  std::unique_ptr<grpc::ClientContext> context,
                  const ClaimStreamArguments& arguments)
      : tenant_(arguments.tenant), context_(std::move(context)) {
    v1::ClaimStreamRequest request;
    encode(arguments, request);
    reader_ = stub.ClaimStream(context_.get(), request);
  }
  ~GrpcClaimStream() override {
    context_->TryCancel();
    if (!ended_) (void)reader_->Finish();
  }

  Next next() override {
    if (ended_) return end();
    v1::Grant grant;
    if (!reader_->Read(&grant)) {
      ended_ = from_grpc(reader_->Finish());
      return end();
    }
    const auto granted = decode(grant, tenant_, *scratch_);
    if (!granted) return base::fail(coord::ClaimError(granted.error()));
    return coord::AcquiredShard(*granted);
  }

  void cancel() override { context_->TryCancel(); }

 private:
  [[nodiscard]] Next end() const {
    if (ended_->code == StatusCode::kOk) return std::nullopt;
    return base::fail(narrowed<coord::ClaimError>(from_status(*ended_, tenant_)));
  }

  const coord::TenantId tenant_;
  const std::unique_ptr<grpc::ClientContext> context_;
  const std::unique_ptr<coord::AcquireScratch> scratch_ = std::make_unique<coord::AcquireScratch>();
  std::unique_ptr<grpc::ClientReader<v1::Grant>> reader_;
  std::optional<WireStatus> ended_;
};

}  // namespace

std::unique_ptr<ClaimStream> RemoteCoordination::claims(const ClaimStreamArguments& arguments) {
  auto context = std::make_unique<grpc::ClientContext>();
  channel_->introduce(*context);
  // A stream that ends is opened anew by its caller, by way of the server that answers calls then.
  return std::make_unique<GrpcClaimStream>(channel_->stub(channel_->server()), std::move(context),
                                           arguments);
}

}  // namespace cadastre::client
