#include "cli/runs.h"

#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <CLI/App.hpp>
#include <CLI/Option.hpp>
#include <fmt/format.h>

#include "base/clock.h"
#include "base/result.h"
#include "base/signal.h"
#include "cli/command.h"
#include "cli/command_error.h"
#include "cli/coord_commands.h"
#include "cli/coord_error.h"
#include "cli/coord_once.h"
#include "cli/json_answer.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/run_work.h"
#include "cli/text_table.h"
#include "coord/backend.h"
#include "coord/identity.h"
#include "coord/progress.h"
#include "coord/run_record.h"
#include "coord/shard_summary.h"
#include "coord/states.h"

namespace cadastre::cli {
namespace {

constexpr std::chrono::seconds kLookEvery{1};

struct RunLook {
  coord::RunId run;
  coord::RunStatus status = coord::RunStatus::kInitializing;
  coord::RunProgress progress;
  WorkSample sample;
  std::optional<RunPace> pace;
};

// What was seen before, to tell the pace from.
using Earlier = std::map<coord::RunId, WorkSample>;

// Page by page: a summary holds three keys in place.
Result<RunWork, CommandError> count_work(CoordCall& call,
                                         coord::RunId run,
                                         coord::LogicalTime now) {
  WorkTally tally;
  std::vector<coord::ShardSummary> piece;
  coord::ShardPage page;
  do {
    const auto listed = call.session.backend.list_shards_into(
        now, call.caller.tenant, run, coord::ShardFilter::all(), page, piece);
    if (!listed) return base::fail(from_coord(listed.error()));
    for (const coord::ShardSummary& shard : piece)
      tally.add(shard);
    if (!piece.empty()) page.after = piece.back().shard;
  } while (piece.size() == page.limit);
  return tally.work();
}

Result<RunLook, CommandError> look_at(CoordCall& call,
                                      coord::RunId run,
                                      coord::LogicalTime now,
                                      const Earlier& earlier) {
  const auto record = call.session.backend.get_run(call.caller.tenant, run);
  if (!record) return base::fail(from_coord(record.error()));
  auto progress = call.session.backend.get_run_progress(now, call.caller.tenant, run);
  if (!progress) return base::fail(from_coord(progress.error()));
  RunLook look{
      .run = run, .status = record->status, .progress = *progress, .sample = {}, .pace = {}};
  look.sample.work = CAD_TRY(count_work(call, run, now));
  look.sample.at = call.context.clock.elapsed();
  if (const auto before = earlier.find(run); before != earlier.end())
    look.pace = pace_between(before->second, look.sample);
  return look;
}

// The time of the call, moved on by what has passed since.
coord::LogicalTime time_of_look(const CoordCall& call, base::Elapsed began) {
  const auto passed =
      std::chrono::duration_cast<std::chrono::milliseconds>(call.context.clock.elapsed() - began);
  return coord::checked_add(call.caller.now, static_cast<std::uint64_t>(passed.count()))
      .value_or(call.caller.now);
}

Result<std::vector<RunLook>, CommandError> look_at_all(CoordCall& call,
                                                       base::Elapsed began,
                                                       const Earlier& earlier) {
  const auto ids = call.session.backend.list_runs(call.caller.tenant, std::nullopt,
                                                  std::numeric_limits<std::size_t>::max());
  if (!ids) return base::fail(from_coord(ids.error()));
  std::vector<RunLook> looks;
  for (const coord::RunId run : *ids)
    looks.push_back(CAD_TRY(look_at(call, run, time_of_look(call, began), earlier)));
  return looks;
}

std::string table_of(std::span<const RunLook> looks) {
  if (looks.empty()) return "no runs";
  TextTable table({"run", "status", "progress", "done", "leased", "parked", "rate", "left"});
  for (const RunLook& look : looks) {
    const RunWork& work = look.sample.work;
    const bool moves = look.pace && look.status == coord::RunStatus::kActive;
    table.add({std::to_string(look.run.raw()), std::string(coord::name(look.status)),
               work_bar(work),
               fmt::format("{} of {} {}", work.done, work.total, name_of(work.unit)),
               std::to_string(look.progress.leased), std::to_string(look.progress.parked),
               moves ? fmt::format("{:.0f}/s", look.pace->per_second) : "-",
               moves && look.pace->seconds_left ? duration_text(*look.pace->seconds_left) : "-"});
  }
  return table.text();
}

Result<std::string, CommandError> json_of(const RunLook& look, KeyForm keys) {
  const RunWork& work = look.sample.work;
  JsonAnswer answer(keys);
  answer.number("run", look.run.raw())
      .text("status", coord::name(look.status))
      .text("unit", name_of(work.unit))
      .number("done", work.done)
      .number("total", work.total)
      .number("active", look.progress.active)
      .number("leased", look.progress.leased)
      .number("parked", look.progress.parked);
  if (look.pace) answer.fraction("per_second", look.pace->per_second);
  if (!look.pace) answer.null("per_second");
  if (look.pace && look.pace->seconds_left)
    answer.fraction("seconds_left", *look.pace->seconds_left);
  if (!look.pace || !look.pace->seconds_left) answer.null("seconds_left");
  return std::move(answer).finish();
}

Result<std::string, CommandError> text_of(std::span<const RunLook> looks, Form form) {
  if (form.format == Format::kHuman) return table_of(looks);
  std::string lines;
  for (const RunLook& look : looks) {
    if (!lines.empty()) lines += '\n';
    lines += CAD_TRY(json_of(look, form.keys));
  }
  return lines;
}

bool any_goes_on(std::span<const RunLook> looks) {
  for (const RunLook& look : looks)
    if (!coord::is_terminal(look.status)) return true;
  return false;
}

// Replaces the table that stands on the terminal.
void redraw(Output& out, const std::string& text) {
  out.line("\x1b[H\x1b[J" + text);
  out.flush();
}

}  // namespace

Result<std::string, CommandError> once_runs(CoordCall& call) {
  const Form form = call.session.form;
  const bool on_terminal = form.format == Format::kHuman && isatty(STDOUT_FILENO) == 1;
  const base::Elapsed began = call.context.clock.elapsed();
  Earlier earlier;
  auto looks = CAD_TRY(look_at_all(call, began, earlier));
  if (!on_terminal && !call.arguments.watch) return text_of(looks, form);
  base::Signal pause;  // Nobody raises it: it only passes the time.
  while (any_goes_on(looks) && !call.context.out.failed()) {
    const std::string text = CAD_TRY(text_of(looks, form));
    if (on_terminal) redraw(call.context.out, text);
    if (!on_terminal) call.context.out.line(text);
    call.context.out.flush();
    for (const RunLook& look : looks)
      earlier[look.run] = look.sample;
    pause.wait_for(kLookEvery);
    looks = CAD_TRY(look_at_all(call, began, earlier));
  }
  return text_of(looks, form);
}

void add_runs_command(CLI::App& app, CoordArguments& arguments, Command& chosen) {
  CLI::App& runs = *app.add_subcommand(
      "runs",
      "The runs of a tenant, with bars, rates and the time left; on a terminal until all are over\n"
      "Example: cadastre runs --backend 127.0.0.1:7400");
  runs.fallthrough();
  add_coord_options(runs, arguments);
  runs.add_flag("--watch", arguments.watch, "look again every second, until all runs are over");
  runs.callback([&arguments, &chosen] {
    chosen = [&arguments](Context& context) {
      return run_coord_once(once_runs, arguments, context);
    };
  });
}

}  // namespace cadastre::cli
