#include "log/notices.h"

#include <chrono>
#include <vector>

namespace cadastre::log {
namespace {

std::int64_t milliseconds(base::Elapsed time) noexcept {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

std::string list_of(const std::vector<NodeId>& nodes) {
  std::string text;
  for (const NodeId node : nodes) {
    if (!text.empty()) text += ',';
    text += to_string(node);
  }
  return text;
}

}  // namespace

std::string_view Notices::name_of(Kind kind) noexcept {
  switch (kind) {
    case Kind::kRole: return "role";
    case Kind::kMembership: return "membership";
    case Kind::kLease: return "lease";
    case Kind::kTruncation: return "truncation";
    case Kind::kSnapshot: return "snapshot";
    case Kind::kStall: return "stall";
    case Kind::kSync: return "sync";
  }
  return "none";
}

bool Notices::may(Kind kind) {
  if (!heard()) return false;
  const LinePace::Verdict verdict = paces_.at(static_cast<std::size_t>(kind)).ask(clock_.elapsed());
  if (verdict.left_out > 0) {
    logger_->warn("lines of the log were left out",
                  {{"kind", name_of(kind)}, {"lines", verdict.left_out}});
  }
  return verdict.write;
}

void Notices::halted(GroupId group, const std::string& reason) {
  if (!heard()) return;
  logger_->error("a group has halted here",
                 {{"group", group}, {"node", self_}, {"reason", reason}});
}

void Notices::role_changed(GroupId group, const EngineStatus& status) {
  if (!may(Kind::kRole)) return;
  logger_->info("role changed", {{"group", group},
                                 {"node", self_},
                                 {"role", log::name_of(status.role)},
                                 {"term", status.term},
                                 {"leader", status.leader}});
}

void Notices::membership_changed(GroupId group, const ConfRecord& conf) {
  if (!may(Kind::kMembership)) return;
  const std::string voters = list_of(conf.conf.voters);
  const std::string learners = list_of(conf.conf.learners);
  const std::string outgoing = list_of(conf.conf.voters_outgoing);
  logger_->info("membership changed", {{"group", group},
                                       {"node", self_},
                                       {"index", conf.index},
                                       {"voters", voters},
                                       {"learners", learners},
                                       {"outgoing", outgoing}});
}

void Notices::lease_on(GroupId group, base::Elapsed length) {
  if (!may(Kind::kLease)) return;
  logger_->info("reads by lease are on",
                {{"group", group}, {"node", self_}, {"lease_ms", milliseconds(length)}});
}

void Notices::truncated(GroupId group, Index upto, std::uint64_t bytes) {
  if (!may(Kind::kTruncation)) return;
  logger_->info("much of the log was truncated",
                {{"group", group}, {"node", self_}, {"upto", upto}, {"bytes", bytes}});
}

void Notices::log_is_large(GroupId group, std::uint64_t bytes, const Position& durable) {
  if (!may(Kind::kTruncation)) return;
  logger_->warn("the log of a group is large",
                {{"group", group}, {"node", self_}, {"bytes", bytes}, {"durable", durable.index}});
}

void Notices::checkpoint_begun(GroupId group, Index applied) {
  if (!may(Kind::kSnapshot)) return;
  logger_->info("checkpoint begun", {{"group", group}, {"node", self_}, {"applied", applied}});
}

void Notices::checkpoint_made(GroupId group, Index at) {
  if (!may(Kind::kSnapshot)) return;
  logger_->info("checkpoint made", {{"group", group}, {"node", self_}, {"index", at}});
}

void Notices::checkpoint_not_made(GroupId group, const std::string& reason) {
  if (!may(Kind::kSnapshot)) return;
  logger_->warn("checkpoint not made", {{"group", group}, {"node", self_}, {"reason", reason}});
}

void Notices::snapshot_begun(GroupId group, NodeId from, Index at) {
  if (!may(Kind::kSnapshot)) return;
  logger_->info("snapshot begun",
                {{"group", group}, {"node", self_}, {"from", from}, {"index", at}});
}

void Notices::snapshot_installed(GroupId group, NodeId from, Index at) {
  if (!may(Kind::kSnapshot)) return;
  logger_->info("snapshot installed",
                {{"group", group}, {"node", self_}, {"from", from}, {"index", at}});
}

void Notices::snapshot_given_up(GroupId group, NodeId from, Index at) {
  if (!may(Kind::kSnapshot)) return;
  logger_->warn("snapshot given up",
                {{"group", group}, {"node", self_}, {"from", from}, {"index", at}});
}

void Notices::stood_still(const Stall& stall) {
  if (!may(Kind::kStall)) return;
  logger_->warn("the log thread came late", {{"node", self_},
                                             {"gap_ms", milliseconds(stall.gap)},
                                             {"pass_ms", milliseconds(stall.took)},
                                             {"frames", stall.frames}});
}

void Notices::sync_late(base::Elapsed age) {
  if (!may(Kind::kSync)) return;
  logger_->warn("a sync has not come back", {{"node", self_}, {"ms", milliseconds(age)}});
}

void Notices::sync_ended(base::Elapsed took) {
  if (!may(Kind::kSync)) return;
  logger_->warn("a late sync came back", {{"node", self_}, {"ms", milliseconds(took)}});
}

}  // namespace cadastre::log
