#include "cli/node_closed.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/result.h"
#include "cli/command.h"
#include "cli/command_error.h"
#include "cli/json_answer.h"
#include "cli/node_commands.h"
#include "cli/options.h"
#include "cli/text_table.h"
#include "node/convert.h"
#include "node/recover.h"

namespace cadastre::cli {
namespace {

constexpr std::string_view kLossNotice =
    "What lost nodes had acknowledged and no survivor has is lost.";

CommandError from_closed(base::Error<node::ClosedError> error) {
  switch (error.code) {
    case node::ClosedError::kLocked: return {"locked", std::move(error.detail), Retry::kLater};
    case node::ClosedError::kNoData: return {"no_data", std::move(error.detail)};
    case node::ClosedError::kRefused: return {"refused", std::move(error.detail)};
    case node::ClosedError::kForeign: return {"foreign_directory", std::move(error.detail)};
    case node::ClosedError::kDamaged: return {"damaged", std::move(error.detail)};
    case node::ClosedError::kCannotOpen:
      return {"cannot_open", std::move(error.detail), Retry::kLater};
  }
  return {"cannot_open", std::move(error.detail)};
}

std::vector<std::filesystem::path> paths_of(const std::vector<std::string>& names) {
  return {names.begin(), names.end()};
}

std::string list_of(const auto& nodes) {
  std::string text;
  for (const auto node : nodes)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", node.value());
  return text;
}

std::string table_of(const node::Survey& survey) {
  std::string text = fmt::format("group {} of cluster {}, {} survivors\n", survey.group.value(),
                                 survey.cluster.value(), survey.survivors.size());
  TextTable table({"node", "last term", "last index", "committed", "voters", "directory"});
  for (const node::Survivor& each : survey.survivors) {
    table.add({std::to_string(each.node.value()) + (each.node == survey.highest ? " *" : ""),
               to_string(each.last.term), to_string(each.last.index), to_string(each.commit),
               list_of(each.voters), each.directory.string()});
  }
  text += table.text();
  text += fmt::format("\nentries {} to {} are committed on all of them, with digest {}\n",
                      survey.digest_after.value() + 1, survey.digest_upto.value(), survey.digest);
  text += fmt::format("node {} has most. {}", survey.highest.value(), kLossNotice);
  return text;
}

Result<std::string, CommandError> json_of(const node::Survey& survey, KeyForm keys) {
  JsonAnswer answer(keys);
  answer.number("cluster", survey.cluster.value())
      .number("group", survey.group.value())
      .number("highest", survey.highest.value())
      .number("digest_after", survey.digest_after.value())
      .number("digest_upto", survey.digest_upto.value())
      .text("digest", survey.digest)
      .open_list("survivors");
  for (const node::Survivor& each : survey.survivors) {
    answer.open_element()
        .number("node", each.node.value())
        .number("last_term", each.last.term.value())
        .number("last_index", each.last.index.value())
        .number("term", each.term.value())
        .number("committed", each.commit.value())
        .number("conf_index", each.conf_index.value())
        .flag("recovered", each.recovered)
        .text("directory", each.directory.string())
        .open_list("voters");
    for (const auto voter : each.voters)
      answer.number_element(voter.value());
    answer.close_list().close();
  }
  return std::move(answer.close_list()).finish();
}

Result<void, CommandError> print_survey(const NodeArguments& arguments, Context& context) {
  auto survey =
      node::survey_survivors(paths_of(arguments.directories), log::GroupId{arguments.group});
  if (!survey) return base::fail(from_closed(std::move(survey.error())));
  const Form form = context.options.form;
  context.out.line(form.format == Format::kHuman ? table_of(*survey)
                                                 : CAD_TRY(json_of(*survey, form.keys)));
  return {};
}

}  // namespace

Result<void, CommandError> run_node_convert(const NodeArguments& arguments, Context& context) {
  if (arguments.to == "raft" && (arguments.topology.empty() || arguments.node == 0)) {
    return base::fail(usage_error("--to raft needs --topology and --node"));
  }
  auto converted = arguments.to == "raft"
                       ? node::convert_to_raft(arguments.directory, arguments.topology,
                                               log::NodeId{arguments.node})
                       : node::convert_to_local(arguments.directory);
  if (!converted) return base::fail(from_closed(std::move(converted.error())));
  if (context.options.form.format == Format::kJson) {
    JsonAnswer answer(context.options.form.keys);
    answer.text("engine", arguments.to)
        .number("cluster", converted->cluster.value())
        .number("node", converted->node.value())
        .number("last", converted->last.index.value());
    context.out.line(CAD_TRY(std::move(answer).finish()));
  } else if (arguments.to == "raft") {
    context.out.line(
        fmt::format("{} is node {} of cluster {} now, its only voter, with {} entries: start it "
                    "with --topology "
                    "and --node {}",
                    arguments.directory, converted->node.value(), converted->cluster.value(),
                    converted->last.index.value(), converted->node.value()));
  } else {
    context.out.line(
        fmt::format("{} is a server's own now, with {} entries: start it without --topology",
                    arguments.directory, converted->last.index.value()));
  }
  return {};
}

Result<void, CommandError> run_node_recover(const NodeArguments& arguments, Context& context) {
  if (arguments.keep.empty()) return print_survey(arguments, context);
  if (!arguments.highest) {
    return base::fail(usage_error(
        "--highest names the survivor that has most: run it without --keep to see which"));
  }
  node::Recovery recovery{.highest = log::NodeId{*arguments.highest}};
  for (const std::uint64_t node : arguments.keep)
    recovery.keep.emplace_back(node);
  auto at =
      node::recover_group(paths_of(arguments.directories), log::GroupId{arguments.group}, recovery);
  if (!at) return base::fail(from_closed(std::move(at.error())));
  if (context.options.form.format == Format::kJson) {
    JsonAnswer answer(context.options.form.keys);
    answer.number("group", arguments.group)
        .number("term", at->term.value())
        .number("index", at->index.value())
        .flag("recovered", true)
        .open_list("voters");
    for (const auto node : recovery.keep)
      answer.number_element(node.value());
    answer.close_list();
    context.out.line(CAD_TRY(std::move(answer).finish()));
    return {};
  }
  context.out.line(fmt::format(
      "group {} goes on with voters {} from entry {} in term {}, and says `recovered` for ever. {} "
      "Put the directories in their places and start these nodes; the others never come back under "
      "their ids.",
      arguments.group, list_of(recovery.keep), at->index.value(), at->term.value(), kLossNotice));
  return {};
}

}  // namespace cadastre::cli
