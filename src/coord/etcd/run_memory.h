// RunMemory: what this process remembers of runs: facts of their records, whom a claim should try, how many are free.
//
// Facts hold for one revision of the run's record, so they are as good as the record itself. The rest is advice:
// nothing is granted or refused because of it. A number of runs is remembered; the one that was used longest ago
// makes room.
//
// Safe from any thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/mutex.h"
#include "coord/etcd/prospects.h"
#include "coord/etcd/records.h"
#include "coord/identity.h"

namespace cadastre::coord::etcd {

struct RunName {
  TenantId tenant;
  RunId run;

  friend auto operator<=>(const RunName&, const RunName&) = default;
};

class RunMemory {
 public:
  explicit RunMemory(std::size_t max) noexcept : max_(max) {}

  [[nodiscard]] std::optional<RunFacts> facts(const RunName& run) CAD_EXCLUDES(mutex_);
  void remember(const RunName& run, const RunFacts& facts) CAD_EXCLUDES(mutex_);

  // As in Prospects. A reading that was begun before the run was forgotten shows nothing.
  using Reading = base::Strong<struct ReadingTag>;
  [[nodiscard]] bool wants_reading(const RunName& run, base::Elapsed at) CAD_EXCLUDES(mutex_);
  [[nodiscard]] Reading begin_reading(const RunName& run) CAD_EXCLUDES(mutex_);
  void show(const RunName& run, Reading reading, const ProspectReading& found, base::Elapsed at)
      CAD_EXCLUDES(mutex_);
  void fail_reading(const RunName& run, Reading reading) CAD_EXCLUDES(mutex_);
  struct Claimant {
    WorkerId worker;
    LogicalTime now;
  };
  [[nodiscard]] std::optional<ShardId> take(const RunName& run,
                                            const Claimant& claimant,
                                            base::Elapsed at) CAD_EXCLUDES(mutex_);

  // What this process did to a shard, or found out.
  void is_free(const TenantId& tenant, const ShardKey& key) CAD_EXCLUDES(mutex_);
  void is_held(const TenantId& tenant, const ShardKey& key, LogicalTime until) CAD_EXCLUDES(mutex_);
  void is_over(const TenantId& tenant, const ShardKey& key) CAD_EXCLUDES(mutex_);
  // Nobody knows what happened, or the run is over.
  void forget(const RunName& run) CAD_EXCLUDES(mutex_);

  // How many shards are free, as far as that was found out not long ago.
  [[nodiscard]] std::optional<std::size_t> free_count(const RunName& run, base::Elapsed at)
      CAD_EXCLUDES(mutex_);
  void remember_count(const RunName& run, std::size_t free, base::Elapsed at) CAD_EXCLUDES(mutex_);

 private:
  struct Counted {
    std::size_t free = 0;
    base::Elapsed at{};
  };
  struct Entry {
    Reading reading{};  // from which on readings are of this entry
    std::uint64_t used = 0;
    std::optional<RunFacts> facts = std::nullopt;
    Prospects prospects = {};
    std::optional<Counted> counted = std::nullopt;
  };
  using Entries = std::map<RunName, Entry>;

  [[nodiscard]] Entry* find(const RunName& run) CAD_REQUIRES(mutex_);
  [[nodiscard]] Entry& find_or_make(const RunName& run) CAD_REQUIRES(mutex_);
  // Of the reading; nothing if that is of an entry that is gone.
  [[nodiscard]] Entry* read_by(const RunName& run, Reading reading) CAD_REQUIRES(mutex_);

  // Constant after construction.
  const std::size_t max_;

  base::Mutex mutex_;
  Entries entries_ CAD_GUARDED_BY(mutex_);
  std::uint64_t uses_ CAD_GUARDED_BY(mutex_) = 0;
  std::uint64_t readings_ CAD_GUARDED_BY(mutex_) = 0;
};

}  // namespace cadastre::coord::etcd
