#include "node/recover.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/blake3.h"
#include "base/bytes.h"
#include "base/endian.h"
#include "base/result.h"
#include "log/conf_body.h"
#include "log/conf_context.h"
#include "log/conf_state.h"
#include "log/engine.h"
#include "log/entry.h"
#include "log/recovery.h"
#include "log/storage.h"
#include "log/types.h"
#include "node/closed_group.h"
#include "node/node_seal.h"

namespace cadastre::node {
namespace {

using Groups = std::vector<std::unique_ptr<ClosedGroup>>;  // By node.
using Done = base::Result<void, ClosedError>;

base::Result<Groups, ClosedError> open_all(const std::vector<std::filesystem::path>& directories,
                                           log::GroupId group) {
  Groups groups;
  for (const std::filesystem::path& directory : directories) {
    const auto seal = load_seal(directory);
    if (!seal) return base::fail(translated(seal.error().code), seal.error().detail);
    if (!*seal) {
      return base::fail(ClosedError::kForeign,
                        directory.string() + " is no directory of a cluster's node");
    }
    groups.push_back(
        CAD_TRY(ClosedGroup::open(directory, {{(*seal)->cluster, (*seal)->node}}, group)));
    const log::GroupImage& image = groups.back()->image();
    if (image.engine != log::EngineKind::kRaft || image.removed || image.confs.empty()) {
      return base::fail(ClosedError::kRefused,
                        fmt::format("{} has no replicated group {}, or was removed from it",
                                    directory.string(), group.value()));
    }
  }
  if (groups.empty()) return base::fail(ClosedError::kRefused, "name the survivors' directories");
  std::ranges::sort(groups, {}, [](const auto& each) { return each->owner().node; });
  for (std::size_t i = 1; i < groups.size(); ++i) {
    if (groups[i]->owner().cluster != groups[0]->owner().cluster) {
      return base::fail(ClosedError::kRefused, "the directories are those of two clusters");
    }
    if (groups[i]->owner().node == groups[i - 1]->owner().node) {
      return base::fail(ClosedError::kRefused,
                        fmt::format("node {} is named twice", groups[i]->owner().node.value()));
    }
  }
  return groups;
}

// (last term, last index): a log that is higher has every entry that was committed and that a lower one has.
bool lower(const log::Position& a, const log::Position& b) noexcept {
  return a.term != b.term ? a.term < b.term : a.index < b.index;
}

ClosedGroup& highest_of(const Groups& groups) {
  return **std::ranges::max_element(
      groups, [](const auto& a, const auto& b) { return lower(a->image().last, b->image().last); });
}

ClosedGroup* find(const Groups& groups, log::NodeId node) {
  const auto found =
      std::ranges::find(groups, node, [](const auto& each) { return each->owner().node; });
  return found == groups.end() ? nullptr : found->get();
}

const log::ConfRecord& newest_conf(const Groups& groups) {
  const log::ConfRecord* newest = nullptr;
  for (const auto& group : groups) {
    const log::ConfRecord& record = group->image().confs.back();
    if (newest == nullptr || record.index > newest->index) newest = &record;
  }
  return *newest;
}

base::Result<std::string, ClosedError> digest_of(ClosedGroup& group,
                                                 log::Index after,
                                                 log::Index upto) {
  base::Bytes summed;
  base::Blake3Digest digest{};
  for (log::Index next = after + 1; next <= upto;) {
    for (const log::Entry& entry : CAD_TRY(group.read(next, upto))) {
      summed.assign(digest.begin(), digest.end());
      const std::size_t at = summed.size();
      summed.resize(at + 17);
      base::store_le(&summed[at], entry.at.term.value());
      base::store_le(&summed[at + 8], entry.at.index.value());
      summed[at + 16] = static_cast<std::byte>(entry.type);
      const base::ByteView body = entry.body.bytes();
      summed.insert(summed.end(), body.begin(), body.end());
      digest = base::blake3(summed);
      next = entry.at.index + 1;
    }
  }
  return base::to_hex(digest);
}

base::Result<Survey, ClosedError> survey(const Groups& groups) {
  Survey out{.cluster = groups[0]->owner().cluster,
             .group = groups[0]->image().group,
             .highest = highest_of(groups).owner().node,
             .digest_upto = groups[0]->image().state.commit};
  for (const auto& group : groups) {
    const log::GroupImage& image = group->image();
    out.survivors.push_back({.directory = group->directory(),
                             .node = group->owner().node,
                             .last = image.last,
                             .term = image.state.term,
                             .commit = image.state.commit,
                             .conf_index = image.confs.back().index,
                             .voters = image.confs.back().conf.voters,
                             .recovered = log::context_of(image.confs.back()).recovered});
    out.digest_after = std::max(out.digest_after, image.truncated.index);
    out.digest_upto = std::min(out.digest_upto, image.state.commit);
  }
  for (const auto& group : groups) {
    std::string digest = CAD_TRY(digest_of(*group, out.digest_after, out.digest_upto));
    if (!out.digest.empty() && digest != out.digest) {
      return base::fail(ClosedError::kDamaged,
                        fmt::format("node {} has other committed entries than node {}: one of "
                                    "them is damaged",
                                    group->owner().node.value(), groups[0]->owner().node.value()));
    }
    out.digest = std::move(digest);
  }
  return out;
}

Done check(const Groups& groups, const Recovery& recovery, const ClosedGroup& best) {
  const ClosedGroup* const named = find(groups, recovery.highest);
  if (named == nullptr || lower(named->image().last, best.image().last)) {
    return base::fail(ClosedError::kRefused,
                      fmt::format("the survivor with the highest position is node {}, at {}: name "
                                  "it, if that is what you want to continue with",
                                  best.owner().node.value(), to_string(best.image().last)));
  }
  if (std::ranges::find(recovery.keep, recovery.highest) == recovery.keep.end()) {
    return base::fail(ClosedError::kRefused,
                      fmt::format("node {} has most and must be kept", recovery.highest.value()));
  }
  for (const log::NodeId node : recovery.keep) {
    if (find(groups, node) == nullptr) {
      return base::fail(
          ClosedError::kRefused,
          fmt::format("node {} is to be kept, and its directory is not named", node.value()));
    }
  }
  return {};
}

// Whether an earlier call has made the configuration and did not reach everybody.
bool is_unfinished(const Groups& groups, const std::vector<log::NodeId>& keep) {
  const log::ConfRecord& newest = newest_conf(groups);
  return log::context_of(newest).recovered && newest.conf.voters == keep &&
         newest.index == highest_of(groups).image().last.index;
}

Done check_loss(const Groups& groups, const std::vector<log::NodeId>& keep) {
  for (const auto& list :
       {newest_conf(groups).conf.voters, newest_conf(groups).conf.voters_outgoing}) {
    const auto kept = std::ranges::count_if(
        list, [&](log::NodeId node) { return std::ranges::find(keep, node) != keep.end(); });
    if (2 * static_cast<std::size_t>(kept) <= list.size() && !list.empty()) return {};
  }
  return base::fail(ClosedError::kRefused,
                    "those who are kept are a quorum: start them, nothing has to be recovered");
}

struct Continuation {
  log::Entry entry;
  log::ConfRecord record;
};

base::Result<Continuation, ClosedError> continue_with(const Groups& groups,
                                                      const ClosedGroup& best,
                                                      const std::vector<log::NodeId>& keep) {
  log::Term term{};
  for (const auto& group : groups)
    term = std::max({term, group->image().state.term, group->image().last.term});
  const log::ConfRecord& before = newest_conf(groups);
  log::ConfContext context = log::context_of(before);
  context.recovered = true;
  for (const auto& list : {before.conf.voters, before.conf.learners, before.conf.voters_outgoing,
                           before.conf.learners_next}) {
    for (const log::NodeId node : list) {
      if (std::ranges::find(keep, node) == keep.end() && !context.has_left(node))
        context.removed.insert(std::ranges::lower_bound(context.removed, node), node);
    }
  }
  if (context.removed.size() > log::kRemovedMax) {
    return base::fail(ClosedError::kRefused,
                      fmt::format("{} nodes would have left the group, and it remembers {}: keep "
                                  "more of them, or begin a new cluster",
                                  context.removed.size(), log::kRemovedMax));
  }
  std::erase_if(context.addresses,
                [&](const log::PeerAddress& each) { return context.has_left(each.node); });
  const log::Position at{log::Term{term.value() + 1}, best.image().last.index + 1};
  base::Bytes bytes = log::encode_conf_context(context);
  log::Entry entry{at, log::EntryType::kConfChange, log::join_conf_body({{}, bytes})};
  return Continuation{std::move(entry), {at.index, {.voters = keep}, std::move(bytes)}};
}

// The log of `best` in place of whatever `group` has beyond what it knows to be committed.
Done copy_log(ClosedGroup& group, ClosedGroup& best) {
  const log::Index commit = group.image().state.commit;
  const auto ours = log::term_at(group.image(), commit);
  const auto theirs = log::term_at(best.image(), commit);
  if (!theirs || ours != theirs) {
    return base::fail(ClosedError::kRefused,
                      fmt::format("node {} is too far behind node {}: leave it out, and let it "
                                  "join again under a new raft_id",
                                  group.owner().node.value(), best.owner().node.value()));
  }
  const log::Index last = best.image().last.index;
  for (log::Index next = commit + 1; next <= last;) {
    log::GroupWrite write;
    write.entries = CAD_TRY(best.read(next, last));
    next = write.entries.back().at.index + 1;
    write.state = group.image().state;
    write.state->term = std::max(write.state->term, write.entries.back().at.term);
    CAD_TRY(group.write(std::move(write)));
  }
  return {};
}

Done finish(ClosedGroup& group, const Continuation& continuation) {
  log::GroupWrite write;
  if (group.image().last.index < continuation.entry.at.index)
    write.entries.push_back(continuation.entry);
  write.confs.push_back(continuation.record);
  write.state = log::HardState{
      .term = continuation.entry.at.term, .vote = {}, .commit = continuation.entry.at.index};
  return group.write(std::move(write));
}

// Of a recovery that was killed on its way, or of a new one.
base::Result<Continuation, ClosedError> continuation_of(const Groups& groups,
                                                        ClosedGroup& best,
                                                        const std::vector<log::NodeId>& keep) {
  if (!is_unfinished(groups, keep)) {
    CAD_TRY(check_loss(groups, keep));
    return continue_with(groups, best, keep);
  }
  const log::Index last = best.image().last.index;
  const std::vector<log::Entry> entries = CAD_TRY(best.read(last, last));
  return Continuation{entries.front(), newest_conf(groups)};
}

}  // namespace

base::Result<Survey, ClosedError> survey_survivors(
    const std::vector<std::filesystem::path>& directories, log::GroupId group) {
  return survey(CAD_TRY(open_all(directories, group)));
}

base::Result<log::Position, ClosedError> recover_group(
    const std::vector<std::filesystem::path>& directories,
    log::GroupId group,
    const Recovery& recovery) {
  const Groups groups = CAD_TRY(open_all(directories, group));
  (void)CAD_TRY(survey(groups));  // Damage shows before anything is written.
  ClosedGroup& best = highest_of(groups);
  CAD_TRY(check(groups, recovery, best));
  std::vector<log::NodeId> keep = recovery.keep;
  std::ranges::sort(keep);
  keep.erase(std::ranges::unique(keep).begin(), keep.end());
  const Continuation continuation = CAD_TRY(continuation_of(groups, best, keep));
  for (const log::NodeId node : keep) {
    ClosedGroup& each = *find(groups, node);
    const bool done = each.image().confs.back() == continuation.record;
    if (!done && &each != &best) CAD_TRY(copy_log(each, best));
  }
  for (const log::NodeId node : keep) {
    ClosedGroup& each = *find(groups, node);
    if (!(each.image().confs.back() == continuation.record)) CAD_TRY(finish(each, continuation));
  }
  return continuation.entry.at;
}

}  // namespace cadastre::node
