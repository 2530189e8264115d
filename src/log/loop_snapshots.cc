// Loop: snapshots to and from peers (section 7), old entries for slow ones, and what is kept for them.
//
//   leader     want ─► checkpoint by the applier ─► sealed ─► offered with the configuration of its own index ─► report
//   follower   message held ─► files staged ─► understood by the state machine ─► stepped ─► 1 log anew, synced
//              ─► 2 state switched ─► 3 cleared, synced ─► 4 the engine learns, and its answer leaves

#include <algorithm>
#include <utility>
#include <variant>

#include "base/check.h"
#include "log/loop.h"

namespace cadastre::log {
namespace {

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};

void count(Counter& counter) noexcept {
  counter.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

void Loop::heed_reader(base::Elapsed now) {
  for (Reader::Answer& answer : parts_.reader.take_finished()) {
    count(parts_.metrics.old_reads);
    old_entries_.add(std::move(answer), now);
  }
  for (const Reader::Answer& answer : old_entries_.take(now)) {
    const auto found = groups_.find(answer.request.group);
    if (found == groups_.end() || found->second->halted) continue;
    if (!answer.entries && answer.entries.error().code != LogReadError::kGone) {
      dead_.store(true);
      parts_.runner.fail_stop("the log could not be read: " + answer.entries.error().detail);
      return;
    }
    // Gone: it was truncated meanwhile, and the engine will want a snapshot.
    found->second->engine->replica()->fetched(
        answer.request.token, answer.entries ? *answer.entries : std::vector<Entry>{});
    touch(*found->second);
  }
}

void Loop::snapshot_reported(NodeId from, GroupId group, const SnapshotReport& report) {
  mail_->post_report({from, group, report});
}

void Loop::heed_snapshots(base::Elapsed now) {
  for (SnapshotMail::Letter& letter : mail_->take()) {
    std::visit(Overloaded{[&](SnapshotMail::Made& made) { on_made(std::move(made), now); },
                          [&](SnapshotMail::Staged& staged) { on_staged(std::move(staged)); },
                          [&](const SnapshotMail::Checked& checked) { on_checked(checked, now); },
                          [&](SnapshotMail::Switched& switched) {
                            clear_install(*groups_.at(switched.group));
                          },
                          [&](SnapshotMail::Reported& reported) {
                            on_reported(reported, now);
                          }},
               letter);
  }
}

// --- A leader's -----------------------------------------------------------------------------------------------

void Loop::pursue_offer(GroupLog& group, base::Elapsed now) {
  if (parts_.snapshotter == nullptr || group.leading == Term{0} || group.ended() || stopping_)
    return;
  switch (group.offer.next(group.retention.truncated(), now)) {
    case SnapshotOffer::Next::kNothing: return;
    case SnapshotOffer::Next::kMake:
      if (checkpoints_making_ < kCheckpointsMakingMax) make_checkpoint(group);
      return;
    case SnapshotOffer::Next::kOffer: break;
  }
  CheckpointManifest manifest = group.offer.checkpoint();
  // Not the engine's configuration, which may be ahead of the checkpoint (L-72).
  const ConfRecord* const conf = conf_at(group.confs, manifest.at.index);
  CAD_CHECK(conf != nullptr, "the history reaches back to where the log begins");
  manifest.summary = conf->context;  // raft-rs carries the members, and nothing beside them.
  group.engine->replica()->set_snapshot({manifest.at, conf->conf, encode_manifest(manifest)});
  group.offer.offered(now);
  count(parts_.metrics.snapshots_sent);
}

void Loop::make_checkpoint(GroupLog& group) {
  // Of each process its own: what a peer has staged of an earlier one is another checkpoint.
  const CheckpointName name{group.id, parts_.self,
                            CheckpointId{(parts_.run << 32U) | next_checkpoint_++}};
  ++checkpoints_making_;
  group.offer.making(group.applied);
  notices_.checkpoint_begun(group.id, group.applied);
  CheckpointFacts facts{
      .cluster = parts_.cluster, .group = group.id, .node = parts_.self, .id = name.id};
  SealDone sealed = [mail = mail_, name](base::Result<CheckpointManifest, SnapshotError> made) {
    mail->post_made(name, std::move(made));
  };
  CheckpointMarker marker{
      .to = parts_.snapshotter->place(name),
      .done = [snapshotter = parts_.snapshotter, facts = std::move(facts),
               sealed = std::move(sealed)](base::Result<Position, CheckpointError> made) mutable {
        if (!made) return sealed(base::fail(SnapshotError::kStorage, made.error().detail));
        facts.at = *made;
        snapshotter->seal(facts, std::move(sealed));
      }};
  std::vector<ApplyWork> work;
  work.emplace_back(std::move(marker));
  group.applier.push(std::move(work));
}

void Loop::on_made(SnapshotMail::Made letter, base::Elapsed now) {
  --checkpoints_making_;
  GroupLog& group = *groups_.at(letter.name.group);
  if (letter.manifest) {
    group.offer.made(*letter.manifest, now);
    count(parts_.metrics.snapshots_made);
    notices_.checkpoint_made(group.id, letter.manifest->at.index);
  } else {
    // Whatever of it was written goes: the next one has a place of its own.
    parts_.snapshotter->release(letter.name);
    group.offer.not_made(now);
    count(parts_.metrics.snapshots_failed);
    notices_.checkpoint_not_made(group.id, letter.manifest.error().detail);
  }
  touch(group);
}

void Loop::on_reported(const SnapshotMail::Reported& letter, base::Elapsed now) {
  const auto found = groups_.find(letter.group);
  if (found == groups_.end() || found->second->halted) return;
  GroupLog& group = *found->second;
  const SnapshotFate fate =
      letter.report.installed ? SnapshotFate::kInstalled : SnapshotFate::kFailed;
  if (fate == SnapshotFate::kFailed) count(parts_.metrics.snapshots_failed);
  group.offer.reported(letter.from, {letter.report.index, fate}, now);
  if (group.leading == Term{0}) return;
  group.engine->replica()->report_snapshot(letter.from, fate);
  touch(group);
}

// Who fetches, who has been silent for too long, and what nobody needs any more.
void Loop::keep_offer(GroupLog& group, base::Elapsed now) {
  Replica* const replica = group.engine->replica();
  if (parts_.snapshotter == nullptr || replica == nullptr) return;
  const auto last_read = [this](const CheckpointName& name) {
    return parts_.snapshotter->last_read(name);
  };
  if (group.leading != Term{0}) {
    for (const NodeId peer : group.offer.overdue(replica->progress(), last_read, now)) {
      count(parts_.metrics.snapshots_failed);
      group.offer.given_up(peer, now);
      replica->report_snapshot(peer, SnapshotFate::kFailed);
    }
    pursue_offer(group, now);
  }
  for (const CheckpointName& name : group.offer.take_expired(last_read, now)) {
    if (group.offer.is_on_offer(name)) replica->withdraw_snapshot();
    parts_.snapshotter->release(name);
  }
}

// What was sent to the peer lately may be lost, a manifest too (L-66): it is sent again when the peer is heard.
void Loop::give_up_fetch(GroupLog& group, NodeId peer) {
  Replica* const replica = group.engine->replica();
  const auto peers = replica->progress();
  const auto found = std::ranges::find(peers, peer, &PeerProgress::node);
  if (found == peers.end() || found->state != PeerState::kSnapshot) return;
  replica->report_snapshot(peer, SnapshotFate::kFailed);
}

// Up to where the log may go for the sake of peers (L-73, L-78).
Index Loop::truncation_limit(GroupLog& group, base::Elapsed now) {
  Replica* const replica = group.engine->replica();
  if (replica == nullptr) return group.last.index;
  if (group.install) return Index{0};
  const RetentionSettings& settings = parts_.settings.retention;
  const Index last = group.last.index;
  const bool leads = group.leading != Term{0};
  Index limit = group.applied;
  if (parts_.snapshotter == nullptr) {  // Nobody could be fed who lacks what is gone.
    if (!leads) return Index{0};
    for (const PeerProgress& peer : replica->progress())
      limit = std::min(limit, peer.match);
    return limit;
  }
  const auto behind = [&](std::uint64_t bytes) {
    return bytes == 0 ? last : group.retention.behind(bytes);
  };
  if (!leads) return std::min(limit, behind(settings.follower_trail_bytes));
  const Index by_count{last.value() - std::min(last.value(), settings.leader_trail_entries)};
  const Index trail = std::max(by_count, behind(settings.leader_trail_bytes));
  const Index lowest =
      group.trailing.lowest_match(replica->progress(), last, settings.peer_silent_after, now);
  limit = std::min(limit, std::max(lowest, trail));
  for (const auto kept :
       {group.offer.kept_above(now), group.offer.kept_for_fed(replica->progress(), trail, now)}) {
    if (kept && group.retention.bytes_above(*kept) <= settings.fetch_kept_bytes_max)
      limit = std::min(limit, *kept);
  }
  return limit;
}

// --- A follower's ---------------------------------------------------------------------------------------------

void Loop::hold_snapshot(GroupLog& group, const Frame& frame, base::Elapsed now) {
  if (parts_.snapshotter == nullptr) return;
  const auto head = group.engine->replica()->look(frame.body.bytes());
  CAD_CHECK(head.has_value(), "it was looked at when it arrived");
  auto manifest = decode_manifest(head->data);
  if (!manifest || manifest->cluster != parts_.cluster || manifest->group != group.id ||
      !(manifest->at == head->snapshot)) {
    return peers_.distrust(frame.from);
  }
  if (manifest->at.index <=
      group.engine->status().committed) {  // The engine says that it has that.
    peers_.step_snapshot(group, frame, now);
    touch(group);
    return;
  }
  if (group.hold.arrived({frame, *std::move(manifest)})) stage(group);
}

void Loop::stage(GroupLog& group) {
  const SnapshotHold::Message& message = group.hold.current()->message;
  notices_.snapshot_begun(group.id, message.manifest.node, message.manifest.at.index);
  parts_.snapshotter->stage(
      message.manifest,
      [mail = mail_, name = message.name()](base::Result<StagedCheckpoint, SnapshotError> staged) {
        mail->post(SnapshotMail::Staged{name, std::move(staged)});
      });
}

void Loop::on_staged(SnapshotMail::Staged letter) {
  GroupLog& group = *groups_.at(letter.name.group);
  SnapshotHold::Current* const held = group.hold.current();
  CAD_CHECK(held != nullptr && held->message.name() == letter.name, "one is staged at a time");
  if (!letter.checkpoint) return end_held(group, SnapshotFate::kFailed);
  held->staged = *std::move(letter.checkpoint);
  // Reads all the files, which is nothing for this thread; the state machine is the applier's.
  std::vector<ApplyWork> work;
  work.emplace_back(CheckMarker{
      *held->staged, [mail = mail_, name = letter.name](base::Result<void, InstallError> answer) {
        SnapshotMail::Checked checked{name, std::nullopt};
        if (!answer) checked.refused = std::move(answer.error().detail);
        mail->post(std::move(checked));
      }});
  group.applier.push(std::move(work));
}

// The log makes way for what the state machine will take, and for nothing else: an install that failed for lack of
// understanding would leave neither the old log nor a new state.
void Loop::on_checked(const SnapshotMail::Checked& letter, base::Elapsed now) {
  GroupLog& group = *groups_.at(letter.name.group);
  SnapshotHold::Current* const held = group.hold.current();
  CAD_CHECK(held != nullptr && held->message.name() == letter.name, "one is checked at a time");
  if (!letter.refused) {
    held->understood = true;
    return step_held(group, now);
  }
  if (parts_.logger != nullptr) {
    parts_.logger->warn("a snapshot was refused", {{"group", group.id},
                                                   {"source", letter.name.node},
                                                   {"index", held->staged->manifest.at.index},
                                                   {"reason", *letter.refused}});
  }
  end_held(group, SnapshotFate::kFailed);
}

void Loop::step_held(GroupLog& group, base::Elapsed now) {
  SnapshotHold::Current* const held = group.hold.current();
  if (held == nullptr || !held->understood || held->stepped || group.install || group.ended())
    return;
  held->stepped = true;
  peers_.step_snapshot(group, held->message.frame, now);
  touch(group);
}

// The engine has given out all it has: if no snapshot was among it, it had no use for it.
void Loop::settle_held(GroupLog& group) {
  const SnapshotHold::Current* const held = group.hold.current();
  if (held == nullptr || !held->stepped || group.install || group.conf_in_disk) return;
  const bool has_it = group.engine->status().committed >= held->message.manifest.at.index;
  end_held(group, has_it ? SnapshotFate::kInstalled : SnapshotFate::kFailed);
}

void Loop::end_held(GroupLog& group, SnapshotFate fate) {
  const SnapshotHold::Message& message = group.hold.current()->message;
  if (fate == SnapshotFate::kFailed) {
    count(parts_.metrics.snapshots_failed);
    notices_.snapshot_given_up(group.id, message.manifest.node, message.manifest.at.index);
  }
  report(group, message.manifest.node,
         {message.manifest.at.index, fate == SnapshotFate::kInstalled});
  if (group.hold.current()->staged) parts_.snapshotter->release_staged(message.name());
  if (group.hold.finish()) stage(group);
}

void Loop::report(const GroupLog& group, NodeId source, const SnapshotReport& report) {
  if (parts_.transport != nullptr) parts_.transport->send_snapshot_report(source, group.id, report);
}

// Step 1: in the next set the log begins anew at the snapshot, and says what is to be installed.
bool Loop::begin_install(GroupLog& group, const Snapshot& snapshot) {
  const SnapshotHold::Current* const held = group.hold.current();
  CAD_CHECK(held != nullptr && held->stepped, "a snapshot is stepped when its files are here");
  const CheckpointManifest& manifest = held->staged->manifest;
  if (!(manifest.at == snapshot.at)) {
    end_group(group, "a snapshot at " + to_string(snapshot.at) + " came with the files of one at " +
                         to_string(manifest.at));
    return false;
  }
  const PendingInstall pending{manifest.node, manifest.id, manifest.list_hash, manifest.at};
  filling_.install(group, {snapshot.at.index, snapshot.conf, held->message.manifest.summary},
                   pending);
  filling_notes_.installs.push_back(&group);
  group.install = Install{pending};
  skip_waiters(group, snapshot.at.index);
  return true;
}

// Whoever waits for what the snapshot skips does not learn what became of it (L-77).
void Loop::skip_waiters(GroupLog& group, Index upto) {
  const std::string reason = "a snapshot took the place of entry " + to_string(upto);
  for (EntryWaiters& waiters : group.waiters.take_skipped(upto)) {
    group.metrics.record(ProposeError::kOutcomeUnknown, waiters.done.size());
    group.queue.settled(amount_of(waiters));
    for (Done& done : waiters.done)
      done(base::fail(ProposeError::kOutcomeUnknown, reason));
  }
  if (group.conf_waiter && group.conf_waiter->at.index <= upto) {
    auto waiter = std::exchange(group.conf_waiter, std::nullopt);
    waiter->done(base::fail(ConfError::kOutcomeUnknown, reason));
  }
}

// A set that held a part of an install is synced.
void Loop::go_on_installing(GroupLog& group, base::Elapsed now) {
  if (group.install->step == Install::Step::kClearing) return finish_install(group, now);
  group.install->step = Install::Step::kSwitching;  // Step 2.
  group.applier.go_on(
      group.install->pending.at.index);  // It may stand before a change that is below.
  std::vector<ApplyWork> work;
  work.emplace_back(InstallMarker{*group.hold.current()->staged, [mail = mail_, id = group.id] {
                                    mail->post(SnapshotMail::Switched{id});
                                  }});
  group.applier.push(std::move(work));
}

// Step 3.
void Loop::clear_install(GroupLog& group) {
  group.install->step = Install::Step::kClearing;
  filling_.installed(group);
  filling_notes_.installs.push_back(&group);
}

// Step 4.
void Loop::finish_install(GroupLog& group, base::Elapsed now) {
  const PendingInstall done = std::exchange(group.install, std::nullopt)->pending;
  group.conf_shown = std::make_shared<const ConfRecord>(group.confs.back());
  release(group, group.held.installed());
  group.applied = std::max(group.applied, done.at.index);
  group.engine->on_applied(done.at.index);
  touch(group);
  count(parts_.metrics.snapshots_installed);
  notices_.snapshot_installed(group.id, done.source, done.at.index);
  if (group.hold.current() != nullptr && group.hold.current()->stepped)
    return end_held(group, SnapshotFate::kInstalled);
  // It was begun by an earlier process.
  report(group, done.source, {done.at.index, true});
  parts_.snapshotter->release_staged({group.id, done.source, done.checkpoint});
  step_held(group, now);
}

}  // namespace cadastre::log
