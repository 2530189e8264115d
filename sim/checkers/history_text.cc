#include "sim/checkers/history_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "base/result.h"
#include "sim/checkers/history.h"
#include "sim/checkers/model.h"
#include "sim/checkers/shard_model.h"
#include "sim/schedule/sim_time.h"

namespace cadastre::sim::checkers {
namespace {

using base::fail;

struct KindName {
  OpKind kind;
  std::string_view name;
  std::size_t arguments;
};

constexpr std::array kKinds = {
    KindName{OpKind::kRead, "read", 0},
    KindName{OpKind::kWrite, "write", 1},
    KindName{OpKind::kCompareAndSet, "cas", 2},
    KindName{OpKind::kAppend, "append", 1},
    KindName{OpKind::kAppendAt, "append-at", 1},
    KindName{OpKind::kLength, "length", 0},
    KindName{OpKind::kReadLog, "read-log", 0},
    KindName{OpKind::kAcquire, "acquire", 0},
    KindName{OpKind::kCheckpoint, "checkpoint", 2},
    KindName{OpKind::kComplete, "complete", 2},
    KindName{OpKind::kRelease, "release", 1},
    KindName{OpKind::kReplace, "replace", 1},
    KindName{OpKind::kTouch, "touch", 1},
    KindName{OpKind::kRepeat, "repeat", 0},
    KindName{OpKind::kShard, "shard", 0},
};

constexpr std::array<std::string_view, 3> kPhases = {"active", "done", "split"};
constexpr std::array<std::string_view, 3> kHeldAnswers = {"stale", "ok", "terminal"};
constexpr std::array<std::string_view, 2> kRepeatAnswers = {"executed", "replayed"};

// The one argument of these is the fence.
bool is_of_fence(OpKind kind) {
  return kind == OpKind::kRelease || kind == OpKind::kReplace || kind == OpKind::kTouch;
}

const KindName& entry_of(OpKind kind) {
  return *std::ranges::find(kKinds, kind, &KindName::kind);
}

std::string to_text(const Value& value) {
  return value ? std::to_string(*value) : "nil";
}

std::string shard_text(std::uint64_t number) {
  const ShardFacts facts = unpacked(number);
  return fmt::format("{}/{}/{}", facts.fence, facts.cursor,
                     kPhases.at(static_cast<std::size_t>(facts.phase)));
}

std::string result_text(const Operation& operation) {
  switch (operation.call.kind) {
    case OpKind::kWrite:
    case OpKind::kAppend: return "ok";
    case OpKind::kCompareAndSet: return operation.result == kSwapped ? "swapped" : "kept";
    case OpKind::kReadLog: return fmt::format("#{:x}", operation.result.value_or(0));
    case OpKind::kCheckpoint:
    case OpKind::kComplete:
    case OpKind::kRelease:
    case OpKind::kReplace:
    case OpKind::kTouch: return std::string(kHeldAnswers.at(operation.result.value_or(0)));
    case OpKind::kRepeat: return std::string(kRepeatAnswers.at(operation.result.value_or(0)));
    case OpKind::kShard: return shard_text(operation.result.value_or(0));
    case OpKind::kRead:
    case OpKind::kAppendAt:
    case OpKind::kLength:
    case OpKind::kAcquire: break;
  }
  return to_text(operation.result);
}

constexpr std::string_view kBlank = " \t";

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t at = text.find_first_not_of(kBlank); at != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(kBlank, at), text.size());
    words.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(kBlank, end);
  }
  return words;
}

