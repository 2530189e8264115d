// Plans as text: lines of JSON that `shard check` reads, or an aligned table.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "cli/options.h"
#include "cli/shard_plan.h"

namespace cadastre::cli {

// {"id":N,"start":K,"end":K,"hint":{...},"metadata":HEX}. The keys are printable in this form.
void append_plan_json(std::string& out, const PlannedShard& planned, KeyForm keys);

// Grows its columns by every shard it will print, then prints them.
class PlanTable {
 public:
  PlanTable(std::uint64_t shards, KeyForm keys) noexcept;

  void widen_for(const PlannedShard& planned);

  void append_title(std::string& out) const;
  void append_row(std::string& out, const PlannedShard& planned) const;

 private:
  KeyForm keys_;
  std::size_t id_columns_;
  std::size_t start_columns_;
  std::size_t end_columns_;
  std::size_t metadata_columns_;
};

}  // namespace cadastre::cli
