// Driver: chooses what happens next, by chance and by the weights of the stage.
//
// One operation becomes one or several steps: what goes wrong before it, then its requests. Whatever
// is drawn is drawn before anything happens, so a history of steps is the whole run.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/function_ref.h"
#include "base/random.h"
#include "coord/identity.h"
#include "sim/coord/faults.h"
#include "sim/coord/shard_name.h"
#include "sim/coord/step.h"
#include "sim/coord/worker.h"
#include "sim/coord/world.h"

namespace cadastre::sim {

enum class Operation : std::uint8_t {
  kAcquire,
  kRenew,
  kCheckpoint,
  kComplete,
  kPark,
  kUnpark,
  kSplitReplace,
  kSplitResidual,
  kReplay,
  kConflict,
  kZombie,
  kClaim,
  kSession,
  kAdvance,
  kPause,
  kTerminateRun,
  kResume,
  kRelease,
  kRenewMany,
  kMischief,
  kRetry,
};

struct Weight {
  Operation operation;
  std::uint32_t weight;
};

enum class Stage : std::uint8_t {
  kWarmUp,    // the first operations: no faults, no splits
  kSafety,    // everything
  kLiveness,  // workers that want to be done
};
[[nodiscard]] std::span<const Weight> weights_of(Stage stage) noexcept;

class Driver {
 public:
  Driver(base::Random& random, const World& world, FaultLevel level) noexcept;

  // Creates each tenant's main run, after the clock has started.
  [[nodiscard]] History set_up();
  // A takes a shard, sleeps past its lease, B takes it, A goes on: it must be refused.
  [[nodiscard]] History scripted_zombie();
  // One operation.
  [[nodiscard]] History next(Stage stage);
  // One that was chosen already; nothing if it cannot be done now.
  [[nodiscard]] History draw(Operation operation);

  // A request of this worker with a fresh op id.
  [[nodiscard]] Step request(std::uint32_t worker, Call call, const coord::ShardKey& shard);
  // The worker cuts what it holds in two to four.
  [[nodiscard]] std::optional<Step> split_replace(std::uint32_t worker, const Holding& holding);

 private:
  void draw_faults(History& out);
  void draw_delivery(Step& step);
  [[nodiscard]] std::optional<Step> draw_expiry();

  [[nodiscard]] History draw_leased(Operation operation);
  [[nodiscard]] std::optional<Step> draw_leased_step(Operation operation,
                                                     std::uint32_t worker,
                                                     const Holding& holding);
  [[nodiscard]] History draw_renew_many();
  [[nodiscard]] History draw_retry();
  [[nodiscard]] History draw_claim();
  [[nodiscard]] History draw_acquire();
  [[nodiscard]] History draw_unpark();
  [[nodiscard]] History draw_repeat(StepKind kind);
  [[nodiscard]] History draw_zombie();
  [[nodiscard]] History draw_session();
  void draw_session_end(std::uint32_t worker, const Holding& holding, History& out);
  [[nodiscard]] History draw_run_affair();
  [[nodiscard]] History draw_mischief();
  [[nodiscard]] History draw_pause();
  [[nodiscard]] History draw_resume();

  // Any worker that is awake and for which `suits` holds.
  [[nodiscard]] std::optional<std::uint32_t> draw_worker(
      base::FunctionRef<bool(const Worker&)> suits);
  [[nodiscard]] std::optional<std::uint32_t> draw_worker();
  [[nodiscard]] std::optional<ShardName> draw_shard(std::size_t tenant);
  [[nodiscard]] const Holding& draw_holding(const Worker& worker);
  [[nodiscard]] coord::OpId next_op(std::uint32_t worker);
  [[nodiscard]] coord::OpId next_admin_op();

  base::Random* random_;
  const World* world_;
  FaultRates rates_;
  std::vector<std::uint64_t> op_counts_;  // by worker
  std::uint64_t admin_ops_ = 0;
  std::uint64_t runs_made_ = 1;
};

}  // namespace cadastre::sim
