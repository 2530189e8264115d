#include "cli/node_members.h"

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/result.h"
#include "base/signal.h"
#include "cli/command.h"
#include "cli/command_error.h"
#include "cli/coord_error.h"
#include "cli/json_answer.h"
#include "cli/node_commands.h"
#include "cli/options.h"
#include "cli/remote_access.h"
#include "cli/text_table.h"
#include "client/cluster_admin.h"
#include "client/member_steps.h"
#include "coord/errors.h"

namespace cadastre::cli {
namespace {

using client::ClusterAdmin;
using client::ClusterMembership;
using client::MemberId;
using client::MemberStep;

constexpr std::chrono::milliseconds kLookEvery{200};
// A change that is refused for now is asked for so often.
constexpr int kBusyLooksMax = 15;

CommandError from_admin(client::AdminError error) {
  return {std::move(error.code), std::move(error.detail), retry_of(error.retry)};
}

Result<std::unique_ptr<ClusterAdmin>, CommandError> open(const NodeArguments& arguments) {
  auto access = CAD_TRY(read_access(arguments.access));
  auto admin = ClusterAdmin::open({.address = arguments.server,
                                   .tls = std::move(access.tls),
                                   .token = std::move(access.token)});
  if (!admin) return base::fail(usage_error(admin.error().detail));
  return *std::move(admin);
}

std::string dash_or(const std::string& text) {
  return text.empty() ? "-" : text;
}

std::string table_of(const ClusterMembership& seen) {
  std::string text = fmt::format(
      "group {} of cluster {}: {}, term {}, entry {} committed, membership of entry {}{}{}\n",
      seen.group, seen.cluster,
      seen.leader == MemberId{0} ? "no leader" : fmt::format("node {} leads", seen.leader.value()),
      seen.term, seen.committed, seen.conf_index, seen.joint ? ", joint" : "",
      seen.conf_pending ? ", a change is under way" : "");
  if (seen.recovered)
    text += "recovered: it was continued without its quorum, and acknowledged writes may be lost\n";
  if (!seen.halted.empty())
    text += fmt::format("node {} does nothing here: {}\n", seen.node.value(), seen.halted);
  TextTable table({"node", "kind", "state", "match", "behind", "silent", "peer", "service"});
  for (const client::ClusterMemberView& member : seen.members) {
    const bool known = member.state != client::MemberState::kUnknown;
    const std::uint64_t behind = seen.last > member.match ? seen.last - member.match : 0;
    table.add({std::to_string(member.node.value()) + (member.node == seen.leader ? " *" : ""),
               std::string(name_of(member.kind)), std::string(name_of(member.state)),
               known ? std::to_string(member.match) : "-", known ? std::to_string(behind) : "-",
               member.silent_ms ? fmt::format("{} ms", *member.silent_ms) : "-",
               dash_or(member.peer_address), dash_or(member.service_address)});
  }
  return text + table.text();
}

Result<std::string, CommandError> json_of(const ClusterMembership& seen, KeyForm keys) {
  JsonAnswer answer(keys);
  answer.number("cluster", seen.cluster)
      .number("group", seen.group)
      .number("node", seen.node.value())
      .text("role", seen.role)
      .number("term", seen.term)
      .number("leader", seen.leader.value())
      .number("last", seen.last)
      .number("committed", seen.committed)
      .number("applied", seen.applied)
      .number("durable", seen.durable)
      .number("truncated", seen.truncated)
      .number("conf_index", seen.conf_index)
      .flag("pending_change", seen.conf_pending)
      .flag("joint", seen.joint)
      .flag("recovered", seen.recovered)
      .text("halted", seen.halted)
      .open_list("members");
  for (const client::ClusterMemberView& member : seen.members) {
    answer.open_element()
        .number("node", member.node.value())
        .text("kind", name_of(member.kind))
        .text("state", name_of(member.state))
        .number("match", member.match)
        .number_or_null("silent_ms", member.silent_ms)
        .flag("caught_up", member.caught_up)
        .text("peer", member.peer_address)
        .text("service", member.service_address)
        .close();
  }
  answer.close_list().open_list("removed");
  for (const MemberId node : seen.removed)
    answer.number_element(node.value());
  return std::move(answer.close_list()).finish();
}

Result<void, CommandError> print(const ClusterMembership& seen, Context& context) {
  const Form form = context.options.form;
  context.out.line(form.format == Format::kHuman ? table_of(seen)
                                                 : CAD_TRY(json_of(seen, form.keys)));
  return {};
}

// What is waited for, on standard error if a person looks at it.
class Progress {
 public:
  explicit Progress(Format format)
      : shown_(format == Format::kHuman && isatty(STDERR_FILENO) == 1) {}
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { clear(); }

  void tell(const std::string& text) {
    if (!shown_) return;
    clear();
    (void)std::fprintf(stderr, "%s", text.c_str());
    drawn_ = true;
  }

 private:
  void clear() {
    if (std::exchange(drawn_, false)) (void)std::fprintf(stderr, "\r\x1b[K");
  }

