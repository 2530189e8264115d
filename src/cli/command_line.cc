#include "cli/command_line.h"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>  // IWYU pragma: keep: App's members are defined there
#include <CLI/Error.hpp>
#include <CLI/Formatter.hpp>  // IWYU pragma: keep

#include "base/function_ref.h"
#include "base/result.h"
#include "cli/bitmap_commands.h"
#include "cli/command.h"
#include "cli/command_error.h"
#include "cli/coord_commands.h"
#include "cli/hint_commands.h"
#include "cli/key_commands.h"
#include "cli/log_commands.h"
#include "cli/node_commands.h"
#include "cli/options.h"
#include "cli/runs.h"
#include "cli/serve_commands.h"
#include "cli/shard_commands.h"
#include "cli/version.h"

namespace cadastre::cli {
namespace {

constexpr std::string_view kEndOfOptions = "--";

struct Flags {
  bool json = false;
  bool hex = false;
  bool batch = false;
  bool version = false;

  [[nodiscard]] Options options() const noexcept {
    return {.form = {.format = json ? Format::kJson : Format::kHuman,
                     .keys = hex ? KeyForm::kHex : KeyForm::kText},
            .mode = batch ? Mode::kBatch : Mode::kOnce};
  }
};

void add_flags(CLI::App& app, Flags& flags) {
  app.add_flag("--json", flags.json, "one JSON object per line");
  app.add_flag("--hex", flags.hex, "keys are hexadecimal, in and out");
  app.add_flag("--batch", flags.batch,
               "key, hint, coord, bitmap: one JSON request per line of standard input");
  app.add_flag("--version", flags.version, "version, commit, compiler, engines and backends");
  app.footer(
      "Values that start with - follow --. Exit status: 0 success, 1 refused, 2 wrong usage.");
}

Command print_text(std::string text) {
  return [text = std::move(text)](Context& context) -> Result<void, CommandError> {
    context.out.line(text);
    return {};
  };
}

}  // namespace

std::vector<std::string> with_empty_values(std::span<char* const> arguments) {
  std::vector<std::string> split;
  bool options_ended = false;
  for (const std::string_view argument : arguments) {
    options_ended = options_ended || argument == kEndOfOptions;
    if (!options_ended && argument.starts_with("--") && argument.ends_with('=')) {
      split.emplace_back(argument.substr(0, argument.size() - 1));
      split.emplace_back();
    } else {
      split.emplace_back(argument);
    }
  }
  return split;
}

Format format_asked_for(std::span<const std::string> arguments) {
  const auto options_end = std::ranges::find(arguments, kEndOfOptions);
  const bool as_json = std::any_of(arguments.begin(), options_end, [](std::string_view argument) {
    return argument == "--json" || argument == "--batch";
  });
  return as_json ? Format::kJson : Format::kHuman;
}

Result<void, CommandError> parse_and_run(
    std::vector<std::string> arguments,
    base::FunctionRef<Result<void, CommandError>(const Options&, const Command&)> run) {
  CLI::App app("cadastre: a land registry for keyspaces", "cadastre");
  Flags flags;
  Command chosen;
  add_flags(app, flags);
  // At most one command at each level, so that a key may have a command's name.
  app.require_subcommand(0, 1);
  KeyArguments key_arguments;
  HintArguments hint_arguments;
  ShardArguments shard_arguments;
  CoordArguments coord_arguments;
  CoordArguments runs_arguments;
  BitmapArguments bitmap_arguments;
  LogArguments log_arguments;
  NodeArguments node_arguments;
  ServeArguments serve_arguments;
  BackupArguments backup_arguments;
  add_key_commands(app, key_arguments, chosen);
  add_hint_commands(app, hint_arguments, chosen);
  add_shard_commands(app, shard_arguments, chosen);
  add_coord_commands(app, coord_arguments, chosen);
  add_runs_command(app, runs_arguments, chosen);
  add_bitmap_commands(app, bitmap_arguments, chosen);
  add_log_commands(app, log_arguments, chosen);
  add_node_commands(app, node_arguments, chosen);
  add_serve_command(app, serve_arguments, chosen);
  add_backup_commands(app, backup_arguments, chosen);
  try {
    std::ranges::reverse(arguments);  // As CLI11 wants them.
    app.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    std::string help = app.help();
    while (help.ends_with('\n'))
      help.pop_back();
    return run({}, print_text(std::move(help)));
  } catch (const CLI::ParseError& error) {
    return base::fail(usage_error(std::string(error.what()) + "; see cadastre --help"));
  }
  const Options options = flags.options();
  if (flags.version) return run(options, print_text(version_answer(options.form.format)));
  if (!chosen) return base::fail(usage_error("which command? see cadastre --help"));
  return run(options, chosen);
}

}  // namespace cadastre::cli
