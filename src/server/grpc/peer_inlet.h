// A peer's stream to this node: its preamble is judged, its frames are checked and handed to the engines' side. For
// grpc/ only.

#pragma once

#include <memory>

#include <grpcpp/generic/async_generic_service.h>

#include "server/grpc/peer_core.h"

namespace cadastre::server {

// Owned by gRPC, which is told when it may go.
[[nodiscard]] grpc::ServerGenericBidiReactor* open_peer_inlet(
    std::shared_ptr<PeerCore> core, grpc::GenericCallbackServerContext& context);

}  // namespace cadastre::server
