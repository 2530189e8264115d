// The replicated backend passes the suite (src/coord/conformance) on the local engine; and after every case
// its state survives the way through a snapshot.

#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/check.h"
#include "base/result.h"
#include "coord/backend.h"
#include "coord/conformance/backend_factory_testing.h"
#include "coord/conformance/suite_testing.h"
#include "coord/memory/memory_backend.h"
#include "coord/replicated/machine.h"
#include "coord/replicated/settings.h"
#include "coord/replicated/snapshot_codec.h"
#include "coord/sync_over_async.h"
#include "tests/coord/machine_introspection.h"
#include "tests/coord/replicated_node.h"

namespace cadastre::coord::conformance {
namespace {

using replicated::MemoryNodeDisk;
using replicated::ReplicatedNode;

// Whatever a machine holds is in its snapshot, too.
class Inside final : public MachineIntrospection {
 public:
  using MachineIntrospection::MachineIntrospection;

  void verify() const override {
    MachineIntrospection::verify();
    if (planted) return;  // A record that no request can make is in no snapshot either.
    const replicated::SnapshotHead head{true, {}, machine().settings()};
    base::Bytes bytes = machine().read([&](const memory::MemoryBackend& records) {
      return replicated::encode_snapshot(head, records, {});
    });
    replicated::seal(bytes);
    const auto content = replicated::decode_snapshot(bytes);
    ASSERT_TRUE(content.has_value()) << content.error().detail;
    EXPECT_EQ(content->shards, dump_shards());
    EXPECT_TRUE(content->runs == dump_runs());
  }

  bool planted = false;
};

struct Parts {
  explicit Parts(const replicated::Settings& settings) : node(disk, settings) {
    CAD_CHECK(node.start(), "a node starts on an empty disk");
    inside = std::make_unique<Inside>(node.machine());
  }

  MemoryNodeDisk disk;
  ReplicatedNode node;
  std::unique_ptr<Inside> inside;
};

class Home : private Parts, public SyncOverAsync {
 public:
  explicit Home(const replicated::Settings& settings)
      : Parts(settings), SyncOverAsync(node.async(), [this] {
          node.settle();
          return true;
        }) {}

  [[nodiscard]] const Introspection& introspection() const { return *inside; }
  void plant(const ShardDump& shard) {
    inside->planted = true;
    node.machine().read([&](memory::MemoryBackend& records) {
      CAD_CHECK(records.load_shard(shard).has_value(), "there is room for a planted record");
    });
  }
};

BackendFactory replicated_factory() {
  return {"replicated", [](const BackendOptions& options) {
            replicated::Settings settings{
                .shards_per_tenant_max = options.limits.per_tenant_max,
                .shards_total_max = options.limits.total_max,
                .claim_cooldown_interval = options.claim_cooldown_interval,
                .children_max = options.children_max};
            if (options.slab_capacity != 0) settings.record_bytes_max = options.slab_capacity;
            auto home = std::make_unique<Home>(settings);
            BackendUnderTest opened;
            opened.introspection = &home->introspection();
            opened.plant = [home = home.get()](const ShardDump& shard) {
              home->plant(shard);
            };
            opened.facade = std::move(home);
            return opened;
          }};
}

INSTANTIATE_TEST_SUITE_P(Replicated, Conformance, testing::Values(replicated_factory()), name_of);
INSTANTIATE_TEST_SUITE_P(Replicated,
                         BoundedConformance,
                         testing::Values(replicated_factory()),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Replicated,
                         PlantedConformance,
                         testing::Values(replicated_factory()),
                         name_of);

}  // namespace
}  // namespace cadastre::coord::conformance
