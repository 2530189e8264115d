// LogNode, second part: what it hears and says, letters of peers and requests of clients.

#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "log/frame_codec.h"
#include "sim/log/log_node.h"

namespace cadastre::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr std::uint64_t kLongPauseIn = 20;  // One reader by lease in so many is held up for long.
constexpr nanoseconds kLongPauseMost = milliseconds(1500);
constexpr nanoseconds kGhostMost = milliseconds(2000);

LogReply reply_of(std::uint64_t number, const log::Answer& answer) {
  if (answer) return {number, LogOutcome::kOk, decode_result(answer->result)};
  switch (answer.error().code) {
    case log::ProposeError::kNotLeader:
    case log::ProposeError::kOverloaded:
    case log::ProposeError::kTooLarge:
    case log::ProposeError::kStopped:
    case log::ProposeError::kSuperseded: return {number, LogOutcome::kRefused, std::nullopt};
    case log::ProposeError::kOutcomeUnknown: break;
  }
  return {number, LogOutcome::kUnknown, std::nullopt};
}

}  // namespace

void LogNode::on_frame(const StreamId& stream, base::Bytes frame) {
  if (!is_peer(stream.link.from)) return serve(stream.link.from, decode_request(frame));
  receive(stream.link.from, frame);
}

void LogNode::post(NodeId to, Lane lane, const base::Bytes& letter) {
  base::Bytes bytes =
      log::encode_preamble({.lane = lane == Lane::kBulk ? log::Lane::kBulk : log::Lane::kControl,
                            .cluster = kCluster,
                            .from = log::NodeId{options_.id.value()},
                            .to = log::NodeId{to.value()},
                            .incarnation = log::PeerIncarnation{counters_.starts}});
  bytes.insert(bytes.end(), letter.begin(), letter.end());
  ghosts_[to] = {lane, bytes};
  world_.network.send({{options_.id, to}, lane}, std::move(bytes));
}

// The network has held a copy of what the process before said last.
void LogNode::release_ghosts() {
  for (auto& [to, ghost] : std::exchange(ghosts_, {})) {
    world_.scheduler.after(kWorld, jitter(kGhostMost), [this, to, ghost] {
      world_.network.send({{options_.id, to}, ghost.lane}, ghost.letter);
    });
  }
}

void LogNode::receive(NodeId from, base::ByteView bytes) {
  const auto sender = admission_->admit(bytes.first(log::kPreambleBytes), {});
  if (!sender) {
    ++counters_.letters_refused;
    if (sender.error().code != server::PeerRefusal::kIncarnation)
      violate(fmt::format("it refuses node {}: {}", from.value(), name_of(sender.error().code)));
    return;
  }
  const PeerLetter letter = open_letter(bytes.subspan(log::kPreambleBytes));
  switch (letter.kind) {
    case PeerKind::kFrames: return take_frames(from, decode_frames(letter.body));
    case PeerKind::kNotHere: {
      const NotHereLetter told = decode_not_here(letter.body);
      return host_->not_wanted({told.group, log::NodeId{from.value()}, told.configuration});
    }
    case PeerKind::kReport: {
      const ReportLetter report = decode_report(letter.body);
      return host_->on_snapshot_report(log::NodeId{from.value()}, report.group, report.report);
    }
    case PeerKind::kPieceRequest:
      return carrier_->on_request(from, decode_piece_request(letter.body));
    case PeerKind::kPieceAnswer:
      carrier_->on_answer(decode_piece_answer(letter.body));
      return on_fed(Fed::kFetching);
  }
}

// A node that was removed is told so, as production does (L-90): nobody feeds it the entry that removed it.
void LogNode::take_frames(NodeId from, std::vector<log::Frame> frames) {
  const log::NodeId sender{from.value()};
  std::erase_if(frames, [&](const log::Frame& frame) {
    const HostedGroup& hosted = groups_.at(frame.group);
    if (!hosted.context.has_left(sender)) return false;
    if (not_here_->due({sender, frame.group}, clock_.elapsed())) {
      ++counters_.removals_told;
      post(from, Lane::kControl, encode(NotHereLetter{frame.group, hosted.conf->index}));
    }
    return true;
  });
  if (!frames.empty()) host_->on_frames(sender, std::move(frames));
}

