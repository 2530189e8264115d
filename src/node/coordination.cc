#include "node/coordination.h"

#include <memory>
#include <string_view>

#include "base/result.h"
#include "coord/backend.h"
#include "coord/memory/memory_backend.h"

namespace cadastre::node {

Result<std::unique_ptr<coord::CoordinationFacade>, OpenError> open_coordination(
    std::string_view backend, const coord::memory::MemoryOptions& memory) {
  if (backend == "memory") return make_memory_coordination(memory);
  if (backend.starts_with("local:") || backend.starts_with("etcd:") ||
      backend.find(':') != std::string_view::npos) {
    return base::fail(OpenError::kBackendUnavailable,
                      "this build has the memory backend only; use --backend memory");
  }
  return base::fail(OpenError::kUnknownBackend,
                    "a backend is memory, local:DIR, etcd:HOST:PORT[/prefix] or HOST:PORT");
}

std::unique_ptr<coord::memory::MemoryBackend> make_memory_coordination(
    const coord::memory::MemoryOptions& options) {
  return std::make_unique<coord::memory::MemoryBackend>(options);
}

}  // namespace cadastre::node
