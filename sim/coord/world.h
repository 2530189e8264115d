// World: a backend, its workers, a clock and a network that all stand still until a step happens.
//
// carry_out() does one step and lets the judge look at every answer. It draws nothing: the same steps
// give the same world.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "coord/backend.h"
#include "coord/identity.h"
#include "coord/run_record.h"
#include "coord/snapshot.h"
#include "sim/coord/events.h"
#include "sim/coord/faults.h"
#include "sim/coord/oracles/judge.h"
#include "sim/coord/request.h"
#include "sim/coord/step.h"
#include "sim/coord/storage.h"
#include "sim/coord/worker.h"

namespace cadastre::sim {

inline constexpr std::uint64_t kLeaseTicks = 100;
inline constexpr std::size_t kInFlightMax = 32;  // beyond it the oldest request is lost
inline constexpr coord::RunId kMainRun = coord::RunId::from_raw(1);
inline constexpr coord::OpId kSetupOp = coord::OpId::from_raw(~std::uint64_t{0});

enum class SimBackend : std::uint8_t {
  kMemory,
  kEtcd,  // on a model of etcd
};

struct WorldOptions {
  SimBackend backend = SimBackend::kMemory;
  std::size_t tenants = 1;
  std::size_t workers = 4;  // of each tenant
  std::size_t shards = 15;  // of each tenant's main run
  std::uint64_t cooldown_ticks = 0;
  std::uint64_t shards_per_tenant_max = 200;
  std::uint64_t slab_bytes = std::uint64_t{256} << 10U;
  std::uint64_t recount_every = 8;  // requests between two full recounts (S11)
};

// What is under test, by its interfaces.
struct Subject {
  std::unique_ptr<coord::CoordinationFacade> backend;
  const coord::Introspection* records = nullptr;
  std::unique_ptr<Storage> storage =
      nullptr;  // absent: the process itself; goes before the backend
};
[[nodiscard]] Subject memory_subject(const WorldOptions& options);
[[nodiscard]] Subject etcd_subject(const WorldOptions& options,
                                   const StorageRates& rates,
                                   std::uint64_t seed);
// As the options have it.
[[nodiscard]] Subject subject_of(const WorldOptions& options, FaultLevel level, std::uint64_t seed);

class World {
 public:
  World(const WorldOptions& options, Subject subject);

  void carry_out(const Step& step);
  // S11 once more, at the end.
  void finish();

  // How many shards of a tenant's main run the backend says are free.
  [[nodiscard]] std::uint64_t available(std::size_t tenant, coord::LogicalTime now) const;

  [[nodiscard]] const WorldOptions& options() const noexcept { return options_; }
  [[nodiscard]] std::uint64_t clock() const noexcept { return clock_; }
  [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }
  [[nodiscard]] const std::vector<Worker>& workers() const noexcept { return workers_; }
  [[nodiscard]] std::size_t in_flight() const noexcept { return in_flight_.size(); }
  [[nodiscard]] const Judge& judge() const noexcept { return judge_; }
  [[nodiscard]] const Mirror& mirror() const noexcept { return judge_.mirror(); }
  [[nodiscard]] const Events& events() const noexcept { return events_; }
  [[nodiscard]] bool is_paused(const Worker& worker) const noexcept {
    return steps_ < worker.paused_until;
  }

 private:
  [[nodiscard]] coord::LogicalTime now_of(const Worker& worker) const noexcept;
  void dispatch(const Step& step, const Request& request);
  Answer send(const Request& request);
  // Over a storage that may fail. A transient answer is resolved as a client does, by a retry, and is then told
  // as what happened; an acquisition cannot be retried and stays open.
  [[nodiscard]] Answer call_through_storage(const Request& request);
  void note_lost_owners();
  void deliver(std::uint64_t which);
  void retry(Worker& worker);

  const WorldOptions options_;
  Subject subject_;
  std::unique_ptr<coord::AcquireScratch> scratch_;
  Judge judge_;
  std::uint64_t clock_ = 0;
  std::uint64_t steps_ = 0;
  std::vector<Worker> workers_;
  std::deque<Request> in_flight_;
  Events events_;
};

}  // namespace cadastre::sim
