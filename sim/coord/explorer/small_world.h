// SmallWorld: two workers, a few shards, a few ticks, and every request they could send.
//
// An op id is a function of worker, epoch, call and key. To send a request again is therefore to
// retry it; a worker may present any lease it was ever granted, and retry under any of them what it
// did under an earlier one.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "coord/backend.h"
#include "coord/identity.h"
#include "coord/snapshot.h"
#include "sim/coord/explorer/action.h"
#include "sim/coord/explorer/bound.h"
#include "sim/coord/oracles/judge.h"
#include "sim/coord/oracles/violation.h"
#include "sim/coord/request.h"
#include "sim/coord/world.h"

namespace cadastre::sim {

class SmallWorld {
 public:
  // Registers the shards at time 1. Borrows the scratch.
  SmallWorld(const Bound& bound, coord::AcquireScratch& scratch);

  // Everything that may happen next.
  [[nodiscard]] std::vector<Action> actions() const;

  // Does it and judges it, state properties included. kSame: nothing is different afterwards, and
  // the judge has seen to that.
  enum class Effect : std::uint8_t {
    kSame,
    kPerhapsOther
  };
  Effect perform(const Action& action);
  // Does again what was judged before; catch_up() ends a series of these.
  void follow(const Action& action);
  void catch_up() { judge_.catch_up(); }
  // S11, in this state.
  void recount();

  // Of records, beliefs and clock: equal for equal states.
  [[nodiscard]] std::uint64_t digest() const;
  [[nodiscard]] const Violations& violations() const noexcept { return violations_; }
  [[nodiscard]] std::uint64_t clock() const noexcept { return clock_; }

 private:
  // A shard, and under which fences each worker was granted it (bit n: fence n).
  struct Known {
    coord::ShardId id;
    std::size_t root = 0;  // inside which it lies
    std::array<std::uint8_t, kExplorerWorkers> granted{};
  };

  [[nodiscard]] Request request_of(const Action& action) const;
  [[nodiscard]] const coord::ShardDump& record(const Known& shard) const;
  [[nodiscard]] bool can_rise(const Known& shard) const;
  [[nodiscard]] bool is_logged_op(const Known& shard, coord::OpId op) const;
  void add_worker_actions(std::uint8_t worker, std::vector<Action>& out) const;
  void add_shard_actions(Action action, std::vector<Action>& out) const;
  void add_lease_actions(Action action, std::vector<Action>& out) const;
  void add_repeats(Action action, std::vector<Action>& out) const;
  void learn(const Action& action, const Answer& answer);
  void check_state();
  void check_holders(const Known& shard);
  void report(const char* property, const Known& shard);

  Bound bound_;
  coord::AcquireScratch* scratch_;
  Subject subject_;
  Judge judge_;
  std::uint64_t clock_ = 1;
  std::vector<Known> shards_;  // in the order of appearance
  Violations violations_;
};

}  // namespace cadastre::sim
