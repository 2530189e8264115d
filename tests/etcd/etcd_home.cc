#include "tests/etcd/etcd_home.h"

#include <atomic>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "coord/etcd/records.h"
#include "coord/record_codec.h"
#include "tests/etcd/blocking_store.h"

namespace cadastre::coord::etcd {
namespace {

std::unique_ptr<GrpcStore> opened(const EtcdConfig& config, const base::Clock& clock) {
  auto store = GrpcStore::open(config, clock);
  CAD_CHECK(store.has_value(), "the test's configuration is valid");
  return *std::move(store);
}

}  // namespace

std::string fresh_prefix() {
  static std::atomic<int> count = 0;
  return fmt::format("/test/{}", ++count);
}

HomeParts::HomeParts(const HomeOptions& options)
    : timer(clock),
      store(opened(options.config, clock)),
      backend({*store, timer, random, clock}, options.backend),
      introspection(options.backend.keyspace,
                    [this] { return read_all(*store, backend.options().keyspace); }) {}

std::vector<KeyValue> read_all(GrpcStore& store, const Keyspace& keys) {
  std::vector<Range> ranges;
  ranges.push_back(all_under(keys.tenants()));
  auto found = answer_of<std::vector<RangeResult>>(
      [&](auto done) { store.read(std::move(ranges), std::move(done)); });
  CAD_CHECK(found.has_value(), "etcd answers");
  return std::move(found->front().keys);
}

void EtcdHome::plant(const ShardDump& shard) {
  const Keyspace& keys = backend.options().keyspace;
  const TenantId& tenant = shard.state.tenant;
  Transaction planted;
  planted.success.emplace_back(
      Put{keys.shard(tenant, shard.state.key()), to_value(encode(shard)), {}});
  planted.success.emplace_back(Put{keys.shard_active(tenant, shard.state.key()), {}, {}});
  planted.success.emplace_back(Delete{keys.shard_count(tenant), {}});
  const auto done = answer_of<TransactionResult>(
      [&](auto then) { store->commit(std::move(planted), std::move(then)); });
  CAD_CHECK(done.has_value(), "etcd takes it");
}

}  // namespace cadastre::coord::etcd
