#include "log/raft/shim_test/raft_node_testing.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cadastre_raft.h>
#include <fmt/format.h>

#include "base/check.h"

namespace cadastre::log {
namespace {

std::vector<std::uint64_t> ids_of(cad_ids ids) {
  return {ids.data, ids.data + ids.size};
}

cad_ids ids_view(const std::vector<std::uint64_t>& ids) {
  return {ids.data(), ids.size()};
}

}  // namespace

std::string_view text_of(cad_slice slice) {
  return {reinterpret_cast<const char*>(slice.data), slice.size};
}

cad_slice slice_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

cad_entry TestEntry::view() const {
  return {index, term, type, 0, slice_of(data), slice_of(context)};
}

std::vector<TestEntry> entries_of(const cad_entry* views, std::size_t count) {
  std::vector<TestEntry> entries;
  for (std::size_t i = 0; i < count; ++i) {
    const cad_entry& view = views[i];
    entries.push_back({view.index, view.term, view.type, std::string(text_of(view.data)),
                       std::string(text_of(view.context))});
  }
  return entries;
}

std::vector<TestEntry> entries_of(const cad_entries* handle) {
  std::size_t count = 0;
  const cad_entry* views = cad_entries_view(handle, &count);
  return entries_of(views, count);
}

EntriesHandle handle_of(const std::vector<TestEntry>& entries) {
  std::vector<cad_entry> views;
  views.reserve(entries.size());
  for (const TestEntry& entry : entries)
    views.push_back(entry.view());
  return EntriesHandle(cad_entries_new(views.data(), views.size()));
}

cad_conf_state TestConf::view() const {
  return {ids_view(voters),
          ids_view(learners),
          ids_view(voters_outgoing),
          ids_view(learners_next),
          0,
          0};
}

TestConf conf_of(const cad_conf_state& view) {
  return {ids_of(view.voters), ids_of(view.learners), ids_of(view.voters_outgoing),
          ids_of(view.learners_next)};
}

std::uint64_t TestDisk::term_at(std::uint64_t index) const {
  if (index == truncated_index) return truncated_term;
  if (index < truncated_index || index > last()) return 0;
  return entries[index - truncated_index - 1].term;
}

TestDisk founding_disk(std::vector<std::uint64_t> voters) {
  TestDisk disk;
  disk.hard = {1, 0, 1};
  disk.conf.voters = std::move(voters);
  disk.conf_index = 1;
  disk.truncated_index = 1;
  disk.truncated_term = 1;
  disk.applied = 1;
  return disk;
}

std::string encode_state(const std::map<std::uint64_t, std::string>& state) {
  std::string bytes;
  for (const auto& [index, value] : state)
    bytes += fmt::format("{}={}\n", index, value);
  return bytes;
}

std::map<std::uint64_t, std::string> decode_state(std::string_view bytes) {
  std::map<std::uint64_t, std::string> state;
  while (!bytes.empty()) {
    const std::size_t equal = bytes.find('=');
    const std::size_t end = bytes.find('\n');
    CAD_CHECK(end != std::string_view::npos, "a state is made of whole lines");
    CAD_CHECK(equal < end, "a line has an index");
    state[std::stoull(std::string(bytes.substr(0, equal)))] =
        bytes.substr(equal + 1, end - equal - 1);
    bytes.remove_prefix(end + 1);
  }
  return state;
}

TestConfig::TestConfig(std::uint64_t id, const TestSettings& settings, TestDisk disk)
    : disk_(std::move(disk)) {
  const std::uint64_t needed = disk_.last() - std::min(disk_.last(), disk_.applied);
  const std::size_t wanted = std::max({std::size_t{1}, settings.tail_entries, needed});
  const std::size_t skipped = disk_.entries.size() - std::min(disk_.entries.size(), wanted);
  std::uint64_t term = 0;
  for (const TestEntry& entry : disk_.entries) {
    if (entry.term != term) starts.insert(starts.end(), {entry.index, entry.term});
    term = entry.term;
    if (entry.index > disk_.truncated_index + skipped) tail.push_back(entry.view());
  }
  config.group = settings.group;
  config.id = id;
  config.applied = disk_.applied;
  config.seed = settings.seed;
  config.election_tick = settings.election_tick;
  config.heartbeat_tick = settings.heartbeat_tick;
  config.max_inflight_msgs = settings.max_inflight_msgs;
  config.pre_vote = settings.pre_vote;
  config.check_quorum = settings.check_quorum;
  config.max_size_per_msg = settings.max_size_per_msg;
  config.max_uncommitted_size = settings.max_uncommitted_size;
  config.max_committed_size_per_ready = settings.max_committed_size_per_ready;
  config.hard_state = disk_.hard;
  config.hard_state.commit = std::max(disk_.hard.commit, disk_.applied);  // L-53
  config.conf = disk_.conf.view();
  config.conf_index = disk_.conf_index;
  config.truncated_index = disk_.truncated_index;
  config.truncated_term = disk_.truncated_term;
  config.tail = tail.data();
  config.tail_size = tail.size();
  config.term_starts = starts.data();
  config.term_starts_size = starts.size();
}

RaftNode::RaftNode(std::uint64_t id, const TestSettings& settings, TestDisk disk)
    : id_(id), settings_(settings), disk_(std::move(disk)) {
  open();
}

void RaftNode::open() {
  const TestConfig config(id_, settings_, disk_);
  const cad_callbacks callbacks{this, &RaftNode::read, &RaftNode::write_log};
  cad_raft* raft = nullptr;
  const cad_result result = cad_raft_create(&config.config, &callbacks, &raft);
  CAD_CHECK(result == CAD_OK, "the disk of a test is one that a node can start from");
  raft_.reset(raft);
}

void RaftNode::crash_and_restart() {
  raft_.reset();
  writes_.clear();
  mail_.clear();
  committed.clear();
  open();
}

cad_result RaftNode::read(void* self,
                          std::uint64_t low,
                          std::uint64_t high,
                          std::uint64_t bytes_max,
                          cad_entries** out) noexcept {
  RaftNode& node = *static_cast<RaftNode*>(self);
  node.sync_reads.push_back(low);
  std::vector<TestEntry> run;
  std::uint64_t bytes = 0;
  for (std::uint64_t index = low; index < high && (run.empty() || bytes < bytes_max); ++index) {
    run.push_back(node.disk_.entries.at(index - node.disk_.truncated_index - 1));
    bytes += run.back().data.size();
  }
  *out = handle_of(run).release();
  return CAD_OK;
}

void RaftNode::write_log(void* self, std::uint32_t level, cad_slice text) noexcept {
  static_cast<RaftNode*>(self)->log.push_back(fmt::format("{} {}", level, text_of(text)));
}

cad_status RaftNode::status() const {
  cad_status status{};
  if (raft_ != nullptr) cad_raft_get_status(raft_.get(), &status);
  return status;
}

std::vector<cad_progress> RaftNode::progress() const {
  std::vector<cad_progress> rows(16);
  rows.resize(std::min(rows.size(), cad_raft_get_progress(raft_.get(), rows.data(), rows.size())));
  return rows;
}

void RaftNode::add_mail(const cad_message* messages,
                        std::size_t count,
                        std::vector<Mail>& to) const {
  for (std::size_t i = 0; i < count; ++i) {
    const cad_message& message = messages[i];
    to.push_back(
        {id_, message.to, message.type, message.index, std::string(text_of(message.bytes))});
  }
}

void RaftNode::take_one() {
  const ReadyHandle ready(cad_raft_take_ready(raft_.get()));
  Write write;
  write.number = cad_ready_number(ready.get());
  std::size_t count = 0;
  const cad_message* messages = cad_ready_messages(ready.get(), &count);
  add_mail(messages, count, mail_);
  messages = cad_ready_persisted_messages(ready.get(), &count);
  add_mail(messages, count, write.held);
  if (const cad_hard_state* hard = cad_ready_hard_state(ready.get()); hard != nullptr) {
    write.has_hard = true;
    write.hard = *hard;
  }
  if (const cad_snapshot* snapshot = cad_ready_snapshot(ready.get()); snapshot != nullptr) {
    write.has_snapshot = true;
    write.snapshot.truncated_index = snapshot->index;
    write.snapshot.truncated_term = snapshot->term;
    write.snapshot.conf = conf_of(snapshot->conf);
    write.snapshot.state = decode_state(text_of(snapshot->data));
  }
  const cad_entry* entries = cad_ready_entries(ready.get(), &count);
  write.entries = entries_of(entries, count);
  if (cad_ready_must_sync(ready.get()) == 0) ++outputs_without_sync;
  const cad_read_state* states = cad_ready_read_states(ready.get(), &count);
  for (std::size_t i = 0; i < count; ++i)
    reads.push_back({states[i].index, std::string(text_of(states[i].context))});
  writes_.push_back(std::move(write));
  if (const EntriesHandle run(cad_ready_take_committed(ready.get())); run != nullptr)
    apply(entries_of(run.get()));
}

void RaftNode::pump() {
  while (raft_ != nullptr && cad_raft_has_ready(raft_.get()) != 0) {
    take_one();
    if (settings_.syncing == Syncing::kAtOnce) sync();
  }
}

void RaftNode::sync(std::size_t outputs) {
  for (; outputs > 0 && !writes_.empty(); --outputs) {
    const Write write = std::move(writes_.front());
    writes_.pop_front();
    persist(write);
    mail_.insert(mail_.end(), write.held.begin(), write.held.end());
    if (raft_ == nullptr) continue;
    cad_raft_on_persist(raft_.get(), write.number);
    if (write.has_snapshot) cad_raft_on_applied(raft_.get(), disk_.applied);
  }
  if (settings_.syncing == Syncing::kAtOnce) pump();
}

void RaftNode::persist(const Write& write) {
  if (write.has_hard) disk_.hard = write.hard;
  if (write.has_snapshot) {
    disk_.truncated_index = write.snapshot.truncated_index;
    disk_.truncated_term = write.snapshot.truncated_term;
    disk_.conf = write.snapshot.conf;
    disk_.conf_index = disk_.truncated_index;
    disk_.state = write.snapshot.state;
    disk_.applied = disk_.truncated_index;
    disk_.entries.clear();
  }
  if (write.entries.empty()) return;
  const std::uint64_t first = write.entries.front().index;
  CAD_CHECK(first > disk_.truncated_index, "what was cut is not written again");
  CAD_CHECK(first <= disk_.last() + 1, "outputs leave no gap");
  entries_replaced += disk_.last() + 1 - first;
  disk_.entries.resize(first - disk_.truncated_index - 1);  // A stale suffix goes with it (L-41).
  disk_.entries.insert(disk_.entries.end(), write.entries.begin(), write.entries.end());
}

void RaftNode::apply(const std::vector<TestEntry>& run) {
  for (const TestEntry& entry : run) {
    CAD_CHECK(entry.index == disk_.applied + 1, "entries are handed out once and in order");
    committed.push_back(entry);
    disk_.applied = entry.index;
    disk_.state[entry.index] = fmt::format("{} {}", entry.term, entry.type == 0 ? entry.data : "");
    if (entry.type != 0) apply_conf(entry);
    cad_raft_on_applied(raft_.get(), entry.index);
  }
  const TestConf& conf = disk_.conf;
  const auto has_us = [this](const std::vector<std::uint64_t>& ids) {
    return std::ranges::find(ids, id_) != ids.end();
  };
  const bool member = has_us(conf.voters) || has_us(conf.learners) || has_us(conf.voters_outgoing);
  if (!member) raft_.reset();  // Its own removal: the engine goes in the same call (L-88).
}

void RaftNode::apply_conf(const TestEntry& entry) {
  const cad_entry view = entry.view();
  cad_conf_state conf{};
  const cad_result result = cad_raft_apply_conf(raft_.get(), &view, &conf);
  CAD_CHECK(result == CAD_OK, "a committed change can be applied");
  disk_.conf = conf_of(conf);
  disk_.conf_index = std::max(disk_.conf_index, entry.index);
}

cad_result RaftNode::step(const std::string& bytes) {
  const cad_result result = cad_raft_step(raft_.get(), slice_of(bytes));
  pump();
  return result;
}

cad_result RaftNode::propose(std::string_view body) {
  const cad_slice slice = slice_of(body);
  std::uint64_t index = 0;
  std::uint64_t term = 0;
  const cad_result result = cad_raft_propose(raft_.get(), 0, &slice, 1, &index, &term);
  pump();
  return result;
}

cad_result RaftNode::propose_conf(std::vector<cad_conf_op> ops, std::uint32_t transition) {
  const cad_conf_change change{ops.data(), ops.size(), transition, 0};
  std::uint64_t index = 0;
  std::uint64_t term = 0;
  const cad_result result =
      cad_raft_propose_conf(raft_.get(), &change, slice_of("address"), &index, &term);
  pump();
  return result;
}

void RaftNode::tick(int times) {
  for (int i = 0; i < times; ++i) {
    (void)cad_raft_tick(raft_.get());
    pump();
  }
}

void RaftNode::campaign() {
  (void)cad_raft_campaign(raft_.get());
  pump();
}

void RaftNode::read_index(std::string_view context) {
  cad_raft_read_index(raft_.get(), slice_of(context));
  pump();
}

void RaftNode::truncate_to_applied() {
  const std::uint64_t term = disk_.term_at(disk_.applied);
  const auto count = static_cast<std::ptrdiff_t>(disk_.applied - disk_.truncated_index);
  disk_.entries.erase(disk_.entries.begin(), disk_.entries.begin() + count);
  disk_.truncated_index = disk_.applied;
  disk_.truncated_term = term;
  cad_raft_truncate(raft_.get(), disk_.applied, term);
}

std::vector<cad_want> RaftNode::take_wants() {
  std::vector<cad_want> wants;
  cad_want want{};
  while (cad_raft_next_want(raft_.get(), &want) != 0)
    wants.push_back(want);
  return wants;
}

void RaftNode::answer(const cad_want& want) {
  if (want.kind == CAD_WANT_SNAPSHOT) {
    const std::string data = encode_state(disk_.state);
    const cad_snapshot snapshot{disk_.applied, disk_.term_at(disk_.applied), disk_.conf.view(),
                                slice_of(data)};
    cad_raft_set_snapshot(raft_.get(), &snapshot);
  } else if (want.low <= disk_.truncated_index) {
    cad_raft_entries_fetched(raft_.get(), want.token, nullptr);  // Cut since it was asked for.
  } else {
    std::vector<TestEntry> run;
    for (std::uint64_t index = want.low; index < want.high; ++index)
      run.push_back(disk_.entries.at(index - disk_.truncated_index - 1));
    cad_raft_entries_fetched(raft_.get(), want.token, handle_of(run).get());
  }
  pump();
}

}  // namespace cadastre::log
