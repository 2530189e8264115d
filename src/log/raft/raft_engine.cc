#include "log/raft/raft_engine.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "base/endian.h"
#include "log/conf_body.h"
#include "log/limits.h"
#include "log/raft/raft_image.h"

namespace cadastre::log {
namespace {

// Of eraftpb.MessageType.
constexpr std::uint32_t kMsgAppend = 3;
constexpr std::uint32_t kMsgRequestVote = 5;
constexpr std::uint32_t kMsgSnapshot = 7;
constexpr std::uint32_t kMsgHeartbeat = 8;
constexpr std::uint32_t kMsgHeartbeatResponse = 9;
constexpr std::uint32_t kMsgRequestPreVote = 17;

constexpr std::size_t kContextBytes = 24;
static_assert(kContextBytes <= CAD_READ_CONTEXT_BYTES_MAX, "a peer takes the reads of this node");
static_assert(kMembersMax <= CAD_MEMBERS_MAX, "a peer takes the configurations of this node");

std::array<std::byte, kContextBytes> encode_context(const ReadContext& context) noexcept {
  std::array<std::byte, kContextBytes> bytes{};
  base::store_le(bytes.data(), context.node.value());
  base::store_le(bytes.data() + 8, context.run);
  base::store_le(bytes.data() + 16, context.sequence);
  return bytes;
}

// Nothing: an answer of a peer to a read that nobody began.
std::optional<ReadContext> decode_context(ByteView bytes) {
  if (bytes.size() != kContextBytes) return std::nullopt;
  return ReadContext{.node = NodeId{base::load_le<std::uint64_t>(bytes.data())},
                     .run = base::load_le<std::uint64_t>(bytes.data() + 8),
                     .sequence = base::load_le<std::uint64_t>(bytes.data() + 16)};
}

MessageKind kind_of(std::uint32_t type) noexcept {
  switch (type) {
    case kMsgAppend: return MessageKind::kAppend;
    case kMsgHeartbeat: return MessageKind::kHeartbeat;
    case kMsgHeartbeatResponse: return MessageKind::kHeartbeatAnswer;
    case kMsgSnapshot: return MessageKind::kSnapshot;
    case kMsgRequestVote:
    case kMsgRequestPreVote: return MessageKind::kVoteRequest;
    default: return MessageKind::kOther;
  }
}

Role role_of(std::uint32_t role) noexcept {
  switch (role) {
    case CAD_ROLE_PRE_CANDIDATE: return Role::kPreCandidate;
    case CAD_ROLE_CANDIDATE: return Role::kCandidate;
    case CAD_ROLE_LEADER: return Role::kLeader;
    case CAD_ROLE_LEARNER: return Role::kLearner;
    default: return Role::kFollower;
  }
}

std::vector<PeerMessage> messages_of(const std::shared_ptr<const void>& owner,
                                     const cad_message* views,
                                     std::size_t count) {
  std::vector<PeerMessage> messages;
  messages.reserve(count);
  for (const cad_message& view : std::span(views, count)) {
    const bool bulk = view.type == kMsgAppend || view.type == kMsgSnapshot;
    messages.push_back({NodeId{view.to}, bulk ? Lane::kBulk : Lane::kControl,
                        body_of(owner, view.bytes), view.type == kMsgHeartbeat});
  }
  return messages;
}

}  // namespace

bool has_raft_engine() noexcept {
  return true;
}

base::Result<std::unique_ptr<Engine>, OpenError> open_raft_engine(const RaftParts& parts) {
  return RaftEngine::open(parts);
}

RaftEngine::RaftEngine(const RaftParts& parts)
    : group_(parts.image.group),
      incarnation_(parts.image.incarnation),
      self_(parts.self),
      storage_(parts.storage),
      runner_(parts.runner),
      logger_(parts.logger),
      sync_reads_(parts.sync_reads),
      crashes_(parts.crashes) {}

base::Result<std::unique_ptr<Engine>, OpenError> RaftEngine::open(const RaftParts& parts) {
  std::unique_ptr<RaftEngine> engine(new RaftEngine(parts));
  CAD_TRY(engine->create(parts));
  const ConfState& conf = parts.image.confs.back().conf;
  const bool alone = conf.voters == std::vector{parts.self} && !conf.joint();
  if (alone) (void)cad_raft_campaign(engine->raft_.get());  // Refused: its ticks will.
  return engine;
}

base::Result<void, OpenError> RaftEngine::create(const RaftParts& parts) {
  const RaftImage image = CAD_TRY(RaftImage::read(parts));
  const cad_callbacks callbacks{this, &RaftEngine::read, &RaftEngine::write_line};
  cad_raft* raft = nullptr;
  const cad_config config = image.config(parts);
  if (cad_raft_create(&config, &callbacks, &raft) != CAD_OK) {
    return base::fail(OpenError::kDamaged,
                      fmt::format("group {}: its records contradict each other: look at them with "
                                  "`cadastre log dump`, remove the node from the group, and join "
                                  "with an empty directory and a new raft_id",
                                  group_.value()));
  }
  raft_.reset(raft);
  return {};
}

cad_result RaftEngine::read(void* self,
                            std::uint64_t low,
                            std::uint64_t high,
                            std::uint64_t bytes_max,
                            cad_entries** out) noexcept {
  const RaftEngine& engine = *static_cast<RaftEngine*>(self);
  if (engine.sync_reads_ != nullptr) engine.sync_reads_->fetch_add(1, std::memory_order_relaxed);
  const auto entries = engine.storage_.read(engine.group_, engine.incarnation_, Index{low},
                                            Index{high - 1}, bytes_max);
  // Not left to raft-rs, whose panic would count against the group (L-36): it is the disk that failed.
  if (!entries) engine.runner_.fail_stop("the log could not be read: " + entries.error().detail);
  if (!entries) return CAD_DROPPED;
  const std::vector<cad_entry> views = entry_views(*entries);
  *out = cad_entries_new(views.data(), views.size());
  return CAD_OK;
}

void RaftEngine::write_line(void* self, std::uint32_t level, cad_slice text) noexcept {
  const RaftEngine& engine = *static_cast<RaftEngine*>(self);
  const std::string line(reinterpret_cast<const char*>(text.data), text.size);
  if (level == CAD_LOG_PANIC) {
    base::stderr_log_sink()->write(base::LogLevel::kError,
                                   fmt::format("raft group {} node {}: {}", engine.group_.value(),
                                               engine.self_.value(), line));
    if (engine.crashes_ != nullptr) engine.crashes_->crashed(engine.group_, line);
  }
  if (engine.logger_ == nullptr || level > CAD_LOG_WARNING) return;
  const std::initializer_list<base::LogField> fields{
      {"group", engine.group_.value()}, {"node", engine.self_.value()}, {"text", line}};
  if (level == CAD_LOG_WARNING) {
    engine.logger_->warn("raft", fields);
  } else {
    engine.logger_->error("raft", fields);
  }
}

cad_status RaftEngine::shim_status() const {
  cad_status status{};
  cad_raft_get_status(raft_.get(), &status);
  return status;
}

base::Result<Position, ProposeError> RaftEngine::propose(Term term_or_any,
                                                         std::span<const Body> bodies) {
  std::vector<cad_slice> slices;
  slices.reserve(bodies.size());
  for (const Body& body : bodies)
    slices.push_back(slice_of(body.bytes()));
  std::uint64_t index = 0;
  std::uint64_t term = 0;
  const cad_result result = cad_raft_propose(raft_.get(), term_or_any.value(), slices.data(),
                                             slices.size(), &index, &term);
  if (result == CAD_OK) return Position{Term{term}, Index{index}};
  if (result == CAD_DROPPED)
    return base::fail(ProposeError::kOverloaded, "leadership is being handed over");
  CAD_CHECK(result == CAD_NOT_LEADER, "bodies are never empty");
  const cad_status status = shim_status();
  const std::string leader =
      status.leader == 0 ? "no leader is known" : fmt::format("node {} leads", status.leader);
  return base::fail(ProposeError::kNotLeader, fmt::format("{} in term {}", leader, status.term));
}

void RaftEngine::read_index(const ReadContext& context) {
  cad_raft_read_index(raft_.get(), slice_of(encode_context(context)));
}

void RaftEngine::tick() {
  (void)cad_raft_tick(raft_.get());
}

bool RaftEngine::has_output() const {
  return cad_raft_has_ready(raft_.get()) != 0;
}

Output RaftEngine::take_output() {
  const std::shared_ptr<cad_ready> ready(cad_raft_take_ready(raft_.get()), &cad_ready_free);
  Output output;
  output.number = OutputNumber{cad_ready_number(ready.get())};
  output.must_sync = cad_ready_must_sync(ready.get()) != 0;
  if (const cad_hard_state* state = cad_ready_hard_state(ready.get()); state != nullptr)
    output.state = HardState{Term{state->term}, NodeId{state->vote}, Index{state->commit}};
  if (const cad_snapshot* snapshot = cad_ready_snapshot(ready.get()); snapshot != nullptr) {
    output.snapshot = Snapshot{{Term{snapshot->term}, Index{snapshot->index}},
                               conf_of(snapshot->conf),
                               base::to_owned(view_of(snapshot->data))};
  }
  std::size_t count = 0;
  const cad_entry* entries = cad_ready_entries(ready.get(), &count);
  output.entries = entries_of(ready, {entries, count});
  const cad_message* messages = cad_ready_messages(ready.get(), &count);
  output.messages = messages_of(ready, messages, count);
  messages = cad_ready_persisted_messages(ready.get(), &count);
  output.held = messages_of(ready, messages, count);
  const cad_read_state* reads = cad_ready_read_states(ready.get(), &count);
  for (const cad_read_state& read : std::span(reads, count)) {
    if (const auto context = decode_context(view_of(read.context)))
      output.reads.push_back({*context, Index{read.index}});
  }
  if (cad_entries* taken = cad_ready_take_committed(ready.get()); taken != nullptr) {
    const std::shared_ptr<cad_entries> committed(taken, &cad_entries_free);
    const cad_entry* views = cad_entries_view(committed.get(), &count);
    output.committed = entries_of(committed, {views, count});
  }
  note_term_start(output);
  return output;
}

// A leader's first entry in its term opens it, and is given out with the output that says it leads.
void RaftEngine::note_term_start(const Output& output) {
  const cad_status status = shim_status();
  if (status.role != CAD_ROLE_LEADER || term_start_.term == Term{status.term}) return;
  const auto first = std::ranges::find_if(
      output.entries, [&](const Entry& entry) { return entry.at.term.value() == status.term; });
  if (first != output.entries.end()) term_start_ = first->at;
}

void RaftEngine::on_persisted(OutputNumber upto) {
  cad_raft_on_persist(raft_.get(), upto.value());
}

void RaftEngine::on_applied(Index upto) {
  cad_raft_on_applied(raft_.get(), upto.value());
}

void RaftEngine::on_truncated(Position upto) {
  cad_raft_truncate(raft_.get(), upto.index.value(), upto.term.value());
}

EngineStatus RaftEngine::status() const {
  const cad_status status = shim_status();
  const Role role = role_of(status.role);
  const Term term{status.term};
  const bool opened = role == Role::kLeader && term_start_.term == term;
  return {.role = role,
          .term = term,
          .leader = NodeId{status.leader},
          .term_start = opened ? term_start_.index : Index{0},
          .last = Index{status.last},
          .persisted = Index{status.persisted},
          .committed = Index{status.commit}};
}

std::optional<MessageHead> RaftEngine::look(ByteView message) const {
  cad_head head{};
  if (cad_raft_head(slice_of(message), &head) != CAD_OK) return std::nullopt;
  return MessageHead{.from = NodeId{head.from},
                     .term = Term{head.term},
                     .kind = kind_of(head.type),
                     .forced = head.forced != 0,
                     .entries = head.entries,
                     .snapshot = {Term{head.snapshot_term}, Index{head.snapshot_index}},
                     .data = view_of(head.snapshot_data)};
}

base::Result<void, StepError> RaftEngine::step(ByteView message) {
  switch (cad_raft_step(raft_.get(), slice_of(message))) {
    case CAD_OK: return {};
    case CAD_MALFORMED: return base::fail(StepError::kMalformed, "no message of a peer");
    case CAD_UNKNOWN_PEER: return base::fail(StepError::kUnknownPeer, "its sender is no member");
    default: return base::fail(StepError::kIgnored, "the message was ignored");
  }
}

void RaftEngine::report_unreachable(NodeId peer) {
  cad_raft_report_unreachable(raft_.get(), peer.value());
}

base::Result<Position, ConfError> RaftEngine::propose_conf(const ConfChange& change) {
  constexpr std::uint32_t kSimple = 0;
  constexpr std::uint32_t kExplicitJoint = 2;
  std::vector<cad_conf_op> ops;
  for (const ConfStep& step : change.steps)
    ops.push_back({static_cast<std::uint32_t>(step.op), 0, step.node.value()});
  const std::uint32_t transition = ops.size() > 1 ? kExplicitJoint : kSimple;
  const cad_conf_change view{ops.data(), ops.size(), transition, 0};
  std::uint64_t index = 0;
  std::uint64_t term = 0;
  switch (cad_raft_propose_conf(raft_.get(), &view, slice_of(change.context), &index, &term)) {
    case CAD_OK: return Position{Term{term}, Index{index}};
    case CAD_NOT_LEADER: return base::fail(ConfError::kNotLeader, "this node does not lead");
    case CAD_CONF_PENDING:
      return base::fail(ConfError::kBusy, "another change of membership is under way");
    case CAD_DROPPED: return base::fail(ConfError::kBusy, "leadership is being handed over");
    default:
      return base::fail(ConfError::kInvalid, "the change makes no sense for this membership");
  }
}

base::Result<ConfRecord, ConfError> RaftEngine::apply_conf(const Entry& entry) {
  const std::vector<cad_entry> views = entry_views({&entry, 1});
  cad_conf_state conf{};
  if (cad_raft_apply_conf(raft_.get(), views.data(), &conf) != CAD_OK)
    return base::fail(ConfError::kInvalid, "entry " + to_string(entry.at) + " changes nothing");
  const auto body = split_conf_body(entry.body.bytes());
  return ConfRecord{entry.at.index, conf_of(conf), body ? base::to_owned(body->context) : Bytes{}};
}

base::Result<void, TransferError> RaftEngine::transfer(NodeId to) {
  switch (cad_raft_transfer(raft_.get(), to.value())) {
    case CAD_OK: return {};
    case CAD_NOT_LEADER: return base::fail(TransferError::kNotLeader, "this node does not lead");
    default: return base::fail(TransferError::kUnknownPeer, "not another voter of the group");
  }
}

Wants RaftEngine::take_wants() {
  Wants wants;
  cad_want want{};
  while (cad_raft_next_want(raft_.get(), &want) != 0) {
    if (want.kind == CAD_WANT_SNAPSHOT) {
      wants.snapshots.push_back({NodeId{want.peer}, Index{want.low}});
    } else {
      wants.entries.push_back({NodeId{want.peer}, Index{want.low}, Index{want.high}, want.token});
    }
  }
  return wants;
}

void RaftEngine::fetched(std::uint64_t token, std::span<const Entry> entries) {
  if (entries.empty()) return cad_raft_entries_fetched(raft_.get(), token, nullptr);
  const std::vector<cad_entry> views = entry_views(entries);
  const std::unique_ptr<cad_entries, decltype(&cad_entries_free)> run(
      cad_entries_new(views.data(), views.size()), &cad_entries_free);
  cad_raft_entries_fetched(raft_.get(), token, run.get());
}

void RaftEngine::set_snapshot(const Snapshot& snapshot) {
  const ConfView conf(snapshot.conf);
  const cad_snapshot view{snapshot.at.index.value(), snapshot.at.term.value(), conf.view(),
                          slice_of(snapshot.data)};
  cad_raft_set_snapshot(raft_.get(), &view);
}

void RaftEngine::withdraw_snapshot() {
  cad_raft_set_snapshot(raft_.get(), nullptr);
}

void RaftEngine::report_snapshot(NodeId peer, SnapshotFate fate) {
  cad_raft_report_snapshot(raft_.get(), peer.value(), fate == SnapshotFate::kInstalled ? 1 : 0);
}

void RaftEngine::shrink_cache(Index keep_from) {
  cad_raft_shrink_cache(raft_.get(), keep_from.value());
}

std::uint64_t RaftEngine::cache_bytes() const {
  return shim_status().cache_bytes;
}

std::vector<PeerProgress> RaftEngine::progress() const {
  constexpr std::size_t kRowsMax =
      4 * kMembersMax;  // Both configurations of a joint one, and their learners.
  std::array<cad_progress, kRowsMax> rows;  // Not initialised: a leader asks at every heartbeat.
  const std::size_t count =
      std::min(rows.size(), cad_raft_get_progress(raft_.get(), rows.data(), rows.size()));
  std::vector<PeerProgress> peers;
  peers.reserve(count);
  for (const cad_progress& row : std::span(rows).first(count))
    peers.push_back({NodeId{row.id}, Index{row.match}, static_cast<PeerState>(row.state),
                     row.active != 0 || NodeId{row.id} == self_});
  return peers;
}

NodeId RaftEngine::transferee() const {
  return NodeId{shim_status().transferee};
}

}  // namespace cadastre::log
