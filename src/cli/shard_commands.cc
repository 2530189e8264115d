#include "cli/shard_commands.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <CLI/App.hpp>
#include <CLI/Option.hpp>
#include <fmt/format.h>

#include "base/bytes.h"
#include "base/result.h"
#include "cli/answer.h"
#include "cli/command.h"
#include "cli/command_choice.h"
#include "cli/command_error.h"
#include "cli/input_file.h"
#include "cli/key_text.h"
#include "cli/options.h"
#include "cli/plan_text.h"
#include "cli/shard_check.h"
#include "cli/shard_plan.h"
#include "shard/hint.h"

namespace cadastre::cli {
namespace {

bool is_printable(const PlannedShard& planned, KeyForm keys) noexcept {
  return is_printable(planned.start, keys) && is_printable(planned.end, keys);
}

// Nothing may be printed before it is certain that all of it can be: hence two walks where the form
// of the keys, or the width of the table, depends on them.
template <class Plan>
Result<void, CommandError> print_json(const Plan& plan, Context& context) {
  const KeyForm keys = context.options.form.keys;
  bool printable = true;
  if (keys == KeyForm::kText) {
    visit_plan(plan, [&](const PlannedShard& planned) {
      printable = is_printable(planned, keys);
      return printable;
    });
  }
  if (!printable) return base::fail(not_utf8("a planned bound"));
  std::string line;
  visit_plan(plan, [&](const PlannedShard& planned) {
    line.clear();
    append_plan_json(line, planned, keys);
    context.out.line(line);
    return !context.out.failed();
  });
  return {};
}

template <class Plan>
Result<void, CommandError> print_table(const Plan& plan, Context& context) {
  const KeyForm keys = context.options.form.keys;
  PlanTable table(shard_count(plan), keys);
  bool printable = true;
  visit_plan(plan, [&](const PlannedShard& planned) {
    printable = is_printable(planned, keys);
    if (printable) table.widen_for(planned);
    return printable;
  });
  if (!printable) return base::fail(not_utf8("a planned bound"));
  std::string line;
  table.append_title(line);
  context.out.line(line);
  visit_plan(plan, [&](const PlannedShard& planned) {
    line.clear();
    table.append_row(line, planned);
    context.out.line(line);
    return !context.out.failed();
  });
  return {};
}

template <class Plan>
Result<void, CommandError> print_plan(const Plan& plan, Context& context) {
  CAD_TRY(check_plan(plan));
  if (context.options.form.format == Format::kJson) return print_json(plan, context);
  return print_table(plan, context);
}

Result<std::uint64_t, CommandError> parse_positive(std::string_view digits, std::string_view what) {
  const std::uint64_t value = CAD_TRY(parse_argument_u64(digits, what));
  if (value == 0) return base::fail(usage_error(fmt::format("{} is at least 1", what)));
  return value;
}

// A..B
Result<shard::ManifestRows, CommandError> parse_rows(std::string_view typed,
                                                     std::uint64_t manifest) {
  constexpr std::string_view kBetween = "..";
  const std::size_t at = typed.find(kBetween);
  if (at == std::string_view::npos) {
    return base::fail(usage_error("--rows is not of the form A..B"));
  }
  const std::uint64_t start = CAD_TRY(parse_argument_u64(typed.substr(0, at), "A of --rows A..B"));
  const std::uint64_t end =
      CAD_TRY(parse_argument_u64(typed.substr(at + kBetween.size()), "B of --rows A..B"));
  return shard::ManifestRows{manifest, start, end};
}

Result<void, CommandError> plan_range(const ShardArguments& arguments, Context& context) {
  const KeyForm keys = context.options.form.keys;
  const std::uint64_t count = CAD_TRY(parse_positive(arguments.count, "--count"));
  const base::Bytes start = CAD_TRY(parse_key(arguments.start, keys, "--start"));
  const base::Bytes end = CAD_TRY(parse_key(arguments.end, keys, "--end"));
  return print_plan(EvenPlan{{start, end}, count}, context);
}

Result<void, CommandError> plan_rows(const ShardArguments& arguments, Context& context) {
  const std::uint64_t manifest = CAD_TRY(parse_argument_u64(arguments.manifest, "--manifest"));
  const shard::ManifestRows rows = CAD_TRY(parse_rows(arguments.rows, manifest));
  const std::uint64_t per_shard = CAD_TRY(parse_positive(arguments.per_shard, "--per-shard"));
  return print_plan(RowPlan{rows, per_shard}, context);
}

Result<void, CommandError> check_file(const ShardArguments& arguments, Context& context) {
  const InputFile file = CAD_TRY(InputFile::open(arguments.file, context.input));
  const auto shards = check_manifest(file.descriptor(), context.options.form.keys);
  if (!shards) return base::fail(shards.error());
  context.out.line(valid_answer(*shards, context.options.form.format));
  return {};
}

Result<void, CommandError> plan(const ShardArguments& arguments, Context& context) {
  if (!arguments.manifest.empty()) return plan_rows(arguments, context);
  if (!arguments.count.empty()) return plan_range(arguments, context);
  return base::fail(usage_error("a plan needs --count, or --manifest with --rows and --per-shard"));
}

using ShardFunction = Result<void, CommandError> (*)(const ShardArguments&, Context&);

Result<void, CommandError> run_once(ShardFunction function,
                                    const ShardArguments& arguments,
                                    Context& context) {
  if (context.options.mode != Mode::kBatch) return function(arguments, context);
  return base::fail(usage_error("shard commands have no --batch"));
}

void choose(CLI::App& subcommand,
            const ShardArguments& arguments,
            Command& chosen,
            ShardFunction function) {
  subcommand.callback([&arguments, &chosen, function] {
    chosen = [&arguments, function](Context& context) {
      return run_once(function, arguments, context);
    };
  });
}

Result<void, CommandError> ask_for_command(const ShardArguments& /*arguments*/,
                                           Context& /*context*/) {
  return base::fail(usage_error("which command? see cadastre shard --help"));
}

void add_plan(CLI::App& group, ShardArguments& arguments, Command& chosen) {
  CLI::App& plan_app = *group.add_subcommand(
      "plan",
      "Cuts a range, or the rows of a manifest, into shards\n"
      "Examples: cadastre shard plan --start a --end z --count 4\n"
      "          cadastre shard plan --manifest 7 --rows 0..1000 --per-shard 300 --hex");
  plan_app.fallthrough();
  plan_app.add_option("--start", arguments.start, "the range's start; open if absent or empty");
  plan_app.add_option("--end", arguments.end, "the range's end; open if absent or empty");
  plan_app.add_option("--count", arguments.count, "how many shards of equal space");
  CLI::Option* const manifest =
      plan_app.add_option("--manifest", arguments.manifest, "a manifest's id");
  CLI::Option* const rows =
      plan_app.add_option("--rows", arguments.rows, "A..B: from row A to before row B");
  CLI::Option* const per_shard =
      plan_app.add_option("--per-shard", arguments.per_shard, "rows in each shard");
  manifest->needs(rows)->needs(per_shard);
  rows->needs(manifest);
  per_shard->needs(manifest);
  for (const char* const of_range : {"--start", "--end", "--count"})
    manifest->excludes(plan_app.get_option(of_range));
  choose(plan_app, arguments, chosen, plan);
}

void add_check(CLI::App& group, ShardArguments& arguments, Command& chosen) {
  CLI::App& check_app = *group.add_subcommand(
      "check",
      "Checks lines of `shard plan --json` as a manifest\n"
      "Example: cadastre shard plan --start a --end z --count 4 --json | cadastre shard check -");
  check_app.fallthrough();
  check_app.add_option("FILE", arguments.file, "a file, or - for standard input")->required();
  choose(check_app, arguments, chosen, check_file);
}

}  // namespace

void add_shard_commands(CLI::App& app, ShardArguments& arguments, Command& chosen) {
  CLI::App& group = *app.add_subcommand(
      "shard", "Plans and checks shards\nExample: cadastre shard plan --start a --end z --count 4");
  group.require_subcommand(0, 1)->fallthrough();
  choose_without_subcommand(group, chosen, [&arguments](Context& context) {
    return run_once(ask_for_command, arguments, context);
  });
  add_plan(group, arguments, chosen);
  add_check(group, arguments, chosen);
}

}  // namespace cadastre::cli
