// A process with embedded coordination, to be killed (kill_test.cc). coord_victim_protocol.h says what it does.

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/endian.h"
#include "base/logger.h"
#include "base/threads_testing.h"
#include "coord/backend.h"
#include "coord/identity.h"
#include "coord/memory/memory_backend.h"
#include "coord/replicated/snapshot_codec.h"
#include "coord/snapshot.h"
#include "coord/states.h"
#include "node/embedded_coordination.h"
#include "tests/coord/coord_victim_protocol.h"

namespace cadastre::coord {
namespace {

constexpr std::uint64_t kTicksOfALife = 1'000'000'000;
constexpr std::uint64_t kFlushEvery = 100;  // Checkpoints of the first worker.
constexpr RunId kRun = RunId::from_raw(1);

// To a pipe, at once: what was written stays there when the process is killed.
void tell(std::uint64_t word) {
  std::array<std::byte, sizeof word> bytes;
  base::store_le(bytes.data(), word);
  const ssize_t told = write(STDOUT_FILENO, bytes.data(), bytes.size());
  CAD_CHECK(told == static_cast<ssize_t>(bytes.size()), "the parent listens");
}

// Keys of a worker's shard: its own byte, then a number.
base::Bytes key_of(std::uint64_t worker, std::uint64_t number) {
  base::Bytes key(1 + sizeof number);
  key[0] = static_cast<std::byte>(worker + 1);
  base::store_be(key.data() + 1, number);
  return key;
}
base::Bytes bound_of(std::uint64_t worker) {
  return {static_cast<std::byte>(worker + 1)};
}
ShardKey shard_of(std::uint64_t worker) {
  return {kRun, ShardId::from_raw(worker)};
}

class Victim {
 public:
  explicit Victim(const std::string& directory) {
    auto opened = node::EmbeddedCoordination::open({.directory = directory}, clock_, logger_);
    CAD_CHECK(opened.has_value(), opened.error().detail.c_str());
    coordination_ = *std::move(opened);
  }

  [[noreturn]] void work(std::uint64_t life) {
    create(LogicalTime::from_raw(life * kTicksOfALife));
    base::run_in_threads(static_cast<int>(kVictimWorkers),
                         [&](int worker) { work_on(static_cast<std::uint64_t>(worker), life); });
    std::abort();  // Workers go on for ever.
  }

  void verify() {
    const auto facade = coordination_->blocking();
    for (std::uint64_t worker = 0; worker < kVictimWorkers; ++worker) {
      const auto shard = facade->get_shard(tenant_, shard_of(worker));
      const bool there = shard.has_value();
      tell(there && !shard->last_key.empty()
               ? base::load_be<std::uint64_t>(shard->last_key.data() + 1)
               : 0);
      tell(there ? newest_checkpoint(*shard) : 0);
      tell(there ? shard->spawned.size() : 0);
      tell(there ? shard->state.fence.raw() : 0);
    }
    coordination_->machine().read(
        [](const memory::MemoryBackend& records) { check_records(records); });
  }

 private:
  void create(LogicalTime now) {
    const auto facade = coordination_->blocking();
    (void)facade->create_run(now, tenant_, kRun, {.lease_duration = kTicksOfALife / 2});
    std::vector<base::Bytes> bounds;
    for (std::uint64_t worker = 0; worker <= kVictimWorkers; ++worker)
      bounds.push_back(bound_of(worker));
    std::vector<InitialShardInput> roots;
    for (std::uint64_t worker = 0; worker < kVictimWorkers; ++worker) {
      roots.push_back({ShardId::from_raw(worker),
                       shard::ShardSpecRef::unchecked(bounds[worker], bounds[worker + 1])});
    }
    const auto registered = facade->register_shards(now, tenant_, kRun, roots, OpId::from_raw(1));
    CAD_CHECK(registered.has_value(), "the same manifest, in every life");
  }

