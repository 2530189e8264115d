#include "cli/log_dump.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/result.h"
#include "cli/json_answer.h"
#include "cli/key_text.h"
#include "cli/options.h"
#include "node/log_dump.h"

namespace cadastre::cli {
namespace {

std::string_view name_of(std::optional<log::EngineKind> engine) noexcept {
  if (!engine) return "unknown";
  switch (*engine) {
    case log::EngineKind::kLocal: return "local";
    case log::EngineKind::kRaft: return "raft";
    case log::EngineKind::kTombstone: return "tombstone";
  }
  return "unknown";
}

// Prints as the walk goes, so that a log of any size needs no memory.
class DumpPrinter final : public node::DumpSink {
 public:
  DumpPrinter(const LogArguments& arguments, Context& context)
      : bodies_(arguments.bodies),
        json_(context.options.form.format == Format::kJson),
        out_(context.out) {}

  void on_node(const log::NodeRecord& node, log::SetNumber last_set) override {
    const std::uint64_t cluster = node.identity.cluster.value();
    const std::uint64_t id = node.identity.node.value();
    if (!json_) {
      out_.line(fmt::format("node {} of cluster {}, {} write sets", id, cluster, last_set.value()));
      return;
    }
    JsonAnswer line(KeyForm::kHex);
    line.open("node")
        .number("id", id)
        .number("cluster", cluster)
        .number("sets", last_set.value())
        .close();
    print(std::move(line));
  }

  void on_group(const node::DumpedGroup& group) override {
    const log::StateRecord state = group.state.value_or(log::StateRecord{});
    if (!json_) {
      out_.line(fmt::format("group {}  engine {}, term {}, entries {} to {}", group.group.value(),
                            name_of(group.engine), state.state.term.value(),
                            group.truncated.index.value() + 1, state.last.index.value()));
      return;
    }
    JsonAnswer line(KeyForm::kHex);
    line.open("group")
        .number("id", group.group.value())
        .number("incarnation", group.incarnation.value());
    line.text("engine", name_of(group.engine)).number("term", state.state.term.value());
    line.number("vote", state.state.vote.value()).number("commit", state.state.commit.value());
    line.number("truncated", group.truncated.index.value());
    line.number("last", state.last.index.value()).close();
    print(std::move(line));
  }

  void on_entry(const node::DumpedEntry& entry) override {
    if (!json_) {
      out_.line(fmt::format("  {}/{}  {}{}{}", entry.at.term.value(), entry.at.index.value(),
                            what_of(entry), bodies_ && !entry.body.empty() ? "  " : "",
                            bodies_ ? base::to_hex(entry.body) : std::string()));
    } else {
      JsonAnswer line(KeyForm::kHex);
      line.open("entry")
          .number("group", entry.group.value())
          .number("index", entry.at.index.value());
      line.number("term", entry.at.term.value()).number("commands", entry.commands);
      line.number("bytes", entry.body.size());
      if (bodies_) line.hex("body", entry.body);
      line.close();
      print(std::move(line));
    }
    if (!entry.damage.empty())
      on_damage(fmt::format("group {}, entry {}", entry.group.value(), entry.at.index.value()),
                entry.damage);
  }

  void on_damage(const std::string& where, const std::string& detail) override {
    ++damages_;
    const std::string shown = visible_text(detail);
    if (!json_) {
      out_.line(fmt::format("DAMAGE  {}: {}", visible_text(where), shown));
      return;
    }
    JsonAnswer line(KeyForm::kHex);
    line.open("damage").text("where", visible_text(where)).text("detail", shown).close();
    print(std::move(line));
  }

  [[nodiscard]] std::uint64_t damages() const noexcept { return damages_; }

 private:
  static std::string what_of(const node::DumpedEntry& entry) {
    if (entry.body.empty()) return "opens its term";
    return fmt::format("{} command{}, {} bytes", entry.commands, entry.commands == 1 ? "" : "s",
                       entry.body.size());
  }

  void print(JsonAnswer line) {
    if (const auto text = std::move(line).finish()) out_.line(*text);
  }

  const bool bodies_;
  const bool json_;
  Output& out_;
  std::uint64_t damages_ = 0;
};

CommandError to_error(const base::Error<log::OpenError>& error) {
  switch (error.code) {
    case log::OpenError::kCannotOpen: return {"cannot_open", error.detail, Retry::kLater};
    case log::OpenError::kLocked: return {"locked", error.detail, Retry::kLater};
    case log::OpenError::kForeign: return {"no_log", error.detail};
    case log::OpenError::kNewer: return {"newer_release", error.detail};
    case log::OpenError::kDamaged: return {"damaged_log", error.detail};
  }
  return {"cannot_open", error.detail};
}

}  // namespace

Result<void, CommandError> run_log_dump(const LogArguments& arguments, Context& context) {
  node::DumpOptions options{.directory = arguments.directory, .group = {}};
  if (arguments.group) {
    const auto id = parse_u64(*arguments.group);
    if (!id) return base::fail(usage_error("--group is a number"));
    options.group = log::GroupId{*id};
  }
  DumpPrinter printer(arguments, context);
  if (const auto dumped = node::dump_log(options, printer); !dumped)
    return base::fail(to_error(dumped.error()));
  if (printer.damages() == 0) return {};
  return base::fail(CommandError{
      "damaged_log", fmt::format("{} damaged place{}: see the lines above", printer.damages(),
                                 printer.damages() == 1 ? "" : "s")});
}

}  // namespace cadastre::cli