void LogNode::on_reset(const StreamId& stream) {
  if (up() && is_peer(stream.link.to)) host_->on_unreachable(log::NodeId{stream.link.to.value()});
}

void LogNode::send(log::NodeId to, log::Lane lane, std::vector<log::Frame> frames) {
  for (const log::Frame& frame : frames)
    world_.oracle.sends(options_.id, frame, groups_.at(frame.group).disk.flushed.applied.index);
  const Lane by = lane == log::Lane::kBulk ? Lane::kBulk : Lane::kControl;
  post(NodeId{to.value()}, by, encode_frames(frames));
}

void LogNode::send_snapshot_report(log::NodeId to,
                                   log::GroupId group,
                                   const log::SnapshotReport& report) {
  post(NodeId{to.value()}, Lane::kControl, encode(ReportLetter{group, report}));
}

void LogNode::disconnect(log::NodeId peer) {
  violate("node " + to_string(peer) + " sent what no node of ours sends");
}

void LogNode::serve(NodeId client, const LogRequest& request) {
  const auto found = groups_.find(log::GroupId{request.group});
  CAD_CHECK(found != groups_.end(), "clients know the groups");
  HostedGroup& hosted = found->second;
  if (hosted.face == nullptr)
    return reply(client, {request.number, LogOutcome::kRefused, std::nullopt});
  if (request.kind == checkers::OpKind::kRead) return read(client, request, request.mode);
  const base::Bytes command = encode(RegisterCommand{request.number, request.kind, request.key,
                                                     request.expected, request.argument});
  const auto answered = [this, client, request, &hosted](const log::Answer& answer) {
    if (answer) {
      hosted.answered[request.number] = answer->at.index;
      if (replicated())
        world_.oracle.answered(options_.id, log::GroupId{request.group}, answer->at);
      ++counters_.executed;
      if (answer->at.index > hosted.synced)
        violate("a command was answered before its sync returned");
    }
    reply(client, reply_of(request.number, answer));
  };
  std::array proposals{log::Proposal{
      command, counted(log::GroupId{request.group}, CompletionKind::kCommand, answered)}};
  hosted.face->propose(proposals, log::Class::kUser);
}

void LogNode::read(NodeId client, const LogRequest& request, log::ReadMode mode) {
  HostedGroup& hosted = groups_.at(log::GroupId{request.group});
  const auto answered = [this, client, request, &hosted](const log::ReadAnswer& answer) {
    if (!answer) return reply(client, {request.number, LogOutcome::kRefused, std::nullopt});
    if (answer->lease) return read_by_lease(client, request, *answer);
    reply(client, {request.number, LogOutcome::kOk, hosted.machine->read(request.key)});
  };
  hosted.face->read_barrier(
      mode, counted(log::GroupId{request.group}, CompletionKind::kBarrier, answered));
}

// The reader's thread may be held up on its way to the snapshot, and on its way to the second look.
void LogNode::read_by_lease(NodeId client, const LogRequest& request, const log::ReadPoint& at) {
  const auto held_up = [this] {
    return jitter(random_.below(kLongPauseIn) == 0 ? kLongPauseMost : kStepDelayMost);
  };
  world_.scheduler.after(options_.id, held_up(), [this, client, request, at, held_up] {
    const HostedGroup& hosted = groups_.at(log::GroupId{request.group});
    const checkers::Value value = hosted.machine->read(request.key);
    world_.scheduler.after(options_.id, held_up(), [this, client, request, at, value] {
      const bool holds = groups_.at(log::GroupId{request.group}).face->still_holds(at);
      ++(holds ? counters_.lease_reads : counters_.lease_refusals);
      if (!holds) return read(client, request, log::ReadMode::kLinearizable);
      reply(client, {request.number, LogOutcome::kOk, value});
    });
  });
}

void LogNode::reply(NodeId client, const LogReply& reply) {
  world_.network.send({{options_.id, client}, Lane::kControl}, encode(reply));
}

}  // namespace cadastre::sim
