// Mirror: a copy of every record as the last look saw it, and what is different since.
//
// The oracles compare the copy with the next look; the driver draws from it which shards there are.
// Nothing that is judged by answers (S1, S9, S10) is read from here.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "coord/backend.h"
#include "coord/identity.h"
#include "coord/run_record.h"
#include "coord/shard_record.h"
#include "sim/coord/shard_name.h"

namespace cadastre::sim {

struct ShardDifference {
  ShardName name;
  std::optional<coord::ShardDump> before;        // absent: a new record
  std::optional<coord::BrokenInvariant> broken;  // what does not hold of the record now
};

struct RunDifference {
  RunName name;
  std::optional<coord::RunRecord> before;
  std::optional<coord::RunRecord> after;  // absent: forgotten
};

class Mirror {
 public:
  explicit Mirror(const coord::Introspection& records) noexcept : records_(&records) {}

  // What changed since the last look, in the order of the records.
  [[nodiscard]] std::vector<ShardDifference> look_at_shards();
  [[nodiscard]] std::vector<RunDifference> look_at_runs();

  [[nodiscard]] const coord::ShardDump* find(const ShardName& name) const;
  [[nodiscard]] const coord::RunRecord* find(const RunName& name) const;

  // In the order of their appearance.
  [[nodiscard]] const std::vector<ShardName>& shards() const noexcept { return names_; }
  [[nodiscard]] const std::map<RunName, coord::RunRecord>& runs() const noexcept { return runs_; }
  // Shards that are gone since the last look, and were taken out of the mirror.
  [[nodiscard]] const std::vector<ShardName>& vanished() const noexcept { return vanished_; }

 private:
  struct Entry {
    coord::ShardDump record;
    std::uint64_t look = 0;
  };
  void drop_unseen();

  const coord::Introspection* records_;
  std::uint64_t look_ = 0;
  std::unordered_map<ShardName, Entry> entries_;
  std::vector<ShardName> names_;
  std::vector<ShardName> vanished_;
  std::map<RunName, coord::RunRecord> runs_;
};

}  // namespace cadastre::sim
