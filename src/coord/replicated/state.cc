#include "coord/replicated/state.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "base/byte_slab.h"
#include "base/bytes.h"
#include "base/check.h"
#include "base/result.h"
#include "coord/backend.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/limits.h"
#include "coord/memory/memory_backend.h"
#include "coord/outcome.h"
#include "coord/record_codec.h"
#include "coord/replicated/answer.h"
#include "coord/replicated/command.h"
#include "coord/replicated/settings.h"
#include "coord/replicated/snapshot_codec.h"
#include "coord/run_record.h"
#include "log/limits.h"
#include "shard/manifest.h"
#include "shard/split_plan.h"

namespace cadastre::coord::replicated {
namespace {

constexpr std::uint64_t kSlabBytesMin = std::uint64_t{1} << 20;
constexpr std::uint64_t kSlabBytesMax = std::numeric_limits<std::uint32_t>::max();

// What a command can make the slab allocate: each string's block is at most twice its bytes or 16, a
// string that is not empty takes at least 5 bytes of the command; and a list of spawned shards.
constexpr std::uint64_t kBlocksPerByte = 6;
constexpr std::uint64_t kSpawnedBlockMax = 2 * kMaxSpawnedPerShard * sizeof(std::uint64_t);
constexpr std::uint64_t need_of(std::uint64_t command_bytes) noexcept {
  return kBlocksPerByte * command_bytes + kSpawnedBlockMax;
}
static_assert(2 + base::kSlabMinBlock / 5 < kBlocksPerByte);
static_assert(kRecordBytesCeiling + need_of(log::kCommandBytesMax) + (kSlabBytesMax >> 3) <
                  kSlabBytesMax,
              "whatever the settings allow fits a slab, with room to spare");

// Memory that nothing was written to costs nothing, and moves are rare.
std::uint64_t live_and_spare(std::uint64_t live, std::uint64_t need) noexcept {
  return std::clamp(4 * live + need, kSlabBytesMin, kSlabBytesMax);
}

}  // namespace

struct State::Executor {
  State& state;
  LogicalTime now;
  const TenantId& tenant;

  [[nodiscard]] memory::MemoryBackend& records() const { return *state.records_; }

