// How much of a run is done, how fast it goes and when it will be over: arithmetic on what a backend lists.
//
// Where every shard's range is one of manifest rows, work is counted in rows, so that a shard that is half
// way counts half; else in shards. A split parent's work is its children's.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "coord/shard_summary.h"

namespace cadastre::cli {

enum class WorkUnit : std::uint8_t {
  kRows,
  kShards
};

[[nodiscard]] std::string_view name_of(WorkUnit unit) noexcept;

struct RunWork {
  WorkUnit unit = WorkUnit::kShards;
  std::uint64_t done = 0;
  std::uint64_t total = 0;

  friend bool operator==(const RunWork&, const RunWork&) = default;
};

// Counts shards as they come, in any order.
class WorkTally {
 public:
  void add(const coord::ShardSummary& shard) noexcept;
  [[nodiscard]] RunWork work() const noexcept;

 private:
  RunWork rows_{WorkUnit::kRows, 0, 0};
  RunWork counted_{WorkUnit::kShards, 0, 0};
  bool has_rows_ = true;
};

[[nodiscard]] RunWork work_of(std::span<const coord::ShardSummary> shards) noexcept;

struct WorkSample {
  RunWork work;
  base::Elapsed at = {};
};

struct RunPace {
  double per_second = 0;
  std::optional<double> seconds_left = std::nullopt;  // absent while nothing moves
};

// From two looks at the same run; nothing unless time passed between them and they count alike.
[[nodiscard]] std::optional<RunPace> pace_between(const WorkSample& earlier,
                                                  const WorkSample& later) noexcept;

// `[#####...............]  25 %`
[[nodiscard]] std::string work_bar(const RunWork& work);

// `42 s`, `3 min 20 s`, `5 h 10 min`
[[nodiscard]] std::string duration_text(double seconds);

}  // namespace cadastre::cli
