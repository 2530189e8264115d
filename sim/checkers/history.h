// History: who asked for what and when, and what they were told. A simulation records it; a checker
// judges it afterwards.
//
//   const OpNumber number = history.call(now, {.client = client, .key = key, .kind = OpKind::kWrite, .argument = 7});
//   ...
//   history.ok(number, later, std::nullopt);
//
// An operation without an answer is of unknown outcome: it may take effect at any time after its call,
// even after the history's end, or never.
//
// A value; one thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/strong.h"
#include "sim/schedule/sim_time.h"

namespace cadastre::sim::checkers {

using ClientId = base::Strong<struct ClientIdTag>;
using KeyId = base::Strong<struct KeyIdTag>;
using OpNumber = base::Strong<struct OpNumberTag, std::size_t>;  // In its history, from 0.

using Value = std::optional<std::uint64_t>;  // Nothing is a value too: nil.

enum class OpKind : std::uint8_t {
  kRead,           // Answers the register's value.
  kWrite,          // `argument`; answers nil.
  kCompareAndSet,  // `argument` if it was `expected`; answers kSwapped or kKept.
  kAppend,         // the command `argument`; answers nil.
  kAppendAt,       // the same; answers its place in the log, from 1.
  kLength,         // Answers how many commands the log has,
  kReadLog,        // or the digest of all of them (log_digest).
  kAcquire,        // Of a shard (shard_model.h): answers the fence.
  kCheckpoint,     // Under the fence `expected`, the cursor `argument`; answers kDone and so on.
  kComplete,       // The same.
  kRelease,        // Under the fence `expected`,
  kReplace,        // the same,
  kTouch,          // the same, and changes nothing.
  kRepeat,         // Of an acknowledged request: answers kReplayed or kExecutedAgain.
  kShard,          // Answers packed(ShardFacts).
};

inline constexpr std::uint64_t kSwapped = 1;
inline constexpr std::uint64_t kKept = 0;

enum class Outcome : std::uint8_t {
  kOk,       // Took effect once between call and return, and answered `result`.
  kFailed,   // Certainly never takes effect.
  kUnknown,  // Takes effect at most once, at any time after the call.
};

struct Call {
  ClientId client;
  KeyId key;
  OpKind kind = OpKind::kRead;
  Value expected = std::nullopt;
  Value argument = std::nullopt;

  friend bool operator==(const Call&, const Call&) = default;
};

struct Operation {
  Call call;
  SimTime called;
  SimTime returned;  // Only if it is kOk.
  Outcome outcome = Outcome::kUnknown;
  Value result = std::nullopt;  // Only if it is kOk.

  friend bool operator==(const Operation&, const Operation&) = default;
};

class History {
 public:
  OpNumber call(SimTime now, const Call& call);

  // Each operation is answered once at most.
  void ok(OpNumber number, SimTime now, Value result);
  void failed(OpNumber number);

  void add(const Operation& operation) { operations_.push_back(operation); }

  [[nodiscard]] std::span<const Operation> operations() const noexcept { return operations_; }

 private:
  Operation& unanswered(OpNumber number);

  std::vector<Operation> operations_;
};

}  // namespace cadastre::sim::checkers
