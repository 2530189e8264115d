#include "sim/checkers/shard_model.h"

#include <cstdint>
#include <optional>

#include "base/check.h"
#include "sim/checkers/history.h"
#include "sim/checkers/model.h"

namespace cadastre::sim::checkers {
namespace {

constexpr unsigned kCursorShift = 4;
constexpr unsigned kFenceShift = 44;

// State: the facts, and whether there is a lease.
State state_of(const ShardFacts& facts, bool leased) noexcept {
  return {{packed(facts), leased ? 1ULL : 0ULL}};
}

// What the fence of a call is worth; nothing: it is the one in force.
std::optional<std::uint64_t> refusal(const ShardFacts& facts, bool leased, const Call& call) {
  if (facts.phase != ShardPhase::kActive) return kTerminal;
  if (!leased || call.expected != facts.fence) return kStale;
  return std::nullopt;
}

Effect held(const State& before, const Call& call) noexcept {
  ShardFacts facts = unpacked(before.words[0]);
  const bool leased = before.words[1] != 0;
  if (const auto refused = refusal(facts, leased, call)) return {before, refused};
  if (call.kind == OpKind::kTouch) return {before, kDone};
  if (call.kind == OpKind::kRelease) return {state_of(facts, false), kDone};
  if (call.kind == OpKind::kReplace) {
    facts.phase = ShardPhase::kSplit;
    return {state_of(facts, false), kDone};
  }
  const std::uint64_t cursor = call.argument.value_or(0);
  if (cursor < facts.cursor) return {before, std::nullopt};
  facts.cursor = cursor;
  if (call.kind == OpKind::kCheckpoint) return {state_of(facts, true), kDone};
  facts.phase = ShardPhase::kDone;
  return {state_of(facts, false), kDone};
}

}  // namespace

std::uint64_t packed(const ShardFacts& facts) noexcept {
  CAD_CHECK(facts.fence <= kFenceMax, "a fence is within its bound");
  CAD_CHECK(facts.cursor <= kCursorMax, "a cursor is within its bound");
  return facts.fence << kFenceShift | facts.cursor << kCursorShift |
         static_cast<std::uint64_t>(facts.phase);
}

ShardFacts unpacked(std::uint64_t number) noexcept {
  return {.fence = number >> kFenceShift,
          .cursor = number >> kCursorShift & kCursorMax,
          .phase = static_cast<ShardPhase>(number & 3U)};
}

State ShardModel::initial() const noexcept {
  return state_of({}, false);
}

Effect ShardModel::apply(const State& before, const Call& call) const noexcept {
  ShardFacts facts = unpacked(before.words[0]);
  switch (call.kind) {
    case OpKind::kAcquire:
      if (facts.phase != ShardPhase::kActive) return {before, std::nullopt};
      ++facts.fence;
      return {state_of(facts, true), facts.fence};
    case OpKind::kCheckpoint:
    case OpKind::kComplete:
    case OpKind::kRelease:
    case OpKind::kReplace:
    case OpKind::kTouch: return held(before, call);
    case OpKind::kRepeat: return {before, kReplayed};
    case OpKind::kShard: return {before, before.words[0]};
    case OpKind::kRead:
    case OpKind::kWrite:
    case OpKind::kCompareAndSet:
    case OpKind::kAppend:
    case OpKind::kAppendAt:
    case OpKind::kLength:
    case OpKind::kReadLog: break;
  }
  CAD_CHECK(false, "a shard has no such operation");
}

bool ShardModel::only_reads(const Call& call) const noexcept {
  return call.kind == OpKind::kTouch || call.kind == OpKind::kRepeat || call.kind == OpKind::kShard;
}

}  // namespace cadastre::sim::checkers
