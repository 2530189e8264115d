// The memory backend passes the suite (coord/conformance/).

#include <memory>
#include <utility>

#include <gtest/gtest.h>

#include "base/check.h"
#include "coord/backend.h"
#include "coord/conformance/backend_factory_testing.h"
#include "coord/conformance/suite_testing.h"
#include "coord/memory/memory_backend.h"

namespace cadastre::coord::conformance {
namespace {

BackendUnderTest open_memory(const BackendOptions& options) {
  auto backend = std::make_unique<memory::MemoryBackend>(memory::MemoryOptions{
      .limits = options.limits,
      .claim_cooldown_interval = options.claim_cooldown_interval,
      .slab_capacity = options.slab_capacity,
      .children_max = options.children_max,
  });
  BackendUnderTest opened;
  opened.introspection = backend.get();
  opened.plant = [memory = backend.get()](const ShardDump& shard) {
    CAD_CHECK(memory->load_shard(shard).has_value(), "there is room for a planted record");
  };
  opened.facade = std::move(backend);
  return opened;
}

BackendFactory memory_factory() {
  return {"memory", open_memory};
}

INSTANTIATE_TEST_SUITE_P(Backends, Conformance, testing::Values(memory_factory()), name_of);
INSTANTIATE_TEST_SUITE_P(Backends, BoundedConformance, testing::Values(memory_factory()), name_of);
INSTANTIATE_TEST_SUITE_P(Backends, PlantedConformance, testing::Values(memory_factory()), name_of);

}  // namespace
}  // namespace cadastre::coord::conformance
