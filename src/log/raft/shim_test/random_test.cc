// Three nodes under losses, doubles, reordering, slow disks and crashes, chosen by a seed: the safety of
// Raft holds after every step, and raft-rs meets nothing that it would abort on.

#include "base/random.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <cadastre_raft.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "log/raft/shim_test/cluster_testing.h"
#include "log/raft/shim_test/raft_node_testing.h"

namespace cadastre::log {
namespace {

constexpr std::uint64_t kNodes = 3;
constexpr int kSteps = 3000;

class RandomRun {
 public:
  explicit RandomRun(std::uint64_t seed) : random_(seed) {
    TestSettings settings;
    settings.seed = seed;
    settings.syncing = Syncing::kByRequest;
    settings.max_size_per_msg = 64;
    for (std::uint64_t id = 1; id <= kNodes; ++id)
      nodes_.push_back(std::make_unique<RaftNode>(id, settings, founding_disk({1, 2, 3})));
  }

  // Empty, or what went wrong.
  std::string run() {
    for (int step = 0; step < kSteps; ++step) {
      act(step);
      if (std::string found = violation(); !found.empty())
        return fmt::format("step {}: {}", step, found);
    }
    return {};
  }

  [[nodiscard]] std::size_t terms_led() const { return leaders_.size(); }

  [[nodiscard]] std::size_t replaced() const {
    std::size_t sum = 0;
    for (const auto& node : nodes_)
      sum += node->entries_replaced;
    return sum;
  }

  [[nodiscard]] std::size_t snapshots() const { return snapshots_; }

  std::uint64_t applied() {
    std::uint64_t most = 0;
    for (const auto& node : nodes_)
      most = std::max(most, node->disk().applied);
    return most;
  }

 private:
  RaftNode& any() { return *nodes_[random_.below(kNodes)]; }

  void act(int step) {
    RaftNode& node = any();
    const std::uint64_t choice = random_.below(100);
    if (choice < 10) {
      for (const auto& each : nodes_)
        each->tick();
    } else if (choice < 16) {
      (void)node.propose(fmt::format("body {}", step));
    } else if (choice < 18) {
      node.read_index(fmt::format("read {}", step));
    } else if (choice < 23) {
      disturb(node);
    } else if (choice < 30) {
      for (const cad_want& want : node.take_wants())
        node.answer(want);
    } else if (choice < 45) {
      node.sync(1 + random_.below(3));
    } else {
      for (std::uint64_t letters = random_.below(6); letters > 0; --letters)
        deliver();
    }
    node.pump();
    note_leaders();
    collect();
  }

  void disturb(RaftNode& node) {
    switch (random_.below(12)) {
      case 0: node.crash_and_restart(); break;
      case 1: node.campaign(); break;
      case 2: (void)cad_raft_transfer(node.raft(), 1 + random_.below(kNodes)); break;
      case 3: cad_raft_shrink_cache(node.raft(), UINT64_MAX); break;
      case 4:
      case 10: node.truncate_to_applied(); break;
      case 5:
      case 6: cad_raft_report_snapshot(node.raft(), 1 + random_.below(kNodes), 0); break;
      case 7: cad_raft_report_unreachable(node.raft(), 1 + random_.below(kNodes)); break;
      case 8:
      case 9: alone_ = random_.below(kNodes * 2); break;  // Beyond the nodes: all are connected.
      default: break;
    }
  }

  void collect() {
    for (const auto& node : nodes_) {
      for (const Mail& letter : node->take_mail())
        mail_.push_back(letter);
    }
  }

  void deliver() {
    if (mail_.empty()) return;
    const std::size_t at = random_.below(std::min<std::size_t>(mail_.size(), 4));
    const Mail letter = mail_[at];
    const std::uint64_t fate = random_.below(20);
    if (fate != 0) mail_.erase(mail_.begin() + static_cast<std::ptrdiff_t>(at));  // 0: comes again
    if (fate == 1 || letter.from == alone_ || letter.to == alone_) return;        // lost
    snapshots_ += static_cast<std::size_t>(letter.type == kMsgSnapshot);
    (void)nodes_[letter.to - 1]->step(letter.bytes);
  }

  void note_leaders() {
    for (const auto& node : nodes_) {
      if (!node->leads()) continue;
      const std::uint64_t leader =
          leaders_.try_emplace(node->status().term, node->id()).first->second;
      if (leader != node->id())
        two_leaders_ = fmt::format("two leaders in {}", node->status().term);
    }
  }

  std::string violation() {
    if (!two_leaders_.empty()) return two_leaders_;
    std::vector<Replica> replicas;
    replicas.reserve(nodes_.size());
    for (const auto& node : nodes_)
      replicas.push_back({node->id(), &node->disk().state});
    if (std::string found = different_states(replicas); !found.empty()) return found;
    for (const auto& node : nodes_) {
      const cad_status status = node->status();
      const bool ordered = status.applied <= status.commit && status.applied <= status.persisted &&
                           status.commit <= status.last;
      if (!ordered) return fmt::format("node {} is out of order", node->id());
      if (status.persisted > node->disk().last())
        return fmt::format("node {} believes in {}, its disk ends at {}", node->id(),
                           status.persisted, node->disk().last());
    }
    return durable_majority();
  }

  // What anyone has applied is on the disks of a majority, as a crash now would leave them.
  std::string durable_majority() {
    for (const auto& node : nodes_) {
      const std::uint64_t index = node->disk().applied;
      const std::uint64_t term = node->disk().term_at(index);
      const auto holds = [&](const auto& other) {
        return other->disk().truncated_index > index || other->disk().term_at(index) == term;
      };
      if (std::ranges::count_if(nodes_, holds) < 2)
        return fmt::format("node {} applied {}, which few disks have", node->id(), index);
    }
    return {};
  }

  base::SeededRandom random_;
  std::vector<std::unique_ptr<RaftNode>> nodes_;
  std::vector<Mail> mail_;
  std::map<std::uint64_t, std::uint64_t> leaders_;
  std::string two_leaders_;
  std::uint64_t alone_ = 0;
  std::size_t snapshots_ = 0;
};

TEST(ShimRandom, SafetyHoldsUnderLossReorderingSlowDisksAndCrashes) {
  constexpr std::uint64_t kSeeds = 50;
  std::uint64_t applied = 0;
  std::size_t terms_led = 0;
  std::size_t snapshots = 0;
  std::size_t replaced = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    RandomRun run(seed);
    ASSERT_EQ(run.run(), "") << "seed " << seed;
    applied += run.applied();
    terms_led += run.terms_led();
    snapshots += run.snapshots();
    replaced += run.replaced();
  }
  EXPECT_GT(applied, kSeeds * 8);    // Runs get somewhere,
  EXPECT_GT(terms_led, kSeeds * 3);  // under several leaders.
  EXPECT_GT(snapshots, kSeeds);
  EXPECT_GT(replaced, kSeeds);
}

}  // namespace
}  // namespace cadastre::log
