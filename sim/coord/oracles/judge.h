// Judge: every oracle, after every request.
//
// The answers go to S1, S9, S10 and the claim check; then the records are looked at, and whatever
// changed must have been allowed to: only the shard of a request that took effect changes, only
// shards that an answer named appear, and a refusal or a replay changes nothing at all (S0).

#pragma once

#include <cstdint>

#include "coord/backend.h"
#include "coord/identity.h"
#include "sim/coord/mirror.h"
#include "sim/coord/oracles/cooldown_oracle.h"
#include "sim/coord/oracles/coverage_oracle.h"
#include "sim/coord/oracles/grant_oracle.h"
#include "sim/coord/oracles/retry_oracle.h"
#include "sim/coord/oracles/violation.h"
#include "sim/coord/request.h"
#include "sim/coord/shard_name.h"

namespace cadastre::sim {

class Judge {
 public:
  // Both are the same backend.
  Judge(coord::CoordinationFacade& backend,
        const coord::Introspection& records,
        std::uint64_t cooldown) noexcept
      : backend_(&backend), records_(&records), mirror_(records), cooldowns_(cooldown) {}

  // One request and its answer.
  void judge(const Request& request, const Answer& answer);

  // An acquisition without answer: it may have taken a shard, for nobody. Takes the records as they are, if no
  // range, cursor or end of one has changed.
  void accept(const Request& request);
  // A worker's hold on its shard ended by itself.
  void lose_owner(const ShardName& name) { grants_.lose(name); }

  // As judge(), for what was judged in an earlier run of the same history: remembers the answer and
  // looks at nothing. Before the next judge(), catch_up() takes the records as they are.
  void follow(const Request& request, const Answer& answer);
  void catch_up();

  // S11: counters, indexes and slab against a full recount. Slow: every few steps.
  void recount_all(coord::LogicalTime now);

  [[nodiscard]] const Mirror& mirror() const noexcept { return mirror_; }
  [[nodiscard]] const GrantOracle& grants() const noexcept { return grants_; }
  [[nodiscard]] const Violations& violations() const noexcept { return violations_; }

 private:
  void judge_shards(const Request& request, const Answer& answer);
  void judge_difference(const Request& request,
                        const Answer& answer,
                        const ShardDifference& difference);
  void judge_lineage(const ShardName& name);
  void judge_runs(const Request& request, const Answer& answer);
  void violate(const char* rule, const Request& request, const char* what);
  void forget(const RunName& run);

  coord::CoordinationFacade* backend_;
  const coord::Introspection* records_;
  Mirror mirror_;
  GrantOracle grants_;
  RetryOracle retries_;
  CooldownOracle cooldowns_;
  CoverageOracle coverage_;
  Violations violations_;
};

}  // namespace cadastre::sim
