#include "cli/run_work.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "coord/shard_summary.h"
#include "coord/states.h"
#include "shard/typed_keys.h"

namespace cadastre::cli {
namespace {

constexpr std::size_t kBarCells = 20;

// The rows of one shard; nothing unless both bounds, and the cursor if there is one, are rows of one manifest.
std::optional<RunWork> rows_of(const coord::ShardSummary& shard) noexcept {
  const auto start = shard::decode_manifest_row_key(shard.start.view());
  const auto end = shard::decode_manifest_row_key(shard.end.view());
  if (!start || !end || start->manifest_id != end->manifest_id || end->row < start->row)
    return std::nullopt;
  const std::uint64_t total = end->row - start->row;
  if (shard.status == coord::ShardStatus::kDone) return RunWork{WorkUnit::kRows, total, total};
  if (!shard.last_key) return RunWork{WorkUnit::kRows, 0, total};
  const auto last = shard::decode_manifest_row_key(shard.last_key->view());
  if (!last || last->manifest_id != start->manifest_id || last->row < start->row)
    return std::nullopt;
  return RunWork{WorkUnit::kRows, std::min(last->row - start->row + 1, total), total};
}

}  // namespace

std::string_view name_of(WorkUnit unit) noexcept {
  return unit == WorkUnit::kRows ? "rows" : "shards";
}

void WorkTally::add(const coord::ShardSummary& shard) noexcept {
  if (shard.status == coord::ShardStatus::kSplit) return;
  ++counted_.total;
  if (shard.status == coord::ShardStatus::kDone) ++counted_.done;
  const auto work = rows_of(shard);
  has_rows_ = has_rows_ && work.has_value();
  if (!has_rows_) return;
  rows_.done += work->done;
  rows_.total += work->total;
}

RunWork WorkTally::work() const noexcept {
  return has_rows_ && counted_.total != 0 ? rows_ : counted_;
}

RunWork work_of(std::span<const coord::ShardSummary> shards) noexcept {
  WorkTally tally;
  for (const coord::ShardSummary& shard : shards)
    tally.add(shard);
  return tally.work();
}

std::optional<RunPace> pace_between(const WorkSample& earlier, const WorkSample& later) noexcept {
  if (later.at <= earlier.at || later.work.unit != earlier.work.unit ||
      later.work.done < earlier.work.done) {
    return std::nullopt;
  }
  const double seconds = std::chrono::duration<double>(later.at - earlier.at).count();
  RunPace pace{static_cast<double>(later.work.done - earlier.work.done) / seconds};
  if (pace.per_second > 0) {
    pace.seconds_left = static_cast<double>(later.work.total - later.work.done) / pace.per_second;
  }
  return pace;
}

std::string work_bar(const RunWork& work) {
  const double part =
      work.total == 0 ? 0 : static_cast<double>(work.done) / static_cast<double>(work.total);
  const auto cells = static_cast<std::size_t>(part * static_cast<double>(kBarCells));
  return fmt::format("[{:#<{}}{:.<{}}] {:3} %", "", cells, "", kBarCells - cells,
                     static_cast<int>(part * 100));
}

std::string duration_text(double seconds) {
  constexpr double kLongest = 1e9;
  const auto whole = static_cast<std::uint64_t>(std::ceil(std::clamp(seconds, 0.0, kLongest)));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

}  // namespace cadastre::cli
