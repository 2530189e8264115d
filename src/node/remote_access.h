// Coordination on a server: the client with the clock, the chance and the timer that it needs.

#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "client/remote_coordination.h"
#include "coord/backend.h"

namespace cadastre::node {

// How a server knows who calls.
struct RemoteAccess {
  std::string token = {};  // empty: none
  std::optional<client::TlsOptions> tls = std::nullopt;
};

// Connects with the first call. Any number of threads may call the facade.
[[nodiscard]] base::Result<std::unique_ptr<coord::CoordinationFacade>, client::RemoteError>
open_remote(const std::string& address, const RemoteAccess& access);

}  // namespace cadastre::node
