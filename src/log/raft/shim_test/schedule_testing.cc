#include "log/raft/shim_test/schedule_testing.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "log/raft/shim_test/cluster_testing.h"
#include "log/raft/shim_test/raft_node_testing.h"

namespace cadastre::log {
namespace {

bool is_vote(const Mail& letter) {
  return letter.type == kMsgRequestVote || letter.type == kMsgRequestVoteResponse ||
         letter.type == kMsgRequestPreVote || letter.type == kMsgRequestPreVoteResponse;
}

// Delivers what passes among `ids` until they are silent; the rest is lost.
template <class Passes>
void exchange(ScheduleNodes& nodes, const std::vector<std::uint64_t>& ids, const Passes& passes) {
  std::deque<Mail> mail;
  const auto collect = [&] {
    for (const std::uint64_t id : ids) {
      for (Mail& letter : nodes.at(id)->take_mail())
        mail.push_back(std::move(letter));
    }
  };
  for (collect(); !mail.empty(); collect()) {
    const Mail letter = std::move(mail.front());
    mail.pop_front();
    const bool here = std::ranges::find(ids, letter.to) != ids.end();
    if (here && passes(letter)) nodes.at(letter.to)->deliver(letter);
  }
}

// Restarts all of them, then lets the candidate try until it leads. Nothing but votes is delivered.
void elect(ScheduleNodes& nodes, std::uint64_t candidate, std::vector<std::uint64_t> voters) {
  constexpr int kTriesMax = 5;
  voters.push_back(candidate);
  for (const std::uint64_t id : voters)
    nodes.at(id)->restart();
  for (int i = 0; i < kTriesMax && !nodes.at(candidate)->leads(); ++i) {
    nodes.at(candidate)->campaign();
    exchange(nodes, voters, is_vote);
  }
  CAD_CHECK(nodes.at(candidate)->leads(), "a candidate with a majority wins");
}

// The leader's entries reach the peer up to `upto`, and the peer's answers reach the leader.
void replicate(ScheduleNodes& nodes, std::uint64_t leader, std::uint64_t peer, std::uint64_t upto) {
  constexpr int kBeats = 3;
  for (int i = 0; i < kBeats; ++i) {
    nodes.at(leader)->tick();
    exchange(nodes, {leader, peer}, [&](const Mail& letter) {
      const bool refused = letter.index > nodes.at(peer)->last();
      return letter.type != kMsgAppend || letter.index < upto || refused;
    });
  }
  CAD_CHECK(nodes.at(peer)->last() >= upto, "entries arrive");
}

std::string difference(const ScheduleNodes& nodes) {
  std::vector<Replica> replicas;
  for (const auto& [id, node] : nodes)
    replicas.push_back({id, &node->state()});
  return different_states(replicas);
}

std::string match_difference(ScheduleNodes& nodes, std::uint64_t leader, std::uint64_t peer) {
  return match_beyond_log(
      nodes.at(leader)->match_of(peer), 2,
      [&](std::uint64_t index) { return nodes.at(leader)->term_at(index); },
      [&](std::uint64_t index) { return nodes.at(peer)->term_at(index); });
}

}  // namespace

std::string run_figure_eight(ScheduleNodes& nodes) {
  // (a) 1 leads and gets its first entry to 2, but not the one after it.
  elect(nodes, 1, {2, 3});
  nodes.at(1)->propose("old");
  replicate(nodes, 1, 2, 2);
  // (b) 5 leads with 3 and 4, and keeps its entry to itself.
  elect(nodes, 5, {3, 4});
  CAD_CHECK(nodes.at(5)->term_at(2) > nodes.at(1)->term_at(2), "5 wrote index 2 in a later term");
  // (c) 1 leads again; "old" reaches 2 and 3, a majority with 1, but no entry of its own term does.
  elect(nodes, 1, {2, 3});
  replicate(nodes, 1, 2, 3);
  replicate(nodes, 1, 3, 3);
  CAD_CHECK(nodes.at(1)->match_of(2) == 3, "1 can count 2");
  CAD_CHECK(nodes.at(1)->match_of(3) == 3, "1 can count 3");
  // (d) 1 is gone. 5 has the newer last term: it may win and replace what 2 and 3 have.
  elect(nodes, 5, {2, 3, 4});
  for (const std::uint64_t peer : {2U, 3U, 4U})
    replicate(nodes, 5, peer, nodes.at(5)->last());
  CAD_CHECK(nodes.at(5)->state().contains(3), "5 commits an entry of its own term");
  return difference(nodes);
}

std::string run_stale_suffix(ScheduleNodes& nodes) {
  // 3 leads, shares indexes 2 and 3 with 1, and writes on alone.
  elect(nodes, 3, {1});
  nodes.at(3)->propose("shared");
  replicate(nodes, 3, 1, 3);
  for (const char* body : {"stale", "stale", "stale"})
    nodes.at(3)->propose(body);
  const std::uint64_t old_term = nodes.at(3)->term();
  const std::uint64_t suffix_end = nodes.at(3)->last();
  // 1 leads with 2. Its first word to 3 is an append that ends where both logs still agree.
  elect(nodes, 1, {2});
  nodes.at(3)->restart();
  (void)nodes.at(1)->take_mail();
  const Mail append = nodes.at(3)->short_append(1, nodes.at(1)->term(), {2, old_term, 0, "", ""},
                                                {3, old_term, 0, "shared", ""});
  nodes.at(3)->deliver(append);
  CAD_CHECK(nodes.at(3)->last() == suffix_end, "nothing in the append contradicts the suffix");
  for (const Mail& letter : nodes.at(3)->take_mail()) {
    if (letter.type != kMsgAppendResponse) continue;
    if (letter.index != 3) return fmt::format("3 acknowledged {} for an append to 3", letter.index);
    nodes.at(1)->deliver(letter);
  }
  if (std::string found = match_difference(nodes, 1, 3); !found.empty()) return found;
  // The rest of the log arrives and replaces the suffix, for good.
  replicate(nodes, 1, 3, 4);
  nodes.at(3)->restart();
  if (nodes.at(3)->last() != 4) return fmt::format("the log of 3 ends at {}", nodes.at(3)->last());
  if (std::string found = match_difference(nodes, 1, 3); !found.empty()) return found;
  return difference(nodes);
}

}  // namespace cadastre::log
