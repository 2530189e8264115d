#include "sim/checkers/model.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/bytes.h"
#include "base/check.h"
#include "base/xxh3.h"
#include "sim/checkers/history.h"

namespace cadastre::sim::checkers {
namespace {

// Whether there is a value, and which.
State state_of(const Value& value) noexcept {
  return {{value.has_value() ? 1ULL : 0ULL, value.value_or(0)}};
}

Value value_of(const State& state) noexcept {
  return state.words[0] != 0 ? Value(state.words[1]) : std::nullopt;
}

}  // namespace

Effect RegisterModel::apply(const State& before, const Call& call) const noexcept {
  const Value value = value_of(before);
  switch (call.kind) {
    case OpKind::kRead: return {before, value};
    case OpKind::kWrite: return {state_of(call.argument), std::nullopt};
    case OpKind::kCompareAndSet:
      if (value != call.expected) return {before, kKept};
      return {state_of(call.argument), kSwapped};
    case OpKind::kAppend:
    case OpKind::kAppendAt:
    case OpKind::kLength:
    case OpKind::kReadLog:
    case OpKind::kAcquire:
    case OpKind::kCheckpoint:
    case OpKind::kComplete:
    case OpKind::kRelease:
    case OpKind::kReplace:
    case OpKind::kTouch:
    case OpKind::kRepeat:
    case OpKind::kShard: break;
  }
  CAD_CHECK(false, "a register has no such operation");
}

bool RegisterModel::only_reads(const Call& call) const noexcept {
  return call.kind == OpKind::kRead;
}

State LogModel::initial() const noexcept {
  return {{0, log_digest({})}};
}

Effect LogModel::apply(const State& before, const Call& call) const noexcept {
  const auto [length, digest] = before.words;
  const State longer = {{length + 1, extended(digest, call.argument.value_or(0))}};
  switch (call.kind) {
    case OpKind::kAppend: return {longer, std::nullopt};
    case OpKind::kAppendAt: return {longer, length + 1};
    case OpKind::kLength: return {before, length};
    case OpKind::kReadLog: return {before, digest};
    case OpKind::kRead:
    case OpKind::kWrite:
    case OpKind::kCompareAndSet:
    case OpKind::kAcquire:
    case OpKind::kCheckpoint:
    case OpKind::kComplete:
    case OpKind::kRelease:
    case OpKind::kReplace:
    case OpKind::kTouch:
    case OpKind::kRepeat:
    case OpKind::kShard: break;
  }
  CAD_CHECK(false, "a log has no such operation");
}

bool LogModel::only_reads(const Call& call) const noexcept {
  return call.kind == OpKind::kLength || call.kind == OpKind::kReadLog;
}

std::uint64_t extended(std::uint64_t digest, std::uint64_t command) noexcept {
  const std::array<std::uint64_t, 2> words = {digest, command};
  const auto bytes = std::bit_cast<std::array<std::byte, sizeof(words)>>(words);
  return base::xxh3_64(base::ByteView(bytes));
}

std::uint64_t log_digest(std::span<const std::uint64_t> commands) noexcept {
  std::uint64_t digest = 0;
  for (const std::uint64_t command : commands)
    digest = extended(digest, command);
  return digest;
}

}  // namespace cadastre::sim::checkers
