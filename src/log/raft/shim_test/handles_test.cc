// Handles outlive the node they came from and are read and freed on any thread (L-31); the same calls
// give the same bytes (L-34).

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <cadastre_raft.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "base/threads_testing.h"
#include "log/raft/shim_test/cluster_testing.h"
#include "log/raft/shim_test/raft_node_testing.h"

namespace cadastre::log {
namespace {

struct Handles {
  std::vector<ReadyHandle> outputs;
  std::vector<EntriesHandle> runs;
};

Handles handles_of_a_dead_node() {
  TestSettings settings;
  settings.syncing = Syncing::kByRequest;
  const RaftNode node(1, settings, founding_disk({1}));
  cad_raft* raft = node.raft();
  EXPECT_EQ(cad_raft_campaign(raft), CAD_OK);
  Handles handles;
  for (int i = 0; i < 64; ++i) {
    const std::string body = fmt::format("body {}", i);
    const cad_slice slice = slice_of(body);
    std::uint64_t index = 0;
    std::uint64_t term = 0;
    EXPECT_EQ(cad_raft_propose(raft, 0, &slice, 1, &index, &term), CAD_OK);
    while (cad_raft_has_ready(raft) != 0) {
      handles.outputs.emplace_back(cad_raft_take_ready(raft));
      cad_raft_on_persist(raft, cad_ready_number(handles.outputs.back().get()));
      if (EntriesHandle run(cad_ready_take_committed(handles.outputs.back().get())); run != nullptr)
        handles.runs.push_back(std::move(run));
    }
  }
  return handles;
}

TEST(ShimHandles, AreReadAndFreedOnOtherThreadsAfterTheirNode) {
  constexpr int kThreads = 4;
  Handles handles = handles_of_a_dead_node();
  ASSERT_GE(handles.runs.size(), 64U);
  std::array<std::size_t, kThreads> bytes{};
  base::run_in_threads(kThreads, [&](int thread) {
    const auto own = static_cast<std::size_t>(thread);
    for (std::size_t i = own; i < handles.runs.size(); i += kThreads) {
      for (const TestEntry& entry : entries_of(handles.runs[i].get()))
        bytes[own] += entry.data.size();
      handles.runs[i].reset();
    }
    for (std::size_t i = own; i < handles.outputs.size(); i += kThreads)
      handles.outputs[i].reset();
  });
  EXPECT_EQ(bytes[0] + bytes[1] + bytes[2] + bytes[3], 10U * 6U + 54U * 7U);
}

TEST(ShimHandles, RunsAreMadeAndHeadsReadOnAnyThread) {
  base::run_in_threads(4, [](int thread) {
    for (int i = 0; i < 200; ++i) {
      const std::vector<TestEntry> entries = {
          {1, 1, 0, std::string(static_cast<std::size_t>(i), 'x'), "context"},
          {2, static_cast<std::uint64_t>(thread) + 1, 2, "y", ""}};
      EXPECT_EQ(entries_of(handle_of(entries).get()), entries);
      cad_head head{};
      EXPECT_EQ(cad_raft_head(slice_of("\x08\x03"), &head), CAD_OK);
    }
  });
}

TEST(ShimHandles, NullIsFreedWithoutHarm) {
  cad_ready_free(nullptr);
  cad_entries_free(nullptr);
  cad_raft_destroy(nullptr);
}

// Elections, losses, crashes and proposals chosen by one seed; everything that was sent.
std::vector<Mail> history_of(std::uint64_t seed, std::uint64_t choices) {
  TestSettings settings;
  settings.seed = seed;
  Cluster cluster({1, 2, 3}, settings);
  base::SeededRandom random(choices);
  std::vector<Mail> sent;
  cluster.passes = [&](const Mail& letter) {
    sent.push_back(letter);
    return random.below(10) != 0;
  };
  for (int i = 0; i < 200; ++i) {
    RaftNode& node = cluster.at(1 + random.below(3));
    switch (random.below(6)) {
      case 0: (void)node.propose(fmt::format("body {}", i)); break;
      case 1: node.read_index(fmt::format("read {}", i)); break;
      case 2:
        if (random.below(10) == 0) node.crash_and_restart();
        break;
      default: cluster.tick(); break;
    }
  }
  return sent;
}

// 14.2
TEST(ShimDeterminism, TheSameSeedAndCallsGiveTheSameBytes) {
  for (std::uint64_t choices = 1; choices <= 10; ++choices) {
    const std::vector<Mail> first = history_of(5, choices);
    EXPECT_GT(first.size(), 100U);
    EXPECT_EQ(history_of(5, choices), first) << choices;
  }
  EXPECT_NE(history_of(6, 1), history_of(5, 1));
}

}  // namespace
}  // namespace cadastre::log
