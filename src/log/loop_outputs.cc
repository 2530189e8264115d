// Loop: readers into engines, what engines ask for into sets and appliers, and housekeeping.

#include <algorithm>
#include <string>
#include <utility>

#include "base/check.h"
#include "log/cache_share.h"
#include "log/loop.h"

namespace cadastre::log {

void Loop::touch(GroupLog& group) {
  if (!std::exchange(group.touched, true)) with_output_.push_back(&group);
}

// A round may be answered in the pass that begins it: who was served by the last one goes now.
void Loop::begin_reads(base::Elapsed now) {
  CAD_CHECK(with_readers_.size() <= groups_.size(), "a group is looked at once, however many read");
  for (GroupLog* group : with_readers_)
    begin_reads(*group, now);
  std::erase_if(with_readers_, [](GroupLog* group) {
    group->has_readers = !group->reads.empty();
    return !group->has_readers;
  });
}

void Loop::begin_reads(GroupLog& group, base::Elapsed now) {
  heed_halt(group, now);
  if (group.ended()) return;
  if (group.engine->replica() != nullptr) {
    const EngineStatus status = group.engine->status();
    const bool leads = status.role == Role::kLeader;
    if (!leads) {
      for (ReadRounds::Reader& reader : group.reads.take_linearizable())
        reader.done(base::fail(ReadError::kNotLeader, "this node does not lead the group"));
    }
    // A leader serves nothing before an entry of its own term is applied (L-81).
    const bool opened =
        status.term_start != Index{0} && group.applier.applied() >= status.term_start;
    if (leads ? !opened : status.leader == kNoNode) return;
  }
  if (!group.reads.due()) return;
  parts_.metrics.read_rounds.fetch_add(1, std::memory_order_relaxed);
  if (group.lease) group.lease->lease.asked(next_read_, booted_);
  group.reads.begin(next_read_, now);
  group.engine->read_index({.node = parts_.self, .run = parts_.run, .sequence = next_read_++});
  touch(group);
}

void Loop::take_outputs(base::Elapsed now) {
  CAD_CHECK(with_output_.size() <= groups_.size(),
            "a group is looked at once, whatever touched it");
  for (GroupLog* group : std::exchange(with_output_, {})) {
    group->touched = false;
    if (filling_.bytes() >= kSetBytesMax) {
      touch(*group);  // Later.
      continue;
    }
    heed_halt(*group, now);
    // Nothing of the group leaves before its new configuration is durable (L-55).
    while (!group->halted && !group->conf_in_disk && group->engine->has_output())
      take_output(*group, now);
    if (!group->engine->has_output()) group->untaken_bytes = 0;
    if (!group->halted) {
      follow_leadership(*group, group->engine->status(), now);
      settle_held(*group);
      serve_wants(*group, now);
      pursue_offer(*group, now);
      note_applied(*group);
      finish_halt(*group);
    }
    publish(*group);
  }
  if (!to_wake_.empty()) parts_.runner.wake_appliers(to_wake_);
  to_wake_.clear();
}

void Loop::take_output(GroupLog& group, base::Elapsed now) {
  Output output = group.engine->take_output();
  const EngineStatus status = group.engine->status();
  follow_leadership(group, status, now);
  if (output.snapshot && !begin_install(group, *output.snapshot)) return;
  for (const PeerMessage& message : output.messages) {
    if (message.heartbeat) group.members.asked(message.to, now);
  }
  peers_.send(group, std::move(output.messages));
  filling_.add(group, output);
  if (output.must_sync) filling_notes_.outputs.emplace_back(&group, output.number);
  release(group, group.held.taken(output));
  const bool replicated = group.engine->replica() != nullptr;
  std::vector<ApplyWork> work;
  work.reserve(output.committed.size() + output.reads.size());
  for (Entry& entry : output.committed) {
    Waiters::Settled settled = group.waiters.settle(entry.at);
    if (!settled.applied.done.empty()) {
      group.metrics.commit_ns.record(
          static_cast<std::uint64_t>((now - settled.applied.proposed).count()));
      if (replicated) handover_.committed(settled.applied.done.size(), now);
    }
    settle_conf_waiter(group, entry);
    const bool acquires = status.role == Role::kLeader && entry.at.index == status.term_start;
    if (acquires) group.announced = status.term;
    work.emplace_back(ApplyItem{std::move(entry), std::move(settled.applied),
                                std::move(settled.superseded), now, acquires});
  }
  for (const ReadState& read : output.reads) {
    if (read.context.run != parts_.run) continue;
    if (group.lease) group.lease->lease.answered(read.context.sequence);
    std::vector<ReadRounds::Reader> readers = group.reads.answered(read.context.sequence);
    if (replicated && !readers.empty()) readers_.answered(readers.size(), now);
    for (ReadRounds::Reader& reader : readers)
      work.emplace_back(ReadBarrier{read.index, std::move(reader.done)});
  }
  if (group.applier.push_quietly(std::move(work))) to_wake_.push_back(group.id);
}

// Entries that a slow peer needs and that are no longer in memory (L-39), and snapshots (L-40).
void Loop::serve_wants(GroupLog& group, base::Elapsed now) {
  Replica* const replica = group.engine->replica();
  if (replica == nullptr || group.leading == Term{0}) return;
  const Wants wants = replica->take_wants();
  for (const EntriesWant& want : wants.entries) {
    const Index high{want.high.value() - 1};
    const Reader::Request request{group.id, group.incarnation, want.low, high, want.token};
    if (!old_entries_.serve(request, now)) parts_.reader.ask(request);
  }
  for (const SnapshotWant& want : wants.snapshots)
    group.offer.wanted(want.peer, std::max(want.least, member_since(group.confs, want.peer)));
}

void Loop::note_applied(GroupLog& group) {
  const Index applied = group.applier.applied();
  if (applied <= group.applied) return;
  // The position of a snapshot is told when its install is over (7.3).
  if (group.install && applied >= group.install->pending.at.index) return;
  group.applied = applied;
  group.engine->on_applied(applied);
}

void Loop::publish(GroupLog& group) {
  const EngineStatus engine = group.engine->status();
  tend_lease(group, engine);
  note_leader(group, engine);
  if (notices_.heard() && group.engine->replica() != nullptr) tell_role(group, engine);
  group.board.publish({.role = engine.role,
                       .term = engine.term,
                       .leader = group.ended() ? kNoNode : engine.leader,
                       .term_start = engine.term_start,
                       .last = engine.last,
                       .persisted = engine.persisted,
                       .committed = engine.committed,
                       .applied = {},
                       .durable = {},
                       .truncated = group.retention.truncated(),
                       .conf = group.conf_shown,
                       .conf_pending = group.conf_waiter || group.conf_in_disk,
                       .members = group.members_shown,
                       .log_bytes = group.retention.bytes(),
                       .halted = group.halted_why});
  if (parts_.membership != nullptr && group.conf_told != group.conf_shown) {
    group.conf_told = group.conf_shown;
    parts_.membership->on_membership(group.id, group.conf_told);
  }
}

void Loop::note_leader(GroupLog& group, const EngineStatus& status) {
  const bool led = status.leader != kNoNode || status.role == Role::kLeader;
  if (!led || group.led_in == status.term) return;
  group.led_in = status.term;
  group.metrics.leader_changes.fetch_add(1, std::memory_order_relaxed);
}

// A role, and of a follower its leader.
void Loop::tell_role(GroupLog& group, const EngineStatus& status) {
  const bool follows_another = status.leader != kNoNode && status.leader != group.leader_told;
  if (group.ended() || (group.role_told == status.role && !follows_another)) return;
  group.role_told = status.role;
  group.leader_told = status.leader;
  notices_.role_changed(group.id, status);
}

// What this pass knows of the group's lease, before any message of it leaves (8.3).
void Loop::tend_lease(GroupLog& group, const EngineStatus& status) {
  if (!group.lease) return;
  Lease& lease = group.lease->lease;
  const bool leads = status.role == Role::kLeader && !group.ended() && !stopping_;
  lease.look(booted_);
  lease.lead(leads ? status.term : Term{0});
  if (status.term_start != Index{0} && group.applier.applied() >= status.term_start) lease.open();
  lease.committed(status.committed);
  group.lease->board.show(lease, status.committed);
}

void Loop::keep_house(base::Elapsed now) {
  watch_sync(now);
  heed_space();
  if (now - house_kept_ < parts_.settings.housekeeping_every) return;
  house_kept_ = now;
  for (const auto& [id, group] : groups_)
    keep_group(*group, now);
  keep_caches();
  retreat(now);
  if (parts_.storage.usage().disk_bytes <= parts_.settings.log_bytes_max) return;
  GroupLog* const oldest = holds_most_back();
  if (oldest == nullptr) return;
  std::vector<ApplyWork> work;
  work.emplace_back(DurablePoll{.flush = true});
  oldest->applier.push(std::move(work));
}

// The group whose state would free most of the log by a flush (L-26); nothing: every state is flushed.
GroupLog* Loop::holds_most_back() {
  GroupLog* most = nullptr;
  std::uint64_t most_bytes = 0;
  for (const auto& [id, group] : groups_) {
    const Applier::Progress progress = group->applier.progress();
    if (progress.durable.index >= progress.applied.index) continue;
    const std::uint64_t bytes = group->retention.bytes_above(progress.durable.index);
    if (most != nullptr && bytes <= most_bytes) continue;
    most = group;
    most_bytes = bytes;
  }
  return most;
}

// What engines have in memory below what is applied: the newest, within the bounds of a group and of the node (L-38).
void Loop::keep_caches() {
  std::vector<std::uint64_t> below;
  for (const GroupLog* group : replicated_) {
    const std::uint64_t above = group->retention.cost_above(group->applied, group->last.index);
    const std::uint64_t cached = group->engine->replica()->cache_bytes();
    below.push_back(cached - std::min(cached, above));
  }
  const std::uint64_t share = cache_share(below, {kCacheBytesMax, kNodeCacheBytesMax});
  std::uint64_t kept = 0;
  for (std::size_t i = 0; i < below.size(); ++i) {
    GroupLog& group = *replicated_[i];
    Replica& replica = *group.engine->replica();
    if (!group.halted && below[i] > share)
      replica.shrink_cache(group.retention.newest_within(share, group.applied));
    kept += replica.cache_bytes();
  }
  parts_.metrics.cache_bytes.store(kept, std::memory_order_relaxed);
}

// True when the group's log has come to be above its soft limit: an operator is told, once (L-47).
bool Loop::grew_large(GroupLog& group, const Applier::Progress& progress) {
  const std::uint64_t bytes = group.retention.bytes();
  const bool before = std::exchange(group.large_told, bytes > parts_.settings.group_log_bytes_soft);
  if (before || !group.large_told) return false;
  notices_.log_is_large(group.id, bytes, progress.durable);
  return true;
}

void Loop::keep_group(GroupLog& group, base::Elapsed now) {
  heed_halt(group, now);
  if (group.ended()) return;
  note_applied(group);
  const Applier::Progress progress = group.applier.progress();
  const Retention::Progress positions{progress.applied, progress.durable};
  keep_offer(group, now);
  if (const auto upto = group.retention.truncation(positions, truncation_limit(group, now), now)) {
    const auto at = group.terms.at(*upto);
    CAD_CHECK(at.has_value(), "what is truncated is in the log");
    filling_.truncate(group, *at);
    const std::uint64_t bytes_before = group.retention.bytes();
    group.retention.truncated(*upto, now);
    const std::uint64_t gone = bytes_before - group.retention.bytes();
    if (gone > parts_.settings.truncation_told) notices_.truncated(group.id, *upto, gone);
    group.engine->on_truncated(*at);
    parts_.metrics.truncations.fetch_add(1, std::memory_order_relaxed);
  }
  if (group.engine->replica() != nullptr) filling_.keep_commit(group);
  group.queue.refuse_users(users_refused(group));
  const bool flush = group.retention.wants_flush(positions, now) || grew_large(group, progress);
  if (progress.durable.index < progress.applied.index) {
    std::vector<ApplyWork> work;
    work.emplace_back(DurablePoll{.flush = flush});
    group.applier.push(std::move(work));
  }
  publish(group);
}

}  // namespace cadastre::log
