// The log on real threads: proposers, readers, the log thread, the writer and an applier at once.

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/signal.h"
#include "base/threads_testing.h"
#include "log/host.h"
#include "log/ledger_testing.h"
#include "log/storage/directory_testing.h"
#include "log/storage/rocks_storage.h"

namespace cadastre::log {
namespace {

constexpr int kProposers = 4;
constexpr int kCommandsEach = 150;
constexpr std::array kGroups{GroupId{1}, GroupId{2}};

// Three threads for three parts, until they are told to end.
class ThreadedRunner final : public Runner {
 public:
  explicit ThreadedRunner(const base::Clock& clock) noexcept : clock_(clock) {}

  void wake_log() override { log_.raise(); }
  void wake_writer() override { writer_.raise(); }
  void wake_reader() override {}  // Nobody is behind.
  void wake_applier(GroupId group) override {
    {
      const base::MutexLock lock(mutex_);
      woken_.insert(group);
    }
    applier_.raise();
  }
  void fail_stop(std::string_view reason) override { FAIL() << reason; }

  void run_log(Host& host) {
    while (!ending_.load()) {
      const auto due = host.run_log();
      progress_.raise();
      if (due) {
        log_.wait_for(*due - clock_.elapsed());
      } else {
        log_.wait();
      }
    }
  }
  void run_writer(Host& host) {
    while (!ending_.load()) {
      writer_.wait();
      while (host.run_writer()) {}
    }
  }
  void run_applier(Host& host) {
    while (!ending_.load()) {
      applier_.wait();
      for (const GroupId group : take_woken()) {
        while (host.run_applier(group)) {}
      }
      progress_.raise();
    }
  }
  // Stops the host, waits until it is drained, and ends the three threads.
  void end(Host& host) {
    host.stop();
    const base::Elapsed deadline = clock_.elapsed() + std::chrono::seconds(60);
    while (!host.drained() && clock_.elapsed() < deadline)
      progress_.wait_for(std::chrono::seconds(1));
    EXPECT_TRUE(host.drained());
    ending_.store(true);
    log_.raise();
    writer_.raise();
    applier_.raise();
  }

 private:
  [[nodiscard]] std::set<GroupId> take_woken() {
    const base::MutexLock lock(mutex_);
    return std::exchange(woken_, {});
  }

  const base::Clock& clock_;
  std::atomic<bool> ending_{false};
  base::Signal log_;
  base::Signal writer_;
  base::Signal applier_;
  base::Signal progress_;
  base::Mutex mutex_;
  std::set<GroupId> woken_ CAD_GUARDED_BY(mutex_);
};

// One command after the other, each when the one before it is answered; sometimes a read.
void propose_in_turn(const std::map<GroupId, Group*>& groups,
                     int proposer,
                     base::Signal& answered) {
  for (int i = 0; i < kCommandsEach; ++i) {
    const GroupId id = kGroups[static_cast<std::size_t>(i) % kGroups.size()];
    const std::string command = std::to_string(proposer) + "." + std::to_string(i);
    Position at;
    std::array proposals{Proposal{base::as_bytes(command), [&](const Answer& answer) {
                                    EXPECT_TRUE(answer.has_value());
                                    if (answer) at = answer->at;
                                    answered.raise();
                                  }}};
    groups.at(id)->propose(proposals, i % 5 == 0 ? Class::kSystem : Class::kUser);
    answered.wait();
    EXPECT_GE(groups.at(id)->status().applied, at.index);
    if (i % 10 != 0) continue;
    groups.at(id)->read_barrier(ReadMode::kLinearizable, [&](const ReadAnswer& answer) {
      EXPECT_TRUE(answer.has_value());
      EXPECT_GE(answer.value_or(ReadPoint{}).applied, at.index);
      answered.raise();
    });
    answered.wait();
  }
}

// What each proposer got executed, in order.
std::map<std::string, std::vector<int>> by_proposer(const std::vector<std::string>& commands) {
  std::map<std::string, std::vector<int>> found;
  for (const std::string& command : commands) {
    const std::size_t dot = command.find('.');
    found[command.substr(0, dot)].push_back(std::stoi(command.substr(dot + 1)));
  }
  return found;
}

TEST(Threads, EveryCommandIsExecutedOnceAndInItsProposersOrder) {  // L-2, L-5, 1.3
  const base::SystemClock clock;
  const ScratchDirectory scratch(Medium::kMemory);
  RocksOptions options;
  options.directory = scratch.path() / "log";
  options.identity = {ClusterId{1}, NodeId{1}};
  const auto storage = RocksStorage::open(options);
  ASSERT_TRUE(storage) << storage.error().detail;
  ThreadedRunner runner(clock);
  std::map<GroupId, LedgerDisk> disks;
  std::map<GroupId, std::unique_ptr<LedgerMachine>> machines;
  auto host = Host::open({**storage, runner, clock});
  ASSERT_TRUE(host) << host.error().detail;
  std::map<GroupId, Group*> groups;
  for (const GroupId id : kGroups) {
    machines[id] = std::make_unique<LedgerMachine>(disks[id]);
    const auto opened = (*host)->open_group({.group = id, .machine = *machines[id]});
    ASSERT_TRUE(opened) << opened.error().detail;
    groups[id] = *opened;
  }
  std::atomic<int> left{kProposers};
  std::array<base::Signal, kProposers> answered;  // Raised until the last thread has ended.
  base::run_in_threads(kProposers + 3, [&](int thread) {
    switch (thread) {
      case 0: return runner.run_log(**host);
      case 1: return runner.run_writer(**host);
      case 2: return runner.run_applier(**host);
      default: break;
    }
    propose_in_turn(groups, thread, answered[static_cast<std::size_t>(thread - 3)]);
    if (left.fetch_sub(1) == 1) runner.end(**host);
  });
  host->reset();
  for (const GroupId id : kGroups) {
    const auto found = by_proposer(machines[id]->state().commands);
    EXPECT_EQ(found.size(), static_cast<std::size_t>(kProposers));
    for (const auto& [proposer, numbers] : found) {
      EXPECT_EQ(numbers.size(), kCommandsEach / kGroups.size()) << proposer;
      EXPECT_TRUE(std::ranges::is_sorted(numbers)) << proposer;
    }
  }
}

}  // namespace
}  // namespace cadastre::log
