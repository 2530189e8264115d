// A claim stream on gRPC: grants from ClaimStreams as messages, until there were enough. For grpc/ only.

#pragma once

#include <grpcpp/grpcpp.h>

#include "cadastre/v1/coordination.pb.h"

#include "base/result.h"
#include "client/wire_error.h"
#include "client/wire_request.h"
#include "server/coordination_handlers.h"

namespace cadastre::server {

// Owned by gRPC, which is told when it may go. Without arguments the stream ends with their status.
[[nodiscard]] grpc::ServerWriteReactor<v1::Grant>* open_claim_reactor(
    const HandlerParts& parts,
    const base::Result<client::ClaimStreamArguments, client::WireStatus>& arguments);

}  // namespace cadastre::server