  void work_on(std::uint64_t worker, std::uint64_t life) {
    const auto facade = coordination_->blocking();
    const auto scratch = std::make_unique<AcquireScratch>();
    const std::uint64_t start = life * kTicksOfALife;
    const auto acquired =
        facade->acquire_and_restore_into(LogicalTime::from_raw(start), tenant_, shard_of(worker),
                                         WorkerId::from_raw(worker), *scratch);
    CAD_CHECK(acquired.has_value(), "the lease of the life before is over");
    const Lease lease = acquired->lease;
    for (std::uint64_t count = 1;; ++count) {
      const VictimAnswer answer{worker, life, count};
      const base::Bytes key = key_of(worker, answer.number());
      const auto moved =
          facade->checkpoint(LogicalTime::from_raw(start + count), tenant_, lease,
                             CursorUpdate::make(key), OpId::from_raw(answer.number()));
      CAD_CHECK(moved.has_value() && moved->is_executed(), "its own shard, its own number");
      tell(answer.word());
      if (count == kSplitAfter) split(*facade, lease, {worker, life, kSplitCount});
      if (worker == 0 && count % kFlushEvery == 0) coordination_->machine().request_flush();
    }
  }

  // Gives everything from a point on away; the points fall from life to life.
  void split(CoordinationFacade& facade, const Lease& lease, const VictimAnswer& answer) {
    const auto shard = facade.get_shard(tenant_, lease.shard_key());
    CAD_CHECK(shard.has_value(), "its own shard");
    const base::Bytes point = key_of(answer.worker, ~answer.number());
    const auto plan =
        SplitResidualPlan::try_make(shard::ShardSpecRef::unchecked(shard->start, point),
                                    shard::ShardSpecRef::unchecked(point, shard->end));
    const auto now = LogicalTime::from_raw(answer.life * kTicksOfALife + kSplitAfter);
    const auto done =
        facade.split_residual(now, tenant_, lease, *plan, OpId::from_raw(answer.number()));
    CAD_CHECK(done.has_value() && done->is_executed(), "its own shard, its own number");
    tell(answer.word());
  }

  static std::uint64_t newest_checkpoint(const ShardDump& shard) {
    std::uint64_t newest = 0;
    for (const OpLogEntry& entry : shard.state.op_log) {
      if (entry.kind == OpKind::kCheckpoint) newest = entry.op_id.raw();
    }
    return newest;
  }

  // Every record is whole, roots, parents and spawned shards name each other (decode_snapshot), and the ranges
  // follow one another without gap or overlap: a half operation would break one of it.
  static void check_records(const memory::MemoryBackend& records) {
    records.verify();
    base::Bytes bytes = replicated::encode_snapshot({}, records, {});
    replicated::seal(bytes);
    const auto content = replicated::decode_snapshot(bytes);
    CAD_CHECK(content.has_value(), content.error().detail.c_str());
    base::Bytes reached = bound_of(0);
    records.visit_shards([&](const ShardRecordView& shard) {
      CAD_CHECK(base::equal(shard.spec.start(), reached), "no gap, no overlap");
      reached = base::to_owned(shard.spec.end());
    });
    CAD_CHECK(content->shards.empty() || reached == bound_of(kVictimWorkers), "all is covered");
  }

  const TenantId tenant_;
  const base::SystemClock clock_;
  const std::unique_ptr<base::LogSink> sink_ = base::stderr_log_sink();
  const base::Logger logger_{*sink_, clock_, base::LogForm::kText};
  std::unique_ptr<node::EmbeddedCoordination> coordination_;
};

}  // namespace
}  // namespace cadastre::coord

int main(int count, char** words) {
  CAD_CHECK(count == 4, "coord_victim work|verify DIRECTORY LIFE");
  cadastre::coord::Victim victim(words[2]);
  if (std::string_view(words[1]) == "work") victim.work(std::stoull(words[3]));
  victim.verify();
  return 0;
}