  base::Bytes operator()(const Configure& call) const {
    const bool more_shards = call.settings.shards_total_max > state.settings_.shards_total_max;
    state.settings_ = call.settings;
    state.configured_ = true;
    records().change_settings(in_memory(call.settings));
    if (more_shards)
      state.move_to_slab(records().slab_stats().capacity);  // Has room for their strings.
    return encode_answer(CountReply(0));
  }
  base::Bytes operator()(const CreateRun& call) const {
    return encode_answer(records().create_run(now, tenant, call.run, call.config));
  }
  base::Bytes operator()(const RegisterShards& call) const {
    if (call.count > kMaxInitialShards) return refuse_manifest(call);
    return encode_answer(records().register_shards(now, tenant, call.run, call.shards, call.op));
  }
  // A manifest whose rows did not travel: as many rows as are too many get the same answer, but for
  // their number.
  base::Bytes refuse_manifest(const RegisterShards& call) const {
    const std::vector<InitialShardInput> rows(kMaxInitialShards + 1);
    RegisterReply reply = records().register_shards(now, tenant, call.run, rows, call.op);
    CAD_CHECK(!reply.has_value(), "a manifest that is too long is never registered");
    if (const auto* const invalid = reply.error().get_if<ManifestInvalid>()) {
      ManifestInvalid counted = *invalid;
      counted.reason.size = call.count;
      reply = base::fail(RegisterShardsError(counted));
    }
    return encode_answer(reply);
  }
  base::Bytes operator()(const Acquire& call) const {
    return encode_answer(records().acquire_and_restore_into(now, tenant, call.key, call.worker,
                                                            *state.acquire_scratch_));
  }
  base::Bytes operator()(const Claim& call) const {
    return encode_answer(records().claim_next_available(now, tenant, call.run, call.worker,
                                                        *state.acquire_scratch_));
  }
  base::Bytes operator()(const Renew& call) const {
    return encode_answer(records().renew(now, tenant, call.lease));
  }
  base::Bytes operator()(const RenewMany& call) const {
    return encode_answer(records().renew_many(now, tenant, call.leases));
  }
  base::Bytes operator()(const Checkpoint& call) const {
    return encode_answer(records().checkpoint(now, tenant, call.lease, call.cursor, call.op));
  }
  base::Bytes operator()(const Complete& call) const {
    return encode_answer(records().complete(now, tenant, call.lease, call.cursor, call.op));
  }
  base::Bytes operator()(const Park& call) const {
    return encode_answer(records().park_shard(now, tenant, call.lease, call.reason, call.op));
  }
  base::Bytes operator()(const Release& call) const {
    return encode_answer(records().release_shard(now, tenant, call.lease, call.cursor, call.op));
  }
  base::Bytes operator()(const SplitReplace& call) const {
    const auto plan = shard::SplitReplacePlan::try_make(call.children);
    CAD_CHECK(plan.has_value(), "a decoded split has a legal number of children");
    return encode_answer(records().split_replace(now, tenant, call.lease, *plan, call.op));
  }
  base::Bytes operator()(const SplitResidual& call) const {
    const auto plan = shard::SplitResidualPlan::try_make(call.new_parent, call.residual);
    CAD_CHECK(plan.has_value(), "a decoded residual is not its parent");
    return encode_answer(records().split_residual(now, tenant, call.lease, *plan, call.op));
  }
  base::Bytes operator()(const CompleteRun& call) const {
    return encode_answer(records().complete_run(now, tenant, call.run, call.op));
  }
  base::Bytes operator()(const FailRun& call) const {
    return encode_answer(records().fail_run(now, tenant, call.run, call.op));
  }
  base::Bytes operator()(const CancelRun& call) const {
    return encode_answer(records().cancel_run(now, tenant, call.run, call.op));
  }
  base::Bytes operator()(const Unpark& call) const {
    return encode_answer(records().unpark_shard(now, tenant, call.key, call.op));
  }
  base::Bytes operator()(const GcTerminalRuns& call) const {
    return encode_answer(records().gc_terminal_runs(tenant, call.completed_before));
  }
};

State::State(std::uint64_t hash_seed)
    : hash_seed_(hash_seed),
      records_(new_records(kSlabBytesMin)),
      acquire_scratch_(std::make_unique<AcquireScratch>()) {}

State::State(const SnapshotContent& content, std::uint64_t hash_seed)
    : hash_seed_(hash_seed),
      configured_(content.head.configured),
      settings_(content.head.settings),
      acquire_scratch_(std::make_unique<AcquireScratch>()) {
  std::uint64_t bytes = 0;
  const auto block = [](std::size_t size) -> std::uint64_t {
    return base::RoundPow2::round_up(static_cast<std::uint32_t>(size)).value_or(0);
  };
  for (const ShardDump& shard : content.shards) {
    bytes += block(shard.start.size()) + block(shard.end.size()) + block(shard.metadata.size()) +
             block(shard.last_key.size()) + block(shard.token.size()) +
             block(shard.spawned.size() * sizeof(std::uint64_t));
  }
  records_ = new_records(live_and_spare(bytes, 0));
  for (const RunRecord& run : content.runs)
    records_->load_run(run);
  for (const ShardDump& shard : content.shards)
    CAD_CHECK(records_->load_shard(shard).has_value(), "a slab has room for all that is loaded");
  for (const memory::CooldownDump& cooldown : content.cooldowns)
    records_->load_cooldown(cooldown);
  for (const TenantTime& time : content.times)
    times_.emplace(time.tenant, time.largest_now);
}

std::unique_ptr<memory::MemoryBackend> State::new_records(std::uint64_t capacity) const {
  auto records = std::make_unique<memory::MemoryBackend>(
      memory::MemoryOptions{.limits = in_memory(settings_).limits,
                            .slab_capacity = capacity,
                            .hash_seed = hash_seed_,
                            .corrupt_records = memory::CorruptRecords::kReport});
  records->change_settings(in_memory(settings_));
  return records;
}

void State::make_room(std::size_t command_bytes) {
  const base::SlabStats slab = records_->slab_stats();
  const std::uint64_t need = need_of(command_bytes);
  if (slab.capacity - slab.bump_offset >= need) return;
  move_to_slab(live_and_spare(slab.live_bytes, need));
}

void State::move_to_slab(std::uint64_t capacity) {
  auto fresh = new_records(capacity);
  for (const RunRecord& run : records_->dump_runs())
    fresh->load_run(run);
  records_->visit_shards([&](const ShardRecordView& shard) {
    CAD_CHECK(fresh->load_shard(dump(shard)).has_value(), "a larger slab has room for all");
  });
  for (const memory::CooldownDump& cooldown : records_->dump_cooldowns())
    fresh->load_cooldown(cooldown);
  records_ = std::move(fresh);
}

Result<base::Bytes, DecodeError> State::execute(ByteView command) {
  const Command decoded = CAD_TRY(decode_command(command, command_scratch_));
  make_room(command.size());
  base::Bytes answer = std::visit(Executor{*this, decoded.now, decoded.tenant}, decoded.arguments);
  note_time(decoded);
  return answer;
}

void State::note_time(const Command& command) {
  if (command.now == LogicalTime()) return;
  const auto found = times_.find(command.tenant);
  if (found != times_.end()) {
    found->second = std::max(found->second, command.now);
  } else if (records_->has_tenant(command.tenant)) {
    times_.emplace(command.tenant, command.now);
  }
}

LogicalTime State::largest_now(const TenantId& tenant) const noexcept {
  const auto found = times_.find(tenant);
  return found == times_.end() ? LogicalTime() : found->second;
}

std::vector<TenantTime> State::times() const {
  std::vector<TenantTime> times;
  times.reserve(times_.size());
  for (const auto& [tenant, largest] : times_)
    times.push_back({tenant, largest});
  std::ranges::sort(times, {}, &TenantTime::tenant);
  return times;
}

}  // namespace cadastre::coord::replicated
