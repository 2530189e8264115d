// LMDB passes the suite (kv/conformance/).

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "kv/conformance/store_factory_testing.h"
#include "kv/conformance/suite_testing.h"
#include "kv/lmdb/lmdb_store.h"
#include "kv/lmdb_testing.h"
#include "kv/store.h"

namespace cadastre::kv::conformance {
namespace {

constexpr std::uint64_t kAllocatedBytesMax = std::uint64_t{64} << 20;

// A store and the directory that it lives in.
struct Housed {
  TemporaryDirectory directory;
  std::unique_ptr<Store> store;
};

StoreFactory lmdb_factory(const char* name, Writes writes) {
  return {name, [writes](const base::Clock& clock, const StoreOptions& options) {
            LmdbOptions own;
            own.writes = writes;
            own.durability = Durability::kNoSync;  // The suite loses no power.
            // Through the map, it is room on the disk.
            own.map_bytes = writes == Writes::kThroughMap
                                ? std::min(options.capacity_bytes, kAllocatedBytesMax)
                                : options.capacity_bytes;
            own.map_bytes_max = options.capacity_bytes_max;
            own.readers_max = options.readers_max;
            own.spaces_max = options.spaces_max;
            auto housed = std::make_shared<Housed>();
            housed->store = lmdb::LmdbStore::open(clock, housed->directory.path(), own).value();
            Store* const store = housed->store.get();
            return std::shared_ptr<Store>(std::move(housed), store);
          }};
}

INSTANTIATE_TEST_SUITE_P(Lmdb,
                         Conformance,
                         testing::Values(lmdb_factory("lmdb", Writes::kByCall),
                                         lmdb_factory("lmdb_through_map", Writes::kThroughMap)),
                         name_of);

}  // namespace
}  // namespace cadastre::kv::conformance
