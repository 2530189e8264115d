// A store in memory for the tests of other rooms, which do not see backends.

#pragma once

#include <memory>

#include "base/clock.h"
#include "kv/memory/memory_store.h"  // IWYU pragma: export
#include "kv/store.h"

namespace cadastre::kv {

using memory::MemoryOptions;

[[nodiscard]] inline std::unique_ptr<Store> open_memory_store(const MemoryOptions& options = {}) {
  static const base::SystemClock clock;
  return std::make_unique<memory::MemoryStore>(clock, options);
}

}  // namespace cadastre::kv
