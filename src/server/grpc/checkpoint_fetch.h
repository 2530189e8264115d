// Checkpoints between nodes on gRPC: Internal.FetchCheckpoint, one range for each call (fetch_request.h), on the peer
// listener and with its credentials. For grpc/ only, but for what peer_transport.h makes of it.
//
// The asking side has a connection of its own to each node that it fetches from, so that files do not share a socket with
// messages (L-64). The answering side judges the request as it judges a stream, and counts what it refuses.

#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include <grpcpp/generic/async_generic_service.h>

#include "base/mutex.h"
#include "server/checkpoint_source.h"
#include "server/grpc/peer_core.h"

namespace grpc {
class Channel;
class ClientContext;
}  // namespace grpc

namespace cadastre::server {

class CheckpointStore;

class GrpcCheckpointSource final : public CheckpointSource {
 public:
  explicit GrpcCheckpointSource(std::shared_ptr<PeerCore> core) : core_(std::move(core)) {}
  // What was under way has ended.
  ~GrpcCheckpointSource() override { stop(); }

  void fetch(const log::CheckpointName& name, const FileRange& range, FetchDone done) override
      CAD_EXCLUDES(mutex_);
  void stop() override CAD_EXCLUDES(mutex_);

 private:
  struct Call;  // gRPC's side of one range.
  struct Connection {
    std::string address;
    std::shared_ptr<grpc::Channel> channel;
  };

  void on_answer(Call& call) CAD_EXCLUDES(mutex_);

  const std::shared_ptr<PeerCore> core_;
  base::Mutex mutex_;
  bool stopped_ CAD_GUARDED_BY(mutex_) = false;
  std::map<log::NodeId, Connection> connections_ CAD_GUARDED_BY(mutex_);
  std::set<Call*> calls_ CAD_GUARDED_BY(mutex_);
};

// A peer's request. Owned by gRPC, which is told when it may go. The store outlives it.
[[nodiscard]] grpc::ServerGenericBidiReactor* open_checkpoint_outlet(
    std::shared_ptr<PeerCore> core,
    CheckpointStore& store,
    grpc::GenericCallbackServerContext& context);

}  // namespace cadastre::server
