// The etcd backend on a model of etcd, with the storage faults of each level.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/random.h"
#include "node/model_coordination.h"
#include "sim/coord/faults.h"
#include "sim/coord/request.h"
#include "sim/coord/shard_name.h"
#include "sim/coord/storage.h"
#include "sim/coord/world.h"

namespace cadastre::sim {
namespace {

using Home = coord::etcd::ModelHome;
using coord::etcd::Fault;
using coord::etcd::Rpc;

constexpr std::uint64_t kMillion = 1'000'000;

class ModelStorage final : public Storage {
 public:
  ModelStorage(Home& home, const StorageRates& rates, std::uint64_t seed)
      : home_(&home), rates_(rates), seed_(seed), owned_(home.owned()) {}

  void begin(const Request& request) override {
    base::SeededRandom luck(seed_ ^ payload_of(request) ^ (request.op.raw() << 20U) ^
                            (request.now.raw() << 40U) ^ static_cast<std::uint64_t>(request.call));
    owned_ = home_->owned();
    if (luck.below(kMillion) < rates_.owner_loss_ppm && !owned_.empty()) {
      home_->expire_owner(owned_[luck.below(owned_.size())]);
    }
    const bool is_exhausted = luck.below(kMillion) < rates_.exhaustion_ppm;
    home_->store.set_faults(
        [this, luck, is_exhausted](Rpc rpc) mutable { return draw(rpc, luck, is_exhausted); });
  }
  void calm() override { home_->store.set_faults({}); }
  void advance(std::uint64_t ticks) override {
    owned_ = home_->owned();
    home_->clock.advance(std::chrono::seconds(ticks));
  }

  [[nodiscard]] std::vector<ShardName> lost_owners() override {
    const std::vector<Home::OwnedShard> now = home_->owned();
    std::vector<ShardName> lost;
    for (const Home::OwnedShard& shard : owned_) {
      if (std::ranges::find(now, shard) == now.end())
        lost.push_back(shard_name(shard.tenant, shard.key));
    }
    owned_ = now;
    return lost;
  }

 private:
  [[nodiscard]] Fault draw(Rpc rpc, base::Random& luck, bool is_exhausted) const {
    if (luck.below(kMillion) < rates_.uncertain_ppm) {
      static constexpr std::array kUncertain{Fault::kLostAnswer, Fault::kLostRequest,
                                             Fault::kUnavailable};
      return kUncertain[luck.below(kUncertain.size())];
    }
    if (rpc != Rpc::kCommit) return Fault::kNone;
    const bool missed = is_exhausted || luck.below(kMillion) < rates_.compare_miss_ppm;
    return missed ? Fault::kCompareMiss : Fault::kNone;
  }

  Home* home_;
  const StorageRates rates_;
  const std::uint64_t seed_;
  std::vector<Home::OwnedShard> owned_;
};

}  // namespace

Subject etcd_subject(const WorldOptions& options, const StorageRates& rates, std::uint64_t seed) {
  const bool loses_owners = rates.owner_ttl_ticks != 0;
  auto home = node::make_model_etcd_coordination(
      {.limits = {.per_tenant_max = options.shards_per_tenant_max,
                  .total_max = options.shards_per_tenant_max * options.tenants},
       .claim_cooldown_interval = options.cooldown_ticks,
       .owner_ttl =
           std::chrono::seconds(loses_owners ? rates.owner_ttl_ticks : std::uint64_t{1} << 30U),
       .shown = coord::etcd::ShownLeases::kOwned,
       .seed = seed});
  Subject subject;
  subject.records = &home->introspection;
  subject.storage = std::make_unique<ModelStorage>(*home, rates, seed);
  subject.backend = std::move(home);
  return subject;
}

Subject subject_of(const WorldOptions& options, FaultLevel level, std::uint64_t seed) {
  switch (options.backend) {
    case SimBackend::kMemory: break;
    case SimBackend::kEtcd: return etcd_subject(options, storage_rates_of(level), seed);
  }
  return memory_subject(options);
}

}  // namespace cadastre::sim
