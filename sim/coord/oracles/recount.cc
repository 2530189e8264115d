#include "sim/coord/oracles/recount.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/bytes.h"
#include "coord/backend.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/run_record.h"
#include "coord/snapshot.h"
#include "coord/states.h"
#include "sim/coord/mirror.h"
#include "sim/coord/oracles/violation.h"
#include "sim/coord/request.h"
#include "sim/coord/shard_name.h"

namespace cadastre::sim {
namespace {

// What a grant or a renewal says about its run.
coord::CapacityHint capacity_at(const Mirror& mirror, const RunName& run, coord::LogicalTime now) {
  coord::CapacityHint capacity;
  for (const ShardName& name : mirror.shards()) {
    if (name.run_name() != run) continue;
    const auto& state = mirror.find(name)->state;
    if (state.status != coord::ShardStatus::kActive) continue;
    if (!coord::is_live(state.lease, now)) {
      ++capacity.available_count;
    } else if (!capacity.earliest_deadline || state.lease->deadline < *capacity.earliest_deadline) {
      capacity.earliest_deadline = state.lease->deadline;
    }
  }
  return capacity;
}

}  // namespace

Recount recount(const Mirror& mirror, const RunName& run, coord::LogicalTime now) {
  Recount count;
  count.capacity = capacity_at(mirror, run, now);
  for (const ShardName& name : mirror.shards()) {
    if (name.run_name() != run) continue;
    const coord::ShardDump& record = *mirror.find(name);
    const bool leased = coord::is_live(record.state.lease, now);
    const auto last_key =
        record.last_key.empty() ? std::nullopt : std::optional<base::ByteView>(record.last_key);
    count.progress.observe(record.state.status, leased, last_key);
    if (record.state.status == coord::ShardStatus::kActive && !leased) {
      count.candidates.push_back(name.shard);
    }
  }
  std::ranges::sort(count.candidates);
  return count;
}

void check_claim(const Mirror& before,
                 const Request& request,
                 const Answer& answer,
                 Violations& out) {
  if (request.call != Call::kClaim) return;
  const RunName name{number_of(request.tenant), request.key.run};
  const coord::RunRecord* const run = before.find(name);
  const bool open = run != nullptr && run->status == coord::RunStatus::kActive;
  const Recount count = open ? recount(before, name, request.now) : Recount{};
  if (answer.verdict == Verdict::kGranted) {
    if (count.candidates.empty()) {
      out.push_back({"S11", "a claim took a shard where none was free"});
      return;
    }
    const auto wanted = count.candidates[request.worker.raw() % count.candidates.size()];
    if (answer.lease->shard() != wanted) {
      out.push_back({"S11", fmt::format("a claim took shard {:x}, the scan takes {:x}",
                                        answer.lease->shard().raw(), wanted.raw())});
    }
  } else if (answer.code == "none_available") {
    if (!count.candidates.empty()) out.push_back({"S11", "a claim overlooked a free shard"});
    if (answer.earliest != count.capacity.earliest_deadline) {
      out.push_back({"S11", "a claim was told a wrong deadline to wait for"});
    }
  }
}

void check_hints(const Mirror& after,
                 const Request& request,
                 const Answer& answer,
                 Violations& out) {
  const bool has_hint = answer.verdict == Verdict::kGranted || answer.verdict == Verdict::kRenewed;
  if (!has_hint) return;
  const auto run = answer.lease ? answer.lease->run() : request.leases.front().run();
  if (answer.capacity != capacity_at(after, {number_of(request.tenant), run}, request.now)) {
    out.push_back(
        {"S11", fmt::format("{}: the capacity hint differs from a scan", to_text(request))});
  }
}

void check_counts(const Mirror& mirror,
                  coord::CoordinationFacade& backend,
                  coord::LogicalTime now,
                  Violations& out) {
  std::vector<coord::ShardId> candidates;
  for (const auto& [name, record] : mirror.runs()) {
    const Recount count = recount(mirror, name, now);
    const auto progress = backend.get_run_progress(now, record.tenant, name.run);
    if (!progress || *progress != count.progress) {
      out.push_back({"S11", fmt::format("progress of run {} differs from a recount at {}",
                                        name.run.raw(), now.raw())});
    }
    const auto earliest =
        backend.collect_claim_candidates_into(now, record.tenant, name.run, candidates);
    const bool open = record.status == coord::RunStatus::kActive;
    if (!earliest || candidates != (open ? count.candidates : std::vector<coord::ShardId>()) ||
        *earliest != (open ? count.capacity.earliest_deadline : std::nullopt)) {
      out.push_back({"S11", fmt::format("candidates of run {} differ from a scan at {}",
                                        name.run.raw(), now.raw())});
    }
  }
}

}  // namespace cadastre::sim
