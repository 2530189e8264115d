#include "log/raft/shim_test/toy_engine_testing.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "log/raft/shim_test/cluster_testing.h"
#include "log/raft/shim_test/raft_node_testing.h"

namespace cadastre::log {

ToyEngine::ToyEngine(std::uint64_t id, std::vector<std::uint64_t> voters, ToyFault fault)
    : id_(id), voters_(std::move(voters)), fault_(fault), log_{{1, 1, 0, "", ""}} {}

std::string ToyEngine::encode(const Message& message) {
  std::string bytes = fmt::format("{} {} {} {} {}", message.term, message.log_term, message.commit,
                                  message.granted ? 1 : 0, message.entries.size());
  for (const TestEntry& entry : message.entries)
    bytes += fmt::format(" {} {} {}", entry.index, entry.term, entry.data);
  return bytes;
}

ToyEngine::Message ToyEngine::decode(std::string_view bytes) {
  Message message;
  std::istringstream in{std::string(bytes)};
  std::size_t entries = 0;
  in >> message.term >> message.log_term >> message.commit >> message.granted >> entries;
  for (std::size_t i = 0; i < entries; ++i) {
    TestEntry entry;
    in >> entry.index >> entry.term >> entry.data;
    message.entries.push_back(entry);
  }
  return message;
}

void ToyEngine::restart() {
  leads_ = false;
  commit_ = state_.empty() ? 1 : state_.rbegin()->first;
  granted_.clear();
  mail_.clear();
}

std::vector<Mail> ToyEngine::take_mail() {
  return std::exchange(mail_, {});
}

std::uint64_t ToyEngine::term_at(std::uint64_t index) const {
  return index == 0 || index > log_.size() ? 0 : log_[index - 1].term;
}

std::uint64_t ToyEngine::match_of(std::uint64_t peer) const {
  const auto found = match_.find(peer);
  return found == match_.end() ? 0 : found->second;
}

void ToyEngine::send(std::uint64_t to,
                     std::uint32_t type,
                     std::uint64_t index,
                     const Message& message) {
  mail_.push_back({id_, to, type, index, encode(message)});
}

void ToyEngine::send_append(std::uint64_t to) {
  const std::uint64_t before = next_[to] - 1;
  Message message{term_, term_at(before), commit_, false, {}};
  if (before < last()) message.entries.push_back(log_[before]);
  send(to, kMsgAppend, before, message);
}

void ToyEngine::follow(std::uint64_t term) {
  if (term > term_) vote_ = 0;
  term_ = term;
  leads_ = false;
}

void ToyEngine::campaign() {
  follow(term_ + 1);
  vote_ = id_;
  granted_ = {id_};
  for (const std::uint64_t peer : voters_) {
    if (peer != id_) send(peer, kMsgRequestVote, last(), {term_, term_at(last()), 0, false, {}});
  }
}

void ToyEngine::propose(std::string_view body) {
  log_.push_back({last() + 1, term_, 0, std::string(body), ""});
  match_[id_] = last();
}

void ToyEngine::tick() {
  if (!leads_) return;
  for (const std::uint64_t peer : voters_) {
    if (peer != id_) send_append(peer);
  }
}

void ToyEngine::deliver(const Mail& letter) {
  const Message message = decode(letter.bytes);
  if (message.term > term_) follow(message.term);
  if (letter.type == kMsgRequestVote) on_vote_request(letter, message);
  if (message.term < term_) return;
  if (letter.type == kMsgAppend) on_append(letter, message);
  if (letter.type == kMsgAppendResponse && leads_) on_answer(letter, message);
  if (letter.type != kMsgRequestVoteResponse || leads_ || vote_ != id_ || !message.granted) return;
  granted_.insert(letter.from);
  if (granted_.size() * 2 <= voters_.size()) return;
  leads_ = true;
  match_.clear();
  for (const std::uint64_t peer : voters_)
    next_[peer] = last() + 1;
  propose("-");  // the entry that opens the term
}

void ToyEngine::on_vote_request(const Mail& letter, const Message& message) {
  const bool newer = message.log_term > term_at(last()) ||
                     (message.log_term == term_at(last()) && letter.index >= last());
  const bool grants =
      message.term == term_ && newer && (vote_ == 0 || vote_ == letter.from) && !leads_;
  if (grants) vote_ = letter.from;
  send(letter.from, kMsgRequestVoteResponse, 0, {term_, 0, 0, grants, {}});
}

void ToyEngine::on_append(const Mail& letter, const Message& message) {
  const bool matches = term_at(letter.index) == message.log_term && message.log_term != 0;
  std::uint64_t end = letter.index;
  if (matches) {
    for (const TestEntry& entry : message.entries)
      put(entry);
    end += message.entries.size();
    commit_to(std::min(message.commit, end));
    if (fault_ == ToyFault::kAcknowledgesItsWholeLog) end = last();
  }
  send(letter.from, kMsgAppendResponse, end, {term_, 0, 0, matches, {}});
}

// An entry that is there stays with all that follows it; another one replaces both.
void ToyEngine::put(const TestEntry& entry) {
  if (term_at(entry.index) == entry.term) return;
  log_.resize(entry.index - 1);
  log_.push_back(entry);
}

void ToyEngine::on_answer(const Mail& letter, const Message& message) {
  std::uint64_t& next = next_[letter.from];
  if (message.granted) {
    match_[letter.from] = std::max(match_of(letter.from), letter.index);
    next = match_[letter.from] + 1;
    count();
  } else {
    next = std::max<std::uint64_t>(2, next - 1);
  }
  if (next <= last()) send_append(letter.from);
}

void ToyEngine::count() {
  for (std::uint64_t index = last(); index > commit_; --index) {
    const auto holds = [&](std::uint64_t peer) {
      return match_of(peer) >= index;
    };
    const auto holders = static_cast<std::size_t>(std::ranges::count_if(voters_, holds));
    const bool own = term_at(index) == term_ || fault_ == ToyFault::kCommitsOldTermsByCounting;
    if (own && holders * 2 > voters_.size()) {
      commit_to(index);
      return;
    }
  }
}

void ToyEngine::commit_to(std::uint64_t index) {
  for (; commit_ < std::min(index, last()); ++commit_) {
    const TestEntry& entry = log_[commit_];
    state_[entry.index] = fmt::format("{} {}", entry.term, entry.data);
  }
}

Mail ToyEngine::short_append(std::uint64_t from,
                             std::uint64_t term,
                             const TestEntry& before,
                             const TestEntry& entry) const {
  return {from, id_, kMsgAppend, before.index, encode({term, before.term, 1, false, {entry}})};
}

}  // namespace cadastre::log
