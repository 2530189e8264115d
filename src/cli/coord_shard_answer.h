// Shards, leases and splits as answers: the JSON of docs/cli.md, and sentences and tables for
// people.

#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/command_error.h"
#include "cli/json_answer.h"
#include "cli/options.h"
#include "cli/text_table.h"
#include "coord/backend.h"
#include "coord/decide_split.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/outcome.h"
#include "coord/shard_summary.h"
#include "coord/snapshot.h"
#include "shard/shard_spec.h"
#include "shard/split_plan.h"

namespace cadastre::cli {

using base::Result;

// "outcome": "executed" or "replayed"
void add_outcome(JsonAnswer& answer, std::optional<coord::Outcome> outcome);
// For people, who expect things to be done: nothing, or " (replayed)".
[[nodiscard]] std::string_view replay_note(std::optional<coord::Outcome> outcome) noexcept;
// "has_failures" as people write it.
[[nodiscard]] std::string words_of(std::string_view snake_case);

// {"lease":{...},"spec":{...},"cursor":{...},"capacity":{...}}
[[nodiscard]] Result<std::string, CommandError> acquired_answer(
    const coord::AcquireResultView& acquired, Form form);

// {"lease":{...},"capacity":{...}}: the lease with its new deadline
[[nodiscard]] Result<std::string, CommandError> renewed_answer(const coord::Lease& lease,
                                                               const coord::RenewResult& renewed,
                                                               Form form);

// {"results":[{"lease":{...}}|{"error":{...}}]}, for each lease what became of it
[[nodiscard]] Result<std::string, CommandError> renewed_many_answer(
    std::span<const coord::Lease> leases,
    const coord::CoordinationBackend::RenewedLeases& renewed,
    Form form);

// {"outcome":...}
[[nodiscard]] Result<std::string, CommandError> outcome_answer(coord::Outcome outcome, Form form);

// {"outcome":...,"fence":N}
[[nodiscard]] Result<std::string, CommandError> unparked_answer(
    const coord::IdempotentOutcome<coord::FenceEpoch>& unparked, Form form);

// {"outcome":...,"children":[{"id":N,"start":K,"end":K}]}, of a plan whose children are in key order
[[nodiscard]] Result<std::string, CommandError> replaced_answer(
    const coord::IdempotentOutcome<coord::SplitReplaceResult>& split,
    const shard::SplitReplacePlan& plan,
    Form form);

// {"outcome":...,"residual":N,"spec":{...}}
[[nodiscard]] Result<std::string, CommandError> residual_answer(
    const coord::IdempotentOutcome<coord::SplitResidualResult>& split,
    const shard::ShardSpecRef& kept,
    Form form);

// Collects a list of shards piece by piece: {"shards":[...]} in a batch; else one summary on each
// line, or a table.
class ShardListAnswer {
 public:
  ShardListAnswer(Form form, Mode mode);

  [[nodiscard]] Result<void, CommandError> add(const coord::ShardSummary& shard);
  [[nodiscard]] Result<std::string, CommandError> finish() &&;

 private:
  Form form_;
  Mode mode_;
  std::string json_;
  TextTable table_;
};

}  // namespace cadastre::cli