  const bool shown_;
  bool drawn_ = false;
};

// Whether the membership should be looked at again: another leader, another membership, or nobody for a moment.
bool passes_by_itself(const client::AdminError& error) {
  return error.code == "not_leader" || error.code == "no_leader" || error.code == "leader_away" ||
         error.code == "stale_membership" || error.code == "superseded" ||
         error.code == "outcome_unknown";
}

// Step by step until the wish is true. A refusal that time will not mend ends it.
Result<ClusterMembership, CommandError> fulfil(ClusterAdmin& admin,
                                               const client::Wish& wish,
                                               const NodeArguments& arguments,
                                               Context& context) {
  const base::Elapsed deadline =
      context.clock.elapsed() + std::chrono::seconds(arguments.timeout_seconds);
  Progress progress(context.options.form.format);
  base::Signal pause;  // Nobody raises it: it only passes the time.
  CommandError last{"timed_out", "the time was over before a node answered", Retry::kLater};
  int patience = kBusyLooksMax;
  for (;;) {
    auto seen = admin.membership(client::ViewOf::kLeader);
    if (!seen && !passes_by_itself(seen.error())) return base::fail(from_admin(seen.error()));
    if (!seen) last = from_admin(seen.error());
    if (seen) {
      const MemberStep step = next_step(*seen, wish);
      if (step.what == MemberStep::What::kDone) return *std::move(seen);
      if (step.what == MemberStep::What::kRefuse)
        return base::fail(CommandError{"invalid_change", step.why});
      if (step.what == MemberStep::What::kWait) {
        last = {"timed_out", "the time was over while " + step.why, Retry::kLater};
        progress.tell(step.why);
      }
      if (step.what == MemberStep::What::kAsk) {
        const auto changed = admin.change(step.request);
        if (changed) continue;
        // A learner that was close when it was looked at may be a little behind again.
        const bool votes = step.request.kind == client::ChangeKind::kPromote ||
                           step.request.kind == client::ChangeKind::kReplace;
        const bool gate = changed.error().code == "busy" && votes && --patience > 0;
        if (!passes_by_itself(changed.error()) && !gate)
          return base::fail(from_admin(changed.error()));
        last = from_admin(changed.error());
        progress.tell(last.detail);
      }
    }
    if (context.clock.elapsed() >= deadline) return base::fail(last);
    pause.wait_for(kLookEvery);
  }
}

Result<void, CommandError> fulfil_and_print(const client::Wish& wish,
                                            const NodeArguments& arguments,
                                            Context& context) {
  auto admin = CAD_TRY(open(arguments));
  return print(CAD_TRY(fulfil(*admin, wish, arguments, context)), context);
}

}  // namespace

Result<void, CommandError> run_node_status(const NodeArguments& arguments, Context& context) {
  auto admin = CAD_TRY(open(arguments));
  const auto seen =
      admin->membership(arguments.here ? client::ViewOf::kNode : client::ViewOf::kLeader);
  if (!seen) return base::fail(from_admin(seen.error()));
  return print(*seen, context);
}

Result<void, CommandError> run_node_add(const NodeArguments& arguments, Context& context) {
  return fulfil_and_print(
      {.kind = arguments.promote ? client::WishKind::kAddVoter : client::WishKind::kAdd,
       .node = MemberId{arguments.node},
       .peer_address = arguments.peer,
       .service_address = arguments.service,
       .force = arguments.force},
      arguments, context);
}

Result<void, CommandError> run_node_remove(const NodeArguments& arguments, Context& context) {
  return fulfil_and_print({.kind = client::WishKind::kRemove,
                           .node = MemberId{arguments.node},
                           .force = arguments.force},
                          arguments, context);
}

Result<void, CommandError> run_node_replace(const NodeArguments& arguments, Context& context) {
  return fulfil_and_print({.kind = client::WishKind::kReplace,
                           .node = MemberId{arguments.node},
                           .voter = MemberId{arguments.old_node},
                           .peer_address = arguments.peer,
                           .service_address = arguments.service},
                          arguments, context);
}

Result<void, CommandError> run_node_transfer(const NodeArguments& arguments, Context& context) {
  auto admin = CAD_TRY(open(arguments));
  const MemberId to{arguments.node};
  const base::Elapsed deadline =
      context.clock.elapsed() + std::chrono::seconds(arguments.timeout_seconds);
  auto seen = admin->membership(client::ViewOf::kLeader);
  if (!seen) return base::fail(from_admin(seen.error()));
  if (seen->leader != to) {
    const auto moved = admin->transfer(to, arguments.force);
    if (!moved) return base::fail(from_admin(moved.error()));
  }
  // The old leader knows that it leads no more; the new one says so a moment later.
  base::Signal pause;
  while (!seen || seen->leader != to) {
    if (context.clock.elapsed() >= deadline)
      return base::fail(CommandError{"timed_out", "another node leads: look again", Retry::kNow});
    pause.wait_for(kLookEvery);
    seen = admin->membership(client::ViewOf::kLeader);
  }
  return print(*seen, context);
}

}  // namespace cadastre::cli
