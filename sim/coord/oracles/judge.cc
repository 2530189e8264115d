#include "sim/coord/oracles/judge.h"

#include <algorithm>
#include <cstddef>
#include <tuple>

#include <fmt/format.h>

#include "coord/backend.h"
#include "coord/identity.h"
#include "coord/run_record.h"
#include "coord/states.h"
#include "sim/coord/mirror.h"
#include "sim/coord/oracles/record_rules.h"
#include "sim/coord/oracles/recount.h"
#include "sim/coord/oracles/violation.h"
#include "sim/coord/request.h"
#include "sim/coord/shard_name.h"

namespace cadastre::sim {
namespace {

// Whether the answer allows this record to be different.
bool may_change(const Request& request, const Answer& answer, const ShardName& name) {
  if (name.tenant != number_of(request.tenant) || !answer.effective()) return false;
  if (answer.lease) return answer.lease->shard_key() == name.key();
  if (request.call == Call::kUnpark) return request.key == name.key();
  for (std::size_t i = 0; i < request.leases.size(); ++i) {
    const bool renewed = answer.renewals.empty() || answer.renewals[i].code.empty();
    if (renewed && request.leases[i].shard_key() == name.key()) return true;
  }
  return false;
}

// Whether the answer says that this record is new.
bool may_appear(const Request& request, const Answer& answer, const ShardName& name) {
  if (name.tenant != number_of(request.tenant) || !answer.effective()) return false;
  const auto run = request.leases.empty() ? request.key.run : request.leases.front().run();
  return name.run == run && std::ranges::find(answer.shards, name.shard) != answer.shards.end();
}

// Whether the request collects this run.
bool may_vanish(const Request& request, const coord::RunRecord& run) {
  return request.call == Call::kCollectGarbage && run.completed_at &&
         *run.completed_at < request.before;
}

bool is_run_affair(Call call) {
  return is_run_call(call) || call == Call::kCreateRun || call == Call::kCollectGarbage;
}

}  // namespace

void Judge::judge(const Request& request, const Answer& answer) {
  grants_.observe(request, answer, violations_);
  retries_.observe(request, answer, violations_);
  cooldowns_.observe(request, answer, violations_);
  coverage_.observe(request, answer);
  check_claim(mirror_, request, answer, violations_);
  judge_shards(request, answer);
  if (is_run_affair(request.call)) judge_runs(request, answer);
  check_hints(mirror_, request, answer, violations_);
}

void Judge::accept(const Request& request) {
  for (const ShardDifference& difference : mirror_.look_at_shards()) {
    const coord::ShardDump& after = *mirror_.find(difference.name);
    if (!difference.before) {
      violate("S0", request, "an acquisition made a shard");
      continue;
    }
    coord::ShardDump expected = *difference.before;
    expected.state.lease = after.state.lease;
    expected.state.fence = coord::next(expected.state.fence);
    if (expected != after || difference.name.tenant != number_of(request.tenant) ||
        difference.name.run != request.key.run) {
      violate("S0", request, "an acquisition without answer did more than to raise a fence");
    }
  }
  if (!mirror_.vanished().empty()) violate("S0", request, "a record vanished");
}

void Judge::follow(const Request& request, const Answer& answer) {
  Violations known;
  grants_.observe(request, answer, known);
  retries_.observe(request, answer, known);
  cooldowns_.observe(request, answer, known);
  coverage_.observe(request, answer);
}

void Judge::catch_up() {
  std::ignore = mirror_.look_at_shards();
  std::ignore = mirror_.look_at_runs();
}

void Judge::judge_shards(const Request& request, const Answer& answer) {
  const auto differences = mirror_.look_at_shards();
  for (const ShardDifference& difference : differences)
    judge_difference(request, answer, difference);
  for (const ShardDifference& difference : differences)
    judge_lineage(difference.name);
  const std::size_t named = answer.effective() ? answer.shards.size() : 0;
  const auto is_new = [](const ShardDifference& difference) {
    return !difference.before;
  };
  if (named != static_cast<std::size_t>(std::ranges::count_if(differences, is_new))) {
    violations_.push_back({"S7", to_text(request) + ": not every shard of the answer appeared"});
  }
  if (!mirror_.vanished().empty() && request.call != Call::kCollectGarbage) {
    violations_.push_back({"S0", to_text(request) + ": a record vanished"});
  }
  const bool moved = std::ranges::any_of(differences, [&](const ShardDifference& difference) {
    const auto& after = *mirror_.find(difference.name);
    return !difference.before || difference.before->end != after.end ||
           difference.before->start != after.start ||
           difference.before->state.status != after.state.status;
  });
  if (moved) coverage_.check(*records_, violations_);
}

void Judge::judge_difference(const Request& request,
                             const Answer& answer,
                             const ShardDifference& difference) {
  const coord::ShardDump& after = *mirror_.find(difference.name);
  if (difference.broken) {
    violations_.push_back({"S4", fmt::format("invariant {}: {}", difference.broken->number,
                                             difference.broken->text)});
  }
  const bool allowed = difference.before ? may_change(request, answer, difference.name)
                                         : may_appear(request, answer, difference.name);
  if (!allowed) {
    violations_.push_back(
        {"S0", fmt::format("{} was answered '{}' and changed shard {:x}", to_text(request),
                           to_text(answer), difference.name.shard.raw())});
  }
  if (difference.before) {
    check_shard_step(*difference.before, after, violations_);
  } else {
    check_new_shard(after, violations_);
  }
}

void Judge::judge_lineage(const ShardName& name) {
  const coord::ShardDump& record = *mirror_.find(name);
  const bool split = record.state.status == coord::ShardStatus::kSplit;
  if (split && record.spawned.empty()) violations_.push_back({"S7", "a split without children"});
  for (const coord::ShardId spawned : record.spawned) {
    const auto* const child = mirror_.find(ShardName{name.tenant, name.run, spawned});
    if (child == nullptr || child->state.parent != name.shard) {
      violations_.push_back(
          {"S7", fmt::format("spawned shard {:x} does not exist as a child of {:x}", spawned.raw(),
                             name.shard.raw())});
    }
  }
}

void Judge::violate(const char* rule, const Request& request, const char* what) {
  violations_.push_back({rule, fmt::format("{}: {}", to_text(request), what)});
}

void Judge::judge_runs(const Request& request, const Answer& answer) {
  std::size_t forgotten = 0;
  for (const RunDifference& difference : mirror_.look_at_runs()) {
    const bool own = difference.name.tenant == number_of(request.tenant) && answer.effective();
    if (!difference.after) {
      if (!own || !may_vanish(request, *difference.before))
        violate("S8", request, "a run vanished");
      ++forgotten;
      forget(difference.name);
      continue;
    }
    if (!own || difference.name.run != request.key.run) {
      violate("S0", request, "another run changed");
    }
    if (difference.before) check_run_step(*difference.before, *difference.after, violations_);
  }
  if (forgotten != answer.forgotten) {
    violate("S8", request, "not as many runs forgotten as answered");
  }
  for (const ShardName& name : mirror_.vanished()) {
    if (mirror_.find(name.run_name()) != nullptr) {
      violate("S0", request, "a record of a living run vanished");
    }
  }
}

void Judge::recount_all(coord::LogicalTime now) {
  records_->verify();
  for (const RunDifference& difference : mirror_.look_at_runs()) {
    violations_.push_back(
        {"S0", fmt::format("run {} changed without a request", difference.name.run.raw())});
  }
  check_counts(mirror_, *backend_, now, violations_);
  coverage_.check(*records_, violations_);
}

void Judge::forget(const RunName& run) {
  grants_.forget(run);
  retries_.forget(run);
  coverage_.forget(run);
}

}  // namespace cadastre::sim
