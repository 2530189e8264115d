// Connections to a gRPC server, for the callers that are measured.

#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <grpcpp/channel.h>

namespace cadastre::bench {

// As many of their own, each connected. The server may still be starting.
[[nodiscard]] std::vector<std::shared_ptr<grpc::Channel>> connect_channels(
    const std::string& address, std::size_t connections);

}  // namespace cadastre::bench
