// What holds in every state (11.5), and what makes two states one.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/xxh3.h"
#include "coord/backend.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/op_log.h"
#include "coord/states.h"
#include "sim/coord/explorer/bound.h"
#include "sim/coord/explorer/small_world.h"
#include "sim/coord/mirror.h"
#include "sim/coord/shard_name.h"
#include "sim/coord/world.h"

namespace cadastre::sim {
namespace {

// Bytes that are equal for equal values.
class Canonical {
 public:
  void number(std::uint64_t value) {
    for (unsigned shift = 0; shift < 64; shift += 8)
      bytes_.push_back(static_cast<std::byte>(value >> shift));
  }
  void text(const base::Bytes& value) {
    number(value.size());
    bytes_.insert(bytes_.end(), value.begin(), value.end());
  }
  void record(const coord::ShardDump& shard) {
    const auto& state = shard.state;
    number(state.shard.raw());
    number(state.parent ? state.parent->raw() : 0);
    number(static_cast<std::uint64_t>(state.status));
    number(state.park_reason ? static_cast<std::uint64_t>(*state.park_reason) + 1 : 0);
    number(state.lease ? state.lease->owner.raw() : 0);
    number(state.lease ? state.lease->deadline.raw() : 0);
    number(state.fence.raw());
    number(state.op_log.size());
    for (const coord::OpLogEntry& entry : state.op_log) {
      number(entry.op_id.raw());
      number(entry.payload_hash);
      number(entry.executed_at.raw());
      number(static_cast<std::uint64_t>(entry.kind));
    }
    text(shard.start);
    text(shard.end);
    text(shard.last_key);
    text(shard.token);
    for (const coord::ShardId spawned : shard.spawned)
      number(spawned.raw());
  }
  [[nodiscard]] std::uint64_t digest() const { return base::xxh3_64(bytes_); }

 private:
  base::Bytes bytes_;
};

}  // namespace

std::uint64_t SmallWorld::digest() const {
  std::vector<Known> by_id = shards_;
  std::ranges::sort(by_id, {}, &Known::id);
  Canonical canonical;
  canonical.number(clock_);
  for (const Known& shard : by_id) {
    canonical.record(record(shard));
    for (const std::uint8_t granted : shard.granted)
      canonical.number(granted);
  }
  for (const auto& [name, run] : judge_.mirror().runs())
    canonical.number(static_cast<std::uint64_t>(run.status));
  return canonical.digest();
}

void SmallWorld::report(const char* property, const Known& shard) {
  violations_.push_back({property, fmt::format("shard {:x} at {}", shard.id.raw(), clock_)});
}

// The lease, and who believes to have it.
void SmallWorld::check_holders(const Known& shard) {
  const coord::ShardDump& of = record(shard);
  const bool live = coord::is_live(of.state.lease, coord::LogicalTime::from_raw(clock_));
  std::size_t holders = 0;
  for (std::size_t worker = 0; worker < kExplorerWorkers; ++worker) {
    const std::uint64_t epoch = std::bit_width(shard.granted[worker]) - 1U;
    const bool granted = shard.granted[worker] != 0 && epoch == of.state.fence.raw();
    if (granted && live && of.state.fence > coord::kFenceInitial) ++holders;
    const bool owns = live && of.state.lease->owner.raw() == worker + 1;
    if (owns && !granted) report("ZombieRejection", shard);
  }
  if (holders > 1) report("MutualExclusion", shard);
}

void SmallWorld::check_state() {
  for (const Known& shard : shards_) {
    const coord::ShardDump& of = record(shard);
    check_holders(shard);
    if (of.state.status != coord::ShardStatus::kActive && of.state.lease) {
      report("TerminalUnleased", shard);
    }
    if (of.state.fence < coord::kFenceInitial) report("FenceEpochSanity", shard);
    if (!of.state.parent) continue;
    const auto* const parent = judge_.mirror().find(ShardName{0, kMainRun, *of.state.parent});
    const bool named =
        parent != nullptr && std::ranges::find(parent->spawned, shard.id) != parent->spawned.end();
    if (!named) report("SplitAtomicity", shard);
  }
}

}  // namespace cadastre::sim
