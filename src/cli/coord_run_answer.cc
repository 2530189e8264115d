#include "cli/coord_run_answer.h"

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
#include "cli/coord_shard_answer.h"
#include "cli/json_answer.h"
#include "cli/key_text.h"
#include "cli/options.h"
#include "cli/text_table.h"
#include "coord/identity.h"
#include "coord/progress.h"
#include "coord/run_record.h"
#include "coord/states.h"

namespace cadastre::cli {
namespace {

constexpr std::size_t kBarCells = 20;

// A run without shards has nothing to be done with yet.
std::string_view evaluation_name(const coord::RunProgress& progress) noexcept {
  switch (coord::try_evaluate_run_terminal(progress).value_or(coord::RunEvaluation::kStillActive)) {
    case coord::RunEvaluation::kStillActive: return "still_active";
    case coord::RunEvaluation::kHasFailures: return "has_failures";
    case coord::RunEvaluation::kAllDone: return "all_done";
  }
  return "still_active";
}

std::optional<base::ByteView> watermark_of(const coord::RunProgress& progress) noexcept {
  if (!progress.watermark) return std::nullopt;
  return progress.watermark->view();
}

std::optional<std::uint64_t> raw(std::optional<coord::LogicalTime> time) noexcept {
  if (!time) return std::nullopt;
  return time->raw();
}

void add_run(JsonAnswer& answer, const RunView& run) {
  const coord::RunRecord& record = run.record;
  const coord::RunProgress& progress = run.progress;
  answer.number("run", record.run.raw())
      .text("status", coord::name(record.status))
      .number("lease_ms", record.config.lease_duration)
      .text("semantics", coord::name(record.config.cursor_semantics))
      .number_or_null("max_retries", record.config.max_shard_retries)
      .number("created_at", record.created_at.raw())
      .number_or_null("completed_at", raw(record.completed_at));
  answer.open("counts")
      .number("active", progress.active)
      .number("done", progress.done)
      .number("split", progress.split)
      .number("parked", progress.parked)
      .number("leased", progress.leased)
      .number("total", progress.total)
      .close();
  answer.key_or_null("watermark", watermark_of(progress))
      .text("terminal", evaluation_name(progress));
}

// How many of the shards that work is left in, or was done in, are done.
std::string bar(const coord::RunProgress& progress) {
  const std::size_t whole = progress.total - progress.split;
  const std::size_t done = progress.done;
  const std::size_t cells = whole == 0 ? 0 : done * kBarCells / whole;
  return fmt::format("[{:#<{}}{:.<{}}] {} of {} done", "", cells, "", kBarCells - cells, done,
                     whole);
}

std::string run_lines(const RunView& run, KeyForm keys) {
  const coord::RunRecord& record = run.record;
  const coord::RunProgress& progress = run.progress;
  const auto completed = raw(record.completed_at);
  const auto retries = record.config.max_shard_retries;
  std::string lines = fmt::format("run {}: {}, {}\n", record.run.raw(), coord::name(record.status),
                                  words_of(evaluation_name(progress)));
  lines += fmt::format("progress   {}\n", bar(progress));
  lines += fmt::format("shards     {}: {} active ({} leased), {} done, {} split, {} parked\n",
                       progress.total, progress.active, progress.leased, progress.done,
                       progress.split, progress.parked);
  lines += fmt::format("watermark  {}\n",
                       bound_text(watermark_of(progress).value_or(base::ByteView()), keys));
  lines += fmt::format("leases     {}, cursors {}, retries {}\n", record.config.lease_duration,
                       coord::name(record.config.cursor_semantics),
                       retries ? std::to_string(*retries) : "without bound");
  lines += fmt::format("created    {}\n", record.created_at.raw());
  lines += fmt::format("completed  {}", completed ? std::to_string(*completed) : "-");
  return lines;
}

std::string run_table(std::span<const RunView> runs) {
  TextTable table({"run", "status", "progress", "active", "leased", "parked", "created"});
  for (const RunView& run : runs) {
    const coord::RunProgress& progress = run.progress;
    table.add({std::to_string(run.record.run.raw()), std::string(coord::name(run.record.status)),
               bar(progress), std::to_string(progress.active), std::to_string(progress.leased),
               std::to_string(progress.parked), std::to_string(run.record.created_at.raw())});
  }
  return table.text();
}

Result<std::string, CommandError> run_json(const RunView& run, KeyForm keys) {
  JsonAnswer answer(keys);
  add_run(answer, run);
  return std::move(answer).finish();
}

Result<std::string, CommandError> run_json_lines(std::span<const RunView> runs, KeyForm keys) {
  std::string lines;
  for (const RunView& run : runs) {
    if (!lines.empty()) lines += '\n';
    lines += CAD_TRY(run_json(run, keys));
  }
  return lines;
}

}  // namespace

Result<std::string, CommandError> run_created_answer(const RunChangeView& change,
                                                     Form form,
                                                     Mode mode) {
  if (form.format == Format::kHuman) {
    return fmt::format("run {} is {}", change.run.raw(), coord::name(change.status));
  }
  JsonAnswer answer(form.keys);
  if (mode == Mode::kOnce) answer.number("run", change.run.raw());
  answer.text("status", coord::name(change.status));
  return std::move(answer).finish();
}

Result<std::string, CommandError> run_registered_answer(const RunChangeView& change,
                                                        Form form,
                                                        Mode mode) {
  const std::size_t shards = change.shards.value_or(0);
  if (form.format == Format::kHuman) {
    return fmt::format("run {} is {}, with {} shard{} registered{}", change.run.raw(),
                       coord::name(change.status), shards, shards == 1 ? "" : "s",
                       replay_note(change.outcome));
  }
  JsonAnswer answer(form.keys);
  if (mode == Mode::kOnce) {
    answer.number("run", change.run.raw()).text("status", coord::name(change.status));
    answer.number("shards", shards);
    add_outcome(answer, change.outcome);
  } else {
    add_outcome(answer, change.outcome);
    answer.number("shards", shards);
  }
  return std::move(answer).finish();
}

Result<std::string, CommandError> run_ended_answer(const RunChangeView& change, Form form) {
  if (form.format == Format::kHuman) {
    return fmt::format("run {} is {}{}", change.run.raw(), coord::name(change.status),
                       replay_note(change.outcome));
  }
  JsonAnswer answer(form.keys);
  add_outcome(answer, change.outcome);
  answer.text("status", coord::name(change.status));
  return std::move(answer).finish();
}

Result<std::string, CommandError> run_answer(const RunView& run, Form form) {
  if (form.format == Format::kHuman) return run_lines(run, form.keys);
  return run_json(run, form.keys);
}

Result<std::string, CommandError> runs_answer(std::span<const RunView> runs, Form form, Mode mode) {
  if (form.format == Format::kHuman) return run_table(runs);
  if (mode == Mode::kOnce) return run_json_lines(runs, form.keys);
  JsonAnswer answer(form.keys);
  answer.open_list("runs");
  for (const RunView& run : runs) {
    answer.open_element();
    add_run(answer, run);
    answer.close();
  }
  answer.close_list();
  return std::move(answer).finish();
}

Result<std::string, CommandError> runs_removed_answer(std::size_t removed, Form form) {
  if (form.format == Format::kHuman) {
    return fmt::format("{} run{} removed", removed, removed == 1 ? "" : "s");
  }
  JsonAnswer answer(form.keys);
  answer.number("removed", removed);
  return std::move(answer).finish();
}

}  // namespace cadastre::cli
