#include "log/peers.h"

#include "base/check.h"
#include "log/limits.h"
#include "log/replica.h"

namespace cadastre::log {
namespace {

void count(Counter& counter) noexcept {
  counter.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

bool Peers::tick_due(base::Elapsed now) noexcept {
  if (now < next_tick_) return false;
  next_tick_ = now + settings_.tick;
  return true;
}

// A node that is no member as far as is known here may lead by a newer membership, or ask for votes by it; it has nothing
// else to say (L-68).
bool Peers::is_strangers(const GroupLog& group, const MessageHead& head) {
  if (head.kind != MessageKind::kOther && head.kind != MessageKind::kHeartbeatAnswer) return false;
  return group.confs.empty() || !group.confs.back().conf.has(head.from);
}

bool Peers::admits(GroupLog& group,
                   const MessageHead& head,
                   std::size_t frame_bytes,
                   base::Elapsed now) {
  if (is_strangers(group, head)) {
    count(metrics_.frames_of_strangers);
    return false;
  }
  if (group.guard->drops(head, now)) {
    count(metrics_.votes_dropped);
    return false;
  }
  if (head.kind != MessageKind::kAppend || head.entries == 0) return true;
  const std::size_t bytes = frame_bytes + head.entries * kEntryRecordBytes;
  const Applier::Backlog backlog = group.applier.backlog();
  const bool fits = group.untaken_bytes == 0 || group.untaken_bytes + bytes <= kUntakenBytesMax;
  if (!refusing_ && fits && backlog.entries < kApplyQueueEntriesMax &&
      backlog.bytes < kApplyQueueBytesMax) {
    group.untaken_bytes += bytes;
    return true;
  }
  count(metrics_.appends_refused);
  return false;
}

Peers::Received Peers::receive(GroupLog& group, const Frame& frame, base::Elapsed now) {
  Replica* const replica = group.engine->replica();
  if (group.halted || replica == nullptr || frame.to != self_) return Received::kDropped;
  const auto head = replica->look(frame.body.bytes());
  if (!head || head->from != frame.from) {
    distrust(frame.from);
    return Received::kDropped;
  }
  if (!admits(group, *head, frame.body.size(), now)) return Received::kDropped;
  if (head->kind == MessageKind::kSnapshot) return Received::kSnapshot;
  return step(group, *head, frame, now) ? Received::kStepped : Received::kDropped;
}

void Peers::step_snapshot(GroupLog& group, const Frame& frame, base::Elapsed now) {
  const auto head = group.engine->replica()->look(frame.body.bytes());
  CAD_CHECK(head && head->kind == MessageKind::kSnapshot, "it was looked at when it arrived");
  (void)step(group, *head, frame, now);  // Ignored: what comes out of the engine tells.
}

bool Peers::step(GroupLog& group, const MessageHead& head, const Frame& frame, base::Elapsed now) {
  const Term term = group.engine->status().term;
  const auto stepped = group.engine->replica()->step(frame.body.bytes());
  if (!stepped && stepped.error().code == StepError::kMalformed) {
    distrust(frame.from);
    return false;
  }
  group.guard->stepped(head, term, now);
  group.members.heard(frame.from, now);
  if (head.kind == MessageKind::kHeartbeatAnswer) group.members.answered(frame.from, now);
  return true;
}

void Peers::distrust(NodeId peer) {
  count(metrics_.frames_malformed);
  if (transport_ != nullptr) transport_->disconnect(peer);
}

void Peers::send(const GroupLog& group, std::vector<PeerMessage> messages) {
  for (PeerMessage& message : messages) {
    outgoing_[{message.to, message.lane}].push_back(
        {group.id, self_, message.to, std::move(message.bytes)});
  }
}

void Peers::flush() {
  if (outgoing_.empty()) return;
  for (auto& [key, frames] : std::exchange(outgoing_, {})) {
    if (transport_ != nullptr) transport_->send(key.first, key.second, std::move(frames));
  }
}

}  // namespace cadastre::log
