#include "coord/progress.h"

#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>

#include "base/bytes.h"
#include "base/check.h"
#include "coord/states.h"

namespace cadastre::coord {
namespace {

std::uint32_t& counter_of(RunProgress& progress, ShardStatus status) noexcept {
  switch (status) {
    case ShardStatus::kActive: return progress.active;
    case ShardStatus::kDone: return progress.done;
    case ShardStatus::kSplit: return progress.split;
    case ShardStatus::kParked: break;
  }
  return progress.parked;
}

}  // namespace

void FixedKey::assign(base::ByteView key) noexcept {
  CAD_CHECK(key.size() <= bytes_.size(), "a key is bounded");
  if (!key.empty()) std::memcpy(bytes_.data(), key.data(), key.size());
  size_ = static_cast<std::uint16_t>(key.size());
}

void RunProgress::observe(ShardStatus status,
                          bool is_leased,
                          std::optional<base::ByteView> last_key) noexcept {
  CAD_CHECK(total != std::numeric_limits<std::uint32_t>::max(), "a run's shards are countable");
  const bool is_active = status == ShardStatus::kActive;
  ++total;
  ++counter_of(*this, status);
  if (is_leased) {
    CAD_CHECK(is_active, "only an active shard is leased");
    ++leased;
  }
  if (!is_active || !last_key) return;
  if (!watermark || base::less(*last_key, watermark->view())) watermark.emplace(*last_key);
}

RunEvaluation evaluate_run_terminal(const RunProgress& progress) noexcept {
  CAD_CHECK(progress.total > 0, "a run without shards is not evaluated");
  if (!progress.is_settled()) return RunEvaluation::kStillActive;
  return progress.has_failures() ? RunEvaluation::kHasFailures : RunEvaluation::kAllDone;
}

std::optional<RunEvaluation> try_evaluate_run_terminal(const RunProgress& progress) noexcept {
  if (progress.total == 0) return std::nullopt;
  return evaluate_run_terminal(progress);
}

}  // namespace cadastre::coord
