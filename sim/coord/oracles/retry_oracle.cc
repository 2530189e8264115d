#include "sim/coord/oracles/retry_oracle.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

#include "base/bytes.h"
#include "coord/identity.h"
#include "coord/limits.h"
#include "sim/coord/oracles/violation.h"
#include "sim/coord/request.h"
#include "sim/coord/shard_name.h"

namespace cadastre::sim {
namespace {

// Whose log remembers the request.
ShardName log_of(const Request& request) {
  if (is_run_call(request.call)) return shard_name(request.tenant, {request.key.run, {}});
  if (is_lease_gated(request.call)) {
    return shard_name(request.tenant, request.leases.front().shard_key());
  }
  return shard_name(request.tenant, request.key);
}

// Requests that are refused before anyone looks into a log.
bool is_foreign(const Request& request) {
  return is_lease_gated(request.call) && request.leases.front().tenant() != request.tenant;
}

Violation violation(const Request& request, std::string_view what) {
  return {"S10", fmt::format("{}: {}", to_text(request), what)};
}

template <class Window>
auto find_op(Window& window, coord::OpId op) {
  return std::ranges::find_if(window, [&](const auto& entry) { return entry.op == op; });
}

}  // namespace

void RetryOracle::observe(const Request& request, const Answer& answer, Violations& out) {
  if (!is_logged(request.call) || is_foreign(request)) return;
  if (answer.verdict == Verdict::kExecuted) {
    observe_executed(request, answer, out);
  } else if (answer.verdict == Verdict::kReplayed) {
    observe_replayed(request, answer, out);
  } else {
    observe_refused(request, answer, out);
  }
}

void RetryOracle::observe_executed(const Request& request, const Answer& answer, Violations& out) {
  Memory& memory = memories_[log_of(request)];
  if (find_op(memory.window, request.op) != memory.window.end()) {
    out.push_back(violation(request, "executed twice within its log's window"));
  }
  const bool residual = request.call == Call::kSplitResidual;
  if (residual && memory.residuals.contains(request.op)) {
    out.push_back(violation(request, "one op id split off two shards"));
  }
  memory.window.push_back({request.op, request.call, payload_of(request), answer.shards});
  const std::size_t capacity =
      is_run_call(request.call) ? coord::kRunOpLogCapacity : coord::kOpLogCapacity;
  if (memory.window.size() > capacity) memory.window.pop_front();
  if (residual) {
    memory.residuals.emplace(request.op, Residual{answer.shards.front(), request.pieces[1].start});
  }
}

void RetryOracle::observe_replayed(const Request& request, const Answer& answer, Violations& out) {
  const Memory& memory = memories_[log_of(request)];
  const auto entry = find_op(memory.window, request.op);
  if (entry != memory.window.end()) {
    if (entry->call != request.call || entry->payload != payload_of(request)) {
      out.push_back(violation(request, "replayed another request"));
    } else if (entry->shards != answer.shards) {
      out.push_back(violation(request, "a replay answered with other shards"));
    }
    return;
  }
  const auto residual = memory.residuals.find(request.op);
  if (request.call != Call::kSplitResidual || residual == memory.residuals.end()) {
    out.push_back(violation(request, "replayed what was never executed"));
  } else if (answer.shards.size() != 1 || answer.shards.front() != residual->second.shard ||
             !base::equal(request.pieces[1].start, residual->second.start)) {
    out.push_back(violation(request, "a replay answered with another shard"));
  }
}

void RetryOracle::observe_refused(const Request& request, const Answer& answer, Violations& out) {
  const auto memory = memories_.find(log_of(request));
  if (memory == memories_.end()) return;
  const auto entry = find_op(memory->second.window, request.op);
  if (entry == memory->second.window.end()) return;
  const bool same = entry->call == request.call && entry->payload == payload_of(request);
  if (same) out.push_back(violation(request, "a retry was refused"));
  // A plan that is none never reaches a backend.
  const bool is_conflict = answer.code == "op_id_conflict" || answer.code == "too_few_children" ||
                           answer.code == "too_many_children" || answer.code == "identical_specs";
  if (!same && !is_conflict) {
    out.push_back(violation(request, fmt::format("a reused op id got '{}'", answer.code)));
  }
}

void RetryOracle::forget(const RunName& run) {
  std::erase_if(memories_, [&](const auto& entry) { return entry.first.run_name() == run; });
}

}  // namespace cadastre::sim
