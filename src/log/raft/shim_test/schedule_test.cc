// R1 and R2: the two faults for which another library was rejected. They must not be in raft-rs, and the
// schedules must see them where they are.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <cadastre_raft.h>
#include <gtest/gtest.h>

#include "log/raft/shim_test/cluster_testing.h"
#include "log/raft/shim_test/eraftpb_testing.h"
#include "log/raft/shim_test/raft_node_testing.h"
#include "log/raft/shim_test/schedule_testing.h"
#include "log/raft/shim_test/toy_engine_testing.h"

namespace cadastre::log {
namespace {

TestSettings one_entry_for_each_append() {
  TestSettings settings;
  settings.max_size_per_msg = 0;
  settings.heartbeat_tick = 1;
  settings.election_tick = 30;
  return settings;
}

class ShimNode final : public ScheduleNode {
 public:
  ShimNode(std::uint64_t id, const std::vector<std::uint64_t>& voters)
      : node_(id, one_entry_for_each_append(), founding_disk(voters)) {}

  void restart() override { node_.crash_and_restart(); }
  void campaign() override { node_.campaign(); }
  void propose(std::string_view body) override { EXPECT_EQ(node_.propose(body), CAD_OK); }
  void tick() override { node_.tick(); }
  void deliver(const Mail& letter) override { (void)node_.step(letter.bytes); }
  [[nodiscard]] std::vector<Mail> take_mail() override { return node_.take_mail(); }
  [[nodiscard]] Mail short_append(std::uint64_t from,
                                  std::uint64_t term,
                                  const TestEntry& before,
                                  const TestEntry& entry) const override {
    const Envelope envelope{kMsgAppend, from, node_.id(), term};
    return {from, node_.id(), kMsgAppend, before.index,
            append_message(envelope, before.index, before.term, {entry}, 1)};
  }
  [[nodiscard]] bool leads() const override { return node_.leads(); }
  [[nodiscard]] std::uint64_t term() const override { return node_.status().term; }
  [[nodiscard]] std::uint64_t last() const override { return node_.disk().last(); }
  [[nodiscard]] std::uint64_t term_at(std::uint64_t index) const override {
    return node_.disk().term_at(index);
  }
  [[nodiscard]] std::uint64_t match_of(std::uint64_t peer) const override {
    for (const cad_progress& row : node_.progress()) {
      if (row.id == peer) return row.match;
    }
    return 0;
  }
  [[nodiscard]] const std::map<std::uint64_t, std::string>& state() const override {
    return node_.disk().state;
  }

 private:
  RaftNode node_;
};

ScheduleNodes shim_nodes(const std::vector<std::uint64_t>& ids) {
  ScheduleNodes nodes;
  for (const std::uint64_t id : ids)
    nodes[id] = std::make_unique<ShimNode>(id, ids);
  return nodes;
}

ScheduleNodes toy_nodes(const std::vector<std::uint64_t>& ids, ToyFault fault) {
  ScheduleNodes nodes;
  for (const std::uint64_t id : ids)
    nodes[id] = std::make_unique<ToyEngine>(id, ids, fault);
  return nodes;
}

// R1
TEST(ShimSchedule, FigureEightAnOldTermOnAMajorityIsNotCommitted) {
  ScheduleNodes nodes = shim_nodes({1, 2, 3, 4, 5});
  EXPECT_EQ(run_figure_eight(nodes), "");
  EXPECT_FALSE(nodes.at(1)->state().contains(2));
}

TEST(ShimSchedule, FigureEightSeesAnEngineThatCommitsByCounting) {
  ScheduleNodes right = toy_nodes({1, 2, 3, 4, 5}, ToyFault::kNone);
  EXPECT_EQ(run_figure_eight(right), "");
  ScheduleNodes wrong = toy_nodes({1, 2, 3, 4, 5}, ToyFault::kCommitsOldTermsByCounting);
  EXPECT_EQ(run_figure_eight(wrong), "index 2: node 1 applied '2 -', node 4 applied '3 -'");
}

// R2
TEST(ShimSchedule, AStaleSuffixIsNeitherAcknowledgedNorBroughtBack) {
  ScheduleNodes nodes = shim_nodes({1, 2, 3});
  EXPECT_EQ(run_stale_suffix(nodes), "");
}

TEST(ShimSchedule, TheStaleSuffixIsSeenInAnEngineThatAcknowledgesIt) {
  ScheduleNodes right = toy_nodes({1, 2, 3}, ToyFault::kNone);
  EXPECT_EQ(run_stale_suffix(right), "");
  ScheduleNodes wrong = toy_nodes({1, 2, 3}, ToyFault::kAcknowledgesItsWholeLog);
  EXPECT_EQ(run_stale_suffix(wrong), "3 acknowledged 6 for an append to 3");
}

}  // namespace
}  // namespace cadastre::log
