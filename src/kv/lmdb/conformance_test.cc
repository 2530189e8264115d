// LMDB passes the suite (kv/conformance/).

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

// A store and the directory that it lives in.
struct Housed {
  TemporaryDirectory directory;
  std::unique_ptr<Store> store;
};

StoreFactory lmdb_factory() {
  return {"lmdb", [](const base::Clock& clock, const StoreOptions& options) {
            LmdbOptions own;
            own.durability = Durability::kNoSync;  // The suite loses no power.
            own.map_bytes = options.capacity_bytes;
            own.map_bytes_max = options.capacity_bytes_max;
            own.readers_max = options.readers_max;
            own.spaces_max = options.spaces_max;
            auto housed = std::make_shared<Housed>();
            housed->store = lmdb::LmdbStore::open(clock, housed->directory.path(), own).value();
            Store* const store = housed->store.get();
            return std::shared_ptr<Store>(std::move(housed), store);
          }};
}

INSTANTIATE_TEST_SUITE_P(Lmdb, Conformance, testing::Values(lmdb_factory()), name_of);

}  // namespace
}  // namespace cadastre::kv::conformance
