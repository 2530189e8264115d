#include "cli/coord_shard_answer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/result.h"
#include "cli/command_error.h"
#include "cli/coord_error.h"
#include "cli/json_answer.h"
#include "cli/key_text.h"
#include "cli/options.h"
#include "cli/text_table.h"
#include "coord/backend.h"
#include "coord/decide_split.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/outcome.h"
#include "coord/progress.h"
#include "coord/shard_summary.h"
#include "coord/snapshot.h"
#include "coord/states.h"
#include "shard/cursor.h"
#include "shard/shard_spec.h"
#include "shard/split_plan.h"

namespace cadastre::cli {
namespace {

std::string_view outcome_name(coord::Outcome outcome) noexcept {
  switch (outcome) {
    case coord::Outcome::kExecuted: return "executed";
    case coord::Outcome::kReplayed: return "replayed";
  }
  return "executed";
}

template <class Id>
std::optional<std::uint64_t> raw(const std::optional<Id>& id) noexcept {
  if (!id) return std::nullopt;
  return id->raw();
}

std::optional<base::ByteView> view(const std::optional<coord::FixedKey>& key) noexcept {
  if (!key) return std::nullopt;
  return key->view();
}

// The lease as a worker holds it from now on. Not Lease::extended_to: what a caller presents may
// claim a later deadline than there ever was.
void add_lease(JsonAnswer& answer, const coord::Lease& lease, coord::LogicalTime deadline) {
  answer.number("run", lease.run().raw())
      .number("shard", lease.shard().raw())
      .number("worker", lease.owner().raw())
      .number("fence", lease.fence().raw())
      .number("deadline", deadline.raw());
}

Result<std::string, CommandError> lease_json(const coord::Lease& lease,
                                             coord::LogicalTime deadline) {
  JsonAnswer answer(KeyForm::kHex);
  add_lease(answer, lease, deadline);
  return std::move(answer).finish();
}

void add_capacity(JsonAnswer& answer, const coord::CapacityHint& capacity) {
  answer.open("capacity")
      .number("available", capacity.available_count)
      .number_or_null("earliest_deadline", raw(capacity.earliest_deadline))
      .close();
}

void add_spec(JsonAnswer& answer, const shard::ShardSpecRef& spec) {
  answer.open("spec")
      .key("start", spec.start())
      .key("end", spec.end())
      .hex("metadata", spec.metadata())
      .close();
}

std::string range_text(const shard::ShardSpecRef& spec, KeyForm keys) {
  return fmt::format("{} to {}", bound_text(spec.start(), keys), bound_text(spec.end(), keys));
}

std::string capacity_text(const coord::CapacityHint& capacity) {
  std::string available = fmt::format("{} shard{} to claim", capacity.available_count,
                                      capacity.available_count == 1 ? "" : "s");
  if (!capacity.earliest_deadline) return available;
  return fmt::format("{}, the next lease ends at {}", available, capacity.earliest_deadline->raw());
}

std::string cursor_text(const shard::CursorUpdate& cursor, KeyForm keys) {
  const auto last_key = cursor.last_key();
  if (!last_key) return "at the start";
  const std::string at = "at " + bound_text(*last_key, keys);
  return cursor.token() ? fmt::format("{}, token {}", at, base::to_hex(*cursor.token())) : at;
}

// The lease in JSON for people too: they hand it to the next command.
Result<std::string, CommandError> acquired_lines(const coord::AcquireResultView& acquired,
                                                 KeyForm keys) {
  const coord::Lease& lease = acquired.lease;
  return fmt::format("lease     {}\nrange     {}\nmetadata  {}\ncursor    {}\ncapacity  {}",
                     CAD_TRY(lease_json(lease, lease.deadline())),
                     range_text(acquired.snapshot.spec, keys),
                     bound_text(acquired.snapshot.spec.metadata(), KeyForm::kHex),
                     cursor_text(acquired.snapshot.cursor, keys), capacity_text(acquired.capacity));
}

void add_summary(JsonAnswer& answer, const coord::ShardSummary& shard) {
  std::optional<std::string_view> reason;
  if (shard.park_reason) reason = coord::name(*shard.park_reason);
  answer.number("id", shard.shard.raw())
      .text("status", coord::name(shard.status))
      .key("start", shard.start.view())
      .key("end", shard.end.view())
      .key_or_null("last_key", view(shard.last_key))
      .number_or_null("parent", raw(shard.parent))
      .number("spawned", shard.spawned_count)
      .number_or_null("worker", raw(shard.owner))
      .number("fence", shard.fence.raw())
      .number_or_null("deadline", raw(shard.lease_deadline))
      .text_or_null("park_reason", reason)
      .number("acquires", shard.acquire_count);
}

std::string number_text(std::optional<std::uint64_t> number) {
  return number ? std::to_string(*number) : "-";
}

TextTable::Row summary_row(const coord::ShardSummary& shard, KeyForm keys) {
  std::string status(coord::name(shard.status));
  if (shard.park_reason) status += fmt::format(" ({})", words(*shard.park_reason));
  return {std::to_string(shard.shard.raw()),
          status,
          bound_text(shard.start.view(), keys),
          bound_text(shard.end.view(), keys),
          bound_text(view(shard.last_key).value_or(base::ByteView()), keys),
          number_text(raw(shard.owner)),
          std::to_string(shard.fence.raw()),
          number_text(raw(shard.lease_deadline)),
          std::to_string(shard.acquire_count),
          number_text(raw(shard.parent)),
          std::to_string(shard.spawned_count)};
}

}  // namespace

void add_outcome(JsonAnswer& answer, std::optional<coord::Outcome> outcome) {
  if (outcome) answer.text("outcome", outcome_name(*outcome));
}

std::string_view replay_note(std::optional<coord::Outcome> outcome) noexcept {
  return outcome == coord::Outcome::kReplayed ? " (replayed)" : "";
}

std::string words_of(std::string_view snake_case) {
  std::string words(snake_case);
  std::ranges::replace(words, '_', ' ');
  return words;
}

Result<std::string, CommandError> acquired_answer(const coord::AcquireResultView& acquired,
                                                  Form form) {
  if (form.format == Format::kHuman) return acquired_lines(acquired, form.keys);
  const auto& cursor = acquired.snapshot.cursor;
  JsonAnswer answer(form.keys);
  answer.open("lease");
  add_lease(answer, acquired.lease, acquired.lease.deadline());
  answer.close();
  add_spec(answer, acquired.snapshot.spec);
  answer.open("cursor")
      .key_or_null("last_key", cursor.last_key())
      .hex_or_null("token", cursor.token())
      .close();
  add_capacity(answer, acquired.capacity);
  return std::move(answer).finish();
}

Result<std::string, CommandError> renewed_answer(const coord::Lease& lease,
                                                 const coord::RenewResult& renewed,
                                                 Form form) {
  if (form.format == Format::kHuman) {
    return fmt::format("lease     {}\ncapacity  {}",
                       CAD_TRY(lease_json(lease, renewed.new_deadline)),
                       capacity_text(renewed.capacity));
  }
  JsonAnswer answer(form.keys);
  answer.open("lease");
  add_lease(answer, lease, renewed.new_deadline);
  answer.close();
  add_capacity(answer, renewed.capacity);
  return std::move(answer).finish();
}

Result<std::string, CommandError> renewed_many_answer(
    std::span<const coord::Lease> leases,
    const coord::CoordinationBackend::RenewedLeases& renewed,
    Form form) {
  JsonAnswer answer(form.keys);
  answer.open_list("results");
  for (std::size_t i = 0; i < renewed.size(); ++i) {
    if (!renewed[i]) {
      answer.element(error_line(from_coord(renewed[i].error()), Format::kJson));
      continue;
    }
    answer.open_element().open("lease");
    add_lease(answer, leases[i], renewed[i]->new_deadline);
    answer.close().close();
  }
  answer.close_list();
  return std::move(answer).finish();
}

Result<std::string, CommandError> outcome_answer(coord::Outcome outcome, Form form) {
  if (form.format == Format::kHuman) return std::string(outcome_name(outcome));
  JsonAnswer answer(form.keys);
  add_outcome(answer, outcome);
  return std::move(answer).finish();
}

Result<std::string, CommandError> unparked_answer(
    const coord::IdempotentOutcome<coord::FenceEpoch>& unparked, Form form) {
  if (form.format == Format::kHuman) {
    return fmt::format("{}, the fence is {}", outcome_name(unparked.outcome()),
                       unparked.value().raw());
  }
  JsonAnswer answer(form.keys);
  add_outcome(answer, unparked.outcome());
  answer.number("fence", unparked.value().raw());
  return std::move(answer).finish();
}

Result<std::string, CommandError> replaced_answer(
    const coord::IdempotentOutcome<coord::SplitReplaceResult>& split,
    const shard::SplitReplacePlan& plan,
    Form form) {
  const auto ids = split.value().children.as_span();
  const auto children = plan.children();
  if (form.format == Format::kHuman) {
    TextTable table({"id", "start", "end"});
    for (std::size_t i = 0; i < ids.size(); ++i) {
      table.add({std::to_string(ids[i].raw()), bound_text(children[i].spec.start(), form.keys),
                 bound_text(children[i].spec.end(), form.keys)});
    }
    return fmt::format("{}\n{}", outcome_name(split.outcome()), table.text());
  }
  JsonAnswer answer(form.keys);
  add_outcome(answer, split.outcome());
  answer.open_list("children");
  for (std::size_t i = 0; i < ids.size(); ++i) {
    answer.open_element()
        .number("id", ids[i].raw())
        .key("start", children[i].spec.start())
        .key("end", children[i].spec.end())
        .close();
  }
  answer.close_list();
  return std::move(answer).finish();
}

Result<std::string, CommandError> residual_answer(
    const coord::IdempotentOutcome<coord::SplitResidualResult>& split,
    const shard::ShardSpecRef& kept,
    Form form) {
  if (form.format == Format::kHuman) {
    return fmt::format("{}: shard {} takes the rest, this one keeps {}",
                       outcome_name(split.outcome()), split.value().residual.raw(),
                       range_text(kept, form.keys));
  }
  JsonAnswer answer(form.keys);
  add_outcome(answer, split.outcome());
  answer.number("residual", split.value().residual.raw());
  add_spec(answer, kept);
  return std::move(answer).finish();
}

ShardListAnswer::ShardListAnswer(Form form, Mode mode)
    : form_(form),
      mode_(mode),
      table_({"id", "status", "start", "end", "last key", "worker", "fence", "deadline", "acquires",
              "parent", "spawned"}) {}

Result<void, CommandError> ShardListAnswer::add(const coord::ShardSummary& shard) {
  if (form_.format == Format::kHuman) {
    table_.add(summary_row(shard, form_.keys));
    return {};
  }
  JsonAnswer answer(form_.keys);
  add_summary(answer, shard);
  if (!json_.empty()) json_ += mode_ == Mode::kBatch ? ',' : '\n';
  json_ += CAD_TRY(std::move(answer).finish());
  return {};
}

Result<std::string, CommandError> ShardListAnswer::finish() && {
  if (form_.format == Format::kHuman) return table_.text();
  if (mode_ == Mode::kOnce) return std::move(json_);
  return fmt::format(R"({{"shards":[{}]}})", json_);
}

}  // namespace cadastre::cli