std::string_view without_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::optional<std::uint64_t> number_of(std::string_view digits, int base = 10) {
  std::uint64_t number = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

std::optional<std::uint64_t> number_after(char letter, std::string_view word) {
  if (!word.starts_with(letter)) return std::nullopt;
  return number_of(word.substr(1));
}

std::optional<SimTime> time_of(std::string_view digits) {
  const auto number = number_of(digits);
  if (!number || *number > static_cast<std::uint64_t>(SimTime::max().time_since_epoch().count()))
    return std::nullopt;
  return SimTime(std::chrono::nanoseconds(static_cast<std::int64_t>(*number)));
}

// Nothing if the word is no value; a value that is nil if it says so.
std::optional<Value> value_of(std::string_view word) {
  if (word == "nil") return Value{};
  const auto number = number_of(word);
  if (!number) return std::nullopt;
  return Value(number);
}

std::optional<Value> log_of(std::string_view text) {
  if (text.starts_with('#')) {
    const auto digest = number_of(text.substr(1), 16);
    return digest ? std::optional<Value>(*digest) : std::nullopt;
  }
  if (!text.starts_with('[') || !text.ends_with(']')) return std::nullopt;
  std::vector<std::uint64_t> commands;
  for (const std::string_view word : words_of(text.substr(1, text.size() - 2))) {
    const auto command = number_of(word);
    if (!command) return std::nullopt;
    commands.push_back(*command);
  }
  return Value(log_digest(commands));
}

template <std::size_t N>
std::optional<Value> place_of(std::string_view text, const std::array<std::string_view, N>& names) {
  const auto* const found = std::ranges::find(names, text);
  if (found == names.end()) return std::nullopt;
  return Value(static_cast<std::uint64_t>(found - names.begin()));
}

// "3/17/active"
std::optional<Value> shard_of(std::string_view text) {
  const std::size_t first = text.find('/');
  const std::size_t last = text.rfind('/');
  if (first == std::string_view::npos || first == last) return std::nullopt;
  const auto fence = number_of(text.substr(0, first));
  const auto cursor = number_of(text.substr(first + 1, last - first - 1));
  const auto phase = place_of(text.substr(last + 1), kPhases);
  if (!fence || !cursor || !phase || *fence > kFenceMax || *cursor > kCursorMax)
    return std::nullopt;
  return Value(packed({*fence, *cursor, static_cast<ShardPhase>(**phase)}));
}

std::optional<Value> result_of(OpKind kind, std::string_view text) {
  switch (kind) {
    case OpKind::kWrite:
    case OpKind::kAppend: return text == "ok" ? std::optional<Value>(Value{}) : std::nullopt;
    case OpKind::kCompareAndSet:
      if (text == "swapped") return Value(kSwapped);
      return text == "kept" ? std::optional<Value>(kKept) : std::nullopt;
    case OpKind::kReadLog: return log_of(text);
    case OpKind::kCheckpoint:
    case OpKind::kComplete:
    case OpKind::kRelease:
    case OpKind::kReplace:
    case OpKind::kTouch: return place_of(text, kHeldAnswers);
    case OpKind::kRepeat: return place_of(text, kRepeatAnswers);
    case OpKind::kShard: return shard_of(text);
    case OpKind::kRead:
    case OpKind::kAppendAt:
    case OpKind::kLength:
    case OpKind::kAcquire: break;
  }
  return value_of(text);
}

// "10..20" or "10.."; the second is nothing where none is given.
struct Times {
  SimTime called;
  std::optional<SimTime> returned;
};

std::optional<Times> times_of(std::string_view word) {
  const std::size_t dots = word.find("..");
  if (dots == std::string_view::npos) return std::nullopt;
  const auto called = time_of(word.substr(0, dots));
  const std::string_view rest = word.substr(dots + 2);
  if (!called) return std::nullopt;
  if (rest.empty()) return Times{*called, std::nullopt};
  const auto returned = time_of(rest);
  if (!returned || *returned < *called) return std::nullopt;
  return Times{*called, returned};
}

// "c1 k1 write 7", without the time.
std::optional<Call> call_of(const std::vector<std::string_view>& words) {
  if (words.size() < 4) return std::nullopt;
  const auto client = number_after('c', words[1]);
  const auto key = number_after('k', words[2]);
  const auto* const kind = std::ranges::find(kKinds, words[3], &KindName::name);
  if (!client || !key || kind == kKinds.end() || words.size() != 4 + kind->arguments)
    return std::nullopt;
  Call call = {.client = ClientId(*client), .key = KeyId(*key), .kind = kind->kind};
  if (kind->arguments == 0) return call;
  const auto argument = value_of(words.back());
  if (!argument) return std::nullopt;
  (is_of_fence(kind->kind) ? call.expected : call.argument) = *argument;
  const bool is_append = kind->kind == OpKind::kAppend || kind->kind == OpKind::kAppendAt;
  if (is_append && !call.argument) return std::nullopt;
  if (kind->arguments == 2) {
    const auto expected = value_of(words[4]);
    if (!expected) return std::nullopt;
    call.expected = *expected;
  }
  return call;
}

std::optional<Operation> operation_of(std::string_view line) {
  const std::size_t arrow = line.find("->");
  if (arrow == std::string_view::npos) return std::nullopt;
  const auto words = words_of(line.substr(0, arrow));
  if (words.empty()) return std::nullopt;
  const auto times = times_of(words.front());
  const auto call = call_of(words);
  const std::string_view answer = without_blanks(line.substr(arrow + 2));
  if (!times || !call) return std::nullopt;
  Operation operation = {.call = *call, .called = times->called, .returned = {}};
  if (answer == "unknown") return operation;
  if (answer == "failed") {
    operation.outcome = Outcome::kFailed;
    return operation;
  }
  const auto result = result_of(call->kind, answer);
  if (!times->returned || !result) return std::nullopt;
  operation.outcome = Outcome::kOk;
  operation.returned = *times->returned;
  operation.result = *result;
  return operation;
}

}  // namespace

std::string to_text(const Operation& operation) {
  const Call& call = operation.call;
  const KindName& kind = entry_of(call.kind);
  std::string what(kind.name);
  if (kind.arguments == 2) what += " " + to_text(call.expected);
  if (kind.arguments >= 1)
    what += " " + to_text(is_of_fence(call.kind) ? call.expected : call.argument);
  std::string when = fmt::format("{}..", operation.called.time_since_epoch().count());
  std::string outcome = operation.outcome == Outcome::kFailed ? "failed" : "unknown";
  if (operation.outcome == Outcome::kOk) {
    when += std::to_string(operation.returned.time_since_epoch().count());
    outcome = result_text(operation);
  }
  return fmt::format("{:24} c{:<4} k{:<4} {:16} -> {}", when, call.client.value(), call.key.value(),
                     what, outcome);
}

std::string to_text(const History& history) {
  std::string text;
  for (const Operation& operation : history.operations())
    text += to_text(operation) + "\n";
  return text;
}

base::Result<History, TextError> history_of(std::string_view text) {
  History history;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (words_of(line).empty() || line.starts_with('#')) continue;
    const auto operation = operation_of(line);
    if (!operation) return fail(TextError::kMalformed, std::string(line));
    history.add(*operation);
  }
  return history;
}

}  // namespace cadastre::sim::checkers
