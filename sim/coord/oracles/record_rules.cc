#include "sim/coord/oracles/record_rules.h"

#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/bytes.h"
#include "coord/backend.h"
#include "coord/identity.h"
#include "coord/run_record.h"
#include "coord/states.h"
#include "sim/coord/oracles/violation.h"

namespace cadastre::sim {
namespace {

using coord::ShardDump;
using coord::ShardStatus;

std::string about(const ShardDump& record, std::string_view what) {
  return fmt::format("shard {:x} of run {}: {}", record.state.shard.raw(), record.state.run.raw(),
                     what);
}

void check_status(const ShardDump& before, const ShardDump& after, Violations& out) {
  const ShardStatus was = before.state.status;
  const ShardStatus is = after.state.status;
  if (was == ShardStatus::kDone || was == ShardStatus::kSplit) {
    out.push_back({"S3", about(after, "a final record changed")});
  } else if (was == ShardStatus::kParked && is != ShardStatus::kParked) {
    if (is != ShardStatus::kActive || after.state.fence <= before.state.fence) {
      out.push_back({"S3", about(after, "left Parked without a larger fence")});
    }
  } else if (was == ShardStatus::kParked) {
    out.push_back({"S3", about(after, "a parked record changed")});
  }
}

void check_key_inside(const ShardDump& record, Violations& out) {
  if (record.last_key.empty()) return;
  const bool inside = !base::less(record.last_key, record.start) &&
                      (record.end.empty() || base::less(record.last_key, record.end));
  if (!inside) out.push_back({"S6", about(record, "the last key is outside the range")});
}

void check_range(const ShardDump& before, const ShardDump& after, Violations& out) {
  const bool same_identity = before.state.tenant == after.state.tenant &&
                             before.state.parent == after.state.parent &&
                             before.state.semantics == after.state.semantics &&
                             before.start == after.start && before.metadata == after.metadata;
  if (!same_identity) out.push_back({"S7", about(after, "what never changes has changed")});
  const bool kept = before.spawned.size() <= after.spawned.size() &&
                    std::equal(before.spawned.begin(), before.spawned.end(), after.spawned.begin());
  if (!kept) out.push_back({"S7", about(after, "a spawned shard was forgotten")});
  if (before.end == after.end) return;
  const bool shrank = before.end.empty() || base::less(after.end, before.end);
  if (!shrank || after.spawned.size() == before.spawned.size()) {
    out.push_back({"S7", about(after, "the end moved without leaving a shard behind")});
  }
}

}  // namespace

void check_new_shard(const ShardDump& record, Violations& out) {
  check_key_inside(record, out);
  const bool fresh = record.state.status == ShardStatus::kActive && !record.state.lease &&
                     record.state.fence == coord::kFenceInitial && record.spawned.empty() &&
                     record.state.op_log.empty();
  if (!fresh) out.push_back({"S4", about(record, "a new record is not fresh")});
}

void check_shard_step(const ShardDump& before, const ShardDump& after, Violations& out) {
  if (after.state.fence < before.state.fence) {
    out.push_back({"S2", about(after, "the fence fell")});
  }
  check_status(before, after, out);
  if (base::less(after.last_key, before.last_key)) {
    out.push_back({"S5", about(after, "the last key went back")});
  }
  check_key_inside(after, out);
  check_range(before, after, out);
}

void check_run_step(const coord::RunRecord& before,
                    const coord::RunRecord& after,
                    Violations& out) {
  if (coord::is_terminal(before.status)) {
    out.push_back({"S8", fmt::format("run {} changed after its end", after.run.raw())});
  }
  if (before.config != after.config ||
      (!before.root_shards.empty() && before.root_shards != after.root_shards)) {
    out.push_back({"S8", fmt::format("run {} changed what never changes", after.run.raw())});
  }
}

}  // namespace cadastre::sim
