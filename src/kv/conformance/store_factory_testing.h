// What the conformance suite asks of a backend: to be opened afresh with chosen bounds.
//
// A backend runs the suite with one line in its own *_test.cc:
//
//   INSTANTIATE_TEST_SUITE_P(Backends, Conformance, testing::Values(memory_factory()), name_of);

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "kv/limits.h"
#include "kv/store.h"

namespace cadastre::kv::conformance {

struct StoreOptions {
  std::uint64_t capacity_bytes = std::uint64_t{1} << 30;
  std::uint64_t capacity_bytes_max = std::uint64_t{1} << 30;
  std::uint32_t readers_max = kReadersMaxDefault;
  std::uint32_t spaces_max = kSpacesMaxDefault;
};

struct StoreFactory {
  std::string name;
  // A fresh store. What it needs to live (a directory) goes with it.
  std::function<std::shared_ptr<Store>(const base::Clock&, const StoreOptions&)> open;

  // NOLINTNEXTLINE(readability-identifier-naming): GoogleTest looks for this name
  friend void PrintTo(const StoreFactory& factory, std::ostream* out) { *out << factory.name; }
};

[[nodiscard]] inline std::string name_of(const testing::TestParamInfo<StoreFactory>& info) {
  return info.param.name;
}

}  // namespace cadastre::kv::conformance
