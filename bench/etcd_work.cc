#include "bench/etcd_work.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "base/check.h"
#include "bench/coord_load.h"
#include "bench/peers/etcd_talk.h"
#include "coord/etcd/keyspace.h"
#include "coord/identity.h"
#include "node/etcd_coordination.h"
#include "shard/shard_id.h"

namespace cadastre::bench {
namespace {

constexpr coord::RunId kRun = coord::RunId::from_raw(1);

coord::etcd::Keyspace keyspace() {
  auto keys = coord::etcd::Keyspace::make(coord::etcd::kPrefixDefault);
  CAD_CHECK(keys.has_value(), "the default is a prefix");
  return *std::move(keys);
}

}  // namespace

EtcdWork::EtcdWork() : directory_("etcd"), server_(directory_.path()) {
  const EtcdCalls until_it_serves(server_.address());
  auto opened = node::EtcdCoordination::open(
      {.config = {.endpoints = {"http://" + server_.address()}}}, clock_);
  CAD_CHECK(opened.has_value(), "an address is all it needs");
  coordination_ = *std::move(opened);
}

std::size_t EtcdWork::largest_record_bytes() const {
  return EtcdCalls(server_.address()).largest_value_bytes(keyspace().shards(work_tenant(), kRun));
}

std::string EtcdWork::record_key(std::uint64_t shard) {
  return keyspace().shard(work_tenant(), {kRun, shard::ShardId::from_raw(shard)});
}

}  // namespace cadastre::bench
