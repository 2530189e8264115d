// The asynchronous interfaces answer as the synchronous ones: the suite runs through both adapters.

#include <memory>
#include <utility>

#include <gtest/gtest.h>

#include "coord/async_over_sync.h"
#include "coord/backend.h"
#include "coord/conformance/backend_factory_testing.h"
#include "coord/conformance/suite_testing.h"
#include "coord/memory/memory_backend.h"
#include "coord/sync_over_async.h"

namespace cadastre::coord::conformance {
namespace {

struct Parts {
  explicit Parts(const memory::MemoryOptions& options) : memory(options), async(memory) {}

  memory::MemoryBackend memory;
  AsyncOverSync async;
};

// Calls become completions and calls again.
class ThroughCompletions : private Parts, public SyncOverAsync {
 public:
  explicit ThroughCompletions(const memory::MemoryOptions& options)
      : Parts(options), SyncOverAsync(async, [this] { return async.deliver(); }) {}

  [[nodiscard]] const Introspection& introspection() const { return memory; }
};

BackendFactory async_factory() {
  return {"async", [](const BackendOptions& options) {
            auto home = std::make_unique<ThroughCompletions>(
                memory::MemoryOptions{.limits = options.limits,
                                      .claim_cooldown_interval = options.claim_cooldown_interval,
                                      .slab_capacity = options.slab_capacity,
                                      .children_max = options.children_max});
            const Introspection* const introspection = &home->introspection();
            return BackendUnderTest{std::move(home), introspection, {}};
          }};
}

INSTANTIATE_TEST_SUITE_P(Async, Conformance, testing::Values(async_factory()), name_of);
INSTANTIATE_TEST_SUITE_P(Async, BoundedConformance, testing::Values(async_factory()), name_of);

}  // namespace
}  // namespace cadastre::coord::conformance
