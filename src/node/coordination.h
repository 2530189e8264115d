// Coordination in this process: picks the backend that a user named and opens it.

#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "base/result.h"
#include "coord/backend.h"
#include "coord/memory/memory_backend.h"

namespace cadastre::node {

using base::Result;

enum class OpenError : std::uint8_t {
  kUnknownBackend,      // Name one of the kinds that the detail lists.
  kBackendUnavailable,  // This build has no such backend.
  kCannotOpen,          // The operating system refuses: `detail` has its reason.
  kLocked,              // Another process has the directory: `detail` names it.
  kForeign,             // The directory holds something else: choose another.
  kNewer,               // Written by a newer release: start that one.
  kDamaged,             // What was stored is missing or changed: restore a backup.
};

// `memory`: lives as long as this process. `local:DIR`: durable in that directory, which is made if it is not
// there and belongs to this process until the facade is gone; any number of threads may call.
// `etcd:HOST:PORT[/prefix]` and `HOST:PORT` are not in this build yet and say so.
[[nodiscard]] Result<std::unique_ptr<coord::CoordinationFacade>, OpenError> open_coordination(
    std::string_view backend, const coord::memory::MemoryOptions& memory);

// A memory backend with its introspection, for the simulator.
[[nodiscard]] std::unique_ptr<coord::memory::MemoryBackend> make_memory_coordination(
    const coord::memory::MemoryOptions& options);

}  // namespace cadastre::node
