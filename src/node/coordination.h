// Coordination in this process: picks the backend that a user named and opens it.

#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "base/result.h"
#include "coord/backend.h"
#include "coord/memory/memory_backend.h"
#include "node/etcd_settings.h"
#include "node/remote_access.h"

namespace cadastre::node {

using base::Result;

enum class OpenError : std::uint8_t {
  kUnknownBackend,  // Name one of the kinds that the detail lists.
  kCannotOpen,      // The operating system refuses: `detail` has its reason.
  kLocked,          // Another process has the directory: `detail` names it.
  kForeign,         // The directory holds something else: choose another.
  kNewer,           // Written by a newer release: start that one.
  kDamaged,         // What was stored is missing or changed: restore a backup.
  kBadAccess,       // What a server would be shown does not fit: `detail` says what.
};

// `memory`: lives as long as this process. `local:DIR`: durable in that directory, which is made if it is not
// there and belongs to this process until the facade is gone; any number of threads may call.
// `HOST:PORT`: a server, which the first call connects to and which is shown `access`; any number of threads
// may call. `etcd:HOST:PORT[,HOST:PORT…][/prefix]`: on an etcd, which is asked when the first operation is; any
// number of threads may call.
[[nodiscard]] Result<std::unique_ptr<coord::CoordinationFacade>, OpenError> open_coordination(
    std::string_view backend,
    const coord::memory::MemoryOptions& memory,
    const RemoteAccess& access = {},
    const EtcdSettings& etcd = {});

// A memory backend with its introspection, for the simulator.
[[nodiscard]] std::unique_ptr<coord::memory::MemoryBackend> make_memory_coordination(
    const coord::memory::MemoryOptions& options);

}  // namespace cadastre::node
