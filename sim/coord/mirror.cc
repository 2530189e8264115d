#include "sim/coord/mirror.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "coord/backend.h"
#include "coord/identity.h"
#include "coord/run_record.h"
#include "coord/shard_record.h"
#include "sim/coord/shard_name.h"

namespace cadastre::sim {
namespace {

bool equals(const std::vector<coord::ShardId>& ids, const coord::SpawnedView& view) {
  if (ids.size() != view.size()) return false;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] != view[i]) return false;
  }
  return true;
}

bool equals(const coord::ShardDump& copy, const coord::ShardRecordView& record) {
  return base::equal(copy.last_key, record.cursor.last_key().value_or(base::ByteView())) &&
         base::equal(copy.token, record.cursor.token().value_or(base::ByteView())) &&
         base::equal(copy.start, record.spec.start()) && base::equal(copy.end, record.spec.end()) &&
         base::equal(copy.metadata, record.spec.metadata()) &&
         equals(copy.spawned, record.spawned) && copy.state == record.state;
}

std::optional<coord::BrokenInvariant> broken_invariant(const coord::ShardRecordView& record) {
  const auto held = coord::check_invariants(record);
  if (held) return std::nullopt;
  return held.error();
}

}  // namespace

std::vector<ShardDifference> Mirror::look_at_shards() {
  ++look_;
  vanished_.clear();
  std::vector<ShardDifference> differences;
  std::size_t seen = 0;
  records_->visit_shards([&](const coord::ShardRecordView& record) {
    ++seen;
    const ShardName name = shard_name(record.state.tenant, record.state.key());
    const auto [at, is_new] = entries_.try_emplace(name);
    Entry& entry = at->second;
    entry.look = look_;
    if (!is_new && equals(entry.record, record)) return;
    ShardDifference difference{name, std::nullopt, broken_invariant(record)};
    if (is_new) {
      names_.push_back(name);
    } else {
      difference.before = std::move(entry.record);
    }
    entry.record = coord::dump(record);
    differences.push_back(std::move(difference));
  });
  if (seen != entries_.size()) drop_unseen();
  return differences;
}

void Mirror::drop_unseen() {
  const auto is_unseen = [&](const ShardName& name) {
    return entries_.at(name).look != look_;
  };
  std::ranges::copy_if(names_, std::back_inserter(vanished_), is_unseen);
  std::erase_if(names_, is_unseen);
  for (const ShardName& name : vanished_)
    entries_.erase(name);
}

std::vector<RunDifference> Mirror::look_at_runs() {
  std::map<RunName, coord::RunRecord> now;
  for (coord::RunRecord& record : records_->dump_runs()) {
    const RunName name{number_of(record.tenant), record.run};
    now.emplace(name, std::move(record));
  }
  std::vector<RunDifference> differences;
  for (const auto& [name, record] : now) {
    const auto before = runs_.find(name);
    if (before == runs_.end()) {
      differences.push_back({name, std::nullopt, record});
    } else if (before->second != record) {
      differences.push_back({name, before->second, record});
    }
  }
  for (const auto& [name, record] : runs_) {
    if (!now.contains(name)) differences.push_back({name, record, std::nullopt});
  }
  runs_ = std::move(now);
  return differences;
}

const coord::ShardDump* Mirror::find(const ShardName& name) const {
  const auto at = entries_.find(name);
  return at == entries_.end() ? nullptr : &at->second.record;
}

const coord::RunRecord* Mirror::find(const RunName& name) const {
  const auto at = runs_.find(name);
  return at == runs_.end() ? nullptr : &at->second;
}

}  // namespace cadastre::sim
