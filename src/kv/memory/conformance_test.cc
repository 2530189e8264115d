// The memory store passes the suite (kv/conformance/).

#include <memory>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "kv/conformance/store_factory_testing.h"
#include "kv/conformance/suite_testing.h"
#include "kv/memory/memory_store.h"

namespace cadastre::kv::conformance {
namespace {

StoreFactory memory_factory() {
  return {"memory", [](const base::Clock& clock, const StoreOptions& options) {
            memory::MemoryOptions own;
            own.capacity_bytes = options.capacity_bytes;
            own.capacity_bytes_max = options.capacity_bytes_max;
            own.readers_max = options.readers_max;
            own.spaces_max = options.spaces_max;
            return std::make_shared<memory::MemoryStore>(clock, own);
          }};
}

INSTANTIATE_TEST_SUITE_P(Memory, Conformance, testing::Values(memory_factory()), name_of);

}  // namespace
}  // namespace cadastre::kv::conformance
