// What the conformance suite asks of a backend: to be opened afresh with chosen limits.
//
// A backend runs the suite with one line in its own *_test.cc:
//
//   INSTANTIATE_TEST_SUITE_P(Memory, Conformance, testing::Values(memory_factory()), name_of);
//
// and, where it can, the two suites with more demands: BoundedConformance if it refuses bytes beyond
// `slab_capacity`, PlantedConformance if it has `plant`.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include "coord/backend.h"
#include "coord/limits.h"
#include "coord/shard_limits.h"

namespace cadastre::coord::conformance {

struct BackendOptions {
  ShardLimits limits = {};
  std::uint64_t claim_cooldown_interval = 0;  // 0: none
  std::uint64_t slab_capacity = 0;            // bytes of all records; 0: ample
  std::size_t children_max = kMaxSplitChildren;
};

// A fresh backend. `introspection` looks at what `facade` owns.
struct BackendUnderTest {
  std::unique_ptr<CoordinationFacade> facade;
  const Introspection* introspection = nullptr;
  // Puts a record there that no request can make; empty where a backend cannot.
  std::function<void(const ShardDump&)> plant;
};

struct BackendFactory {
  std::string name;
  std::function<BackendUnderTest(const BackendOptions&)> open;

  // NOLINTNEXTLINE(readability-identifier-naming): GoogleTest looks for this name
  friend void PrintTo(const BackendFactory& factory, std::ostream* out) { *out << factory.name; }
};

[[nodiscard]] inline std::string name_of(const testing::TestParamInfo<BackendFactory>& info) {
  return info.param.name;
}

}  // namespace cadastre::coord::conformance
