// ShardModel: one shard of the coordination service, as its holders and readers see it: fence, cursor, status, and
// whether it is leased (coordination.md, section 4). Initially free, at fence 1, with no cursor.
//
//   acquire           the next fence, which it answers
//   checkpoint F C    the cursor C, if F is the fence in force and the shard is leased
//   complete F C      the same, and the shard is done
//   release F         the shard is free
//   replace F         the shard is split: its children are shards of their own
//   touch F           nothing: a renewal, or a split that leaves the shard a part of its range
//   repeat            a request that was acknowledged, sent again: it changes nothing and says so
//   shard             what is recorded
//
// Whoever presents a fence hears kDone, kStale or kTerminal. Time is no part of it: a lease ends when the next acquire
// says so, and a refusal that only the clock explains (the lease has ended, another one's runs) is a failed operation.
// A holder's cursors never fall; one that does makes no effect, and thereby no history that says otherwise.

#pragma once

#include <cstdint>

#include "sim/checkers/history.h"
#include "sim/checkers/model.h"

namespace cadastre::sim::checkers {

// What a holder is told.
inline constexpr std::uint64_t kStale = 0;
inline constexpr std::uint64_t kDone = 1;
inline constexpr std::uint64_t kTerminal = 2;
// What a repeated request is told.
inline constexpr std::uint64_t kExecutedAgain = 0;
inline constexpr std::uint64_t kReplayed = 1;

enum class ShardPhase : std::uint8_t {
  kActive,
  kDone,
  kSplit,
};

// What kShard answers, in one number.
struct ShardFacts {
  std::uint64_t fence = 1;
  std::uint64_t cursor = 0;  // 0: none
  ShardPhase phase = ShardPhase::kActive;

  friend bool operator==(const ShardFacts&, const ShardFacts&) = default;
};
inline constexpr std::uint64_t kFenceMax = (1ULL << 20U) - 1;
inline constexpr std::uint64_t kCursorMax = (1ULL << 40U) - 1;

// The facts are within their bounds.
[[nodiscard]] std::uint64_t packed(const ShardFacts& facts) noexcept;
[[nodiscard]] ShardFacts unpacked(std::uint64_t number) noexcept;

class ShardModel final : public Model {
 public:
  [[nodiscard]] State initial() const noexcept override;
  [[nodiscard]] Effect apply(const State& before, const Call& call) const noexcept override;
  [[nodiscard]] bool only_reads(const Call& call) const noexcept override;
};

}  // namespace cadastre::sim::checkers
