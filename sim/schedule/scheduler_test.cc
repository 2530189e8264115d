#include "sim/schedule/scheduler.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sim/chacha_random.h"
#include "sim/schedule/node_id.h"
#include "sim/schedule/sim_time.h"

namespace cadastre::sim {
namespace {

using std::chrono::nanoseconds;

constexpr NodeId kA{1};
constexpr NodeId kB{2};

SimTime at_ns(std::int64_t ns) {
  return SimTime(nanoseconds(ns));
}

// Writes down what runs, and when: "a@10 b@20".
class Diary {
 public:
  explicit Diary(Scheduler& scheduler) : scheduler_(scheduler) {}

  TaskId plan(NodeId owner, std::int64_t ns, const std::string& name) {
    return scheduler_.at(owner, at_ns(ns), [this, name] { write(name); });
  }
  void write(const std::string& name) {
    if (!text_.empty()) text_ += ' ';
    text_ += name + "@" + std::to_string(scheduler_.now().time_since_epoch().count());
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  Scheduler& scheduler_;
  std::string text_;
};

TEST(Scheduler, RunsByTimeAndThenByInsertion) {
  Scheduler scheduler;
  Diary diary(scheduler);
  diary.plan(kA, 20, "c");
  diary.plan(kA, 10, "a");
  diary.plan(kB, 10, "b");
  diary.plan(kA, 30, "late");
  EXPECT_EQ(scheduler.run_until(at_ns(29)), 3U);
  EXPECT_EQ(diary.text(), "a@10 b@10 c@20");
  EXPECT_EQ(scheduler.now(), at_ns(29));
  EXPECT_EQ(scheduler.tasks(), 1U);
  EXPECT_TRUE(scheduler.step());
  EXPECT_EQ(scheduler.now(), at_ns(30));
  EXPECT_FALSE(scheduler.step());
}

TEST(Scheduler, RunsWhatATaskPlansForTheSameInstant) {
  Scheduler scheduler;
  Diary diary(scheduler);
  scheduler.at(kA, at_ns(5), [&] {
    diary.write("first");
    scheduler.after(kA, nanoseconds(0), [&] { diary.write("second"); });
  });
  EXPECT_EQ(scheduler.run_until(at_ns(5)), 2U);
  EXPECT_EQ(diary.text(), "first@5 second@5");
}

std::string order_of_ties(std::uint64_t seed) {
  Scheduler scheduler(seed);
  Diary diary(scheduler);
  for (const char* name : {"a", "b", "c", "d", "e", "f"})
    diary.plan(kA, 1, name);
  diary.plan(kA, 0, "before");
  scheduler.run_until(at_ns(1));
  return diary.text();
}

TEST(Scheduler, LetsASeedDecideTies) {
  std::map<std::string, int> orders;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const std::string order = order_of_ties(seed);
    EXPECT_EQ(order, order_of_ties(seed));
    EXPECT_TRUE(order.starts_with("before@0 ")) << order;
    ++orders[order];
  }
  EXPECT_GT(orders.size(), 80U);  // of 720
}

TEST(Scheduler, CancelsOnceAndDestroysAtOnce) {
  Scheduler scheduler;
  Diary diary(scheduler);
  auto held = std::make_shared<int>(0);
  const TaskId id = scheduler.at(kA, at_ns(10), [held] {});
  const TaskId other = diary.plan(kA, 10, "other");
  EXPECT_EQ(held.use_count(), 2);
  EXPECT_TRUE(scheduler.pending(id));
  EXPECT_TRUE(scheduler.cancel(id));
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_FALSE(scheduler.cancel(id));
  const TaskId reused = diary.plan(kA, 11, "reused");
  EXPECT_EQ(reused.slot, id.slot);
  EXPECT_FALSE(scheduler.cancel(id)) << "an old id names no later task";
  EXPECT_FALSE(scheduler.cancel(TaskId{}));
  scheduler.run_until(at_ns(20));
  EXPECT_EQ(diary.text(), "other@10 reused@11");
  EXPECT_FALSE(scheduler.pending(other));
}

TEST(Scheduler, CrashDropsTheNodesTasksAndNoOthers) {
  Scheduler scheduler;
  Diary diary(scheduler);
  auto held = std::make_shared<int>(0);
  scheduler.at(kA, at_ns(10), [held] {});
  diary.plan(kA, 11, "a");
  diary.plan(kB, 12, "b");
  scheduler.at(kWorld, at_ns(5), [&] { EXPECT_EQ(scheduler.crash(kA), 2U); });
  scheduler.run_until(at_ns(6));
  EXPECT_EQ(held.use_count(), 1);
  diary.plan(kA, 13, "restarted");
  scheduler.run_until(at_ns(20));
  EXPECT_EQ(diary.text(), "b@12 restarted@13");
}

TEST(Scheduler, ATaskMayCrashItsOwnNode) {
  Scheduler scheduler;
  Diary diary(scheduler);
  scheduler.at(kA, at_ns(1), [&] {
    EXPECT_EQ(scheduler.crash(kA), 1U);
    diary.write("crashed");
  });
  diary.plan(kA, 2, "never");
  scheduler.run_until(at_ns(9));
  EXPECT_EQ(diary.text(), "crashed@1");
}

TEST(Scheduler, PauseHoldsTasksBackInTheirOrder) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Scheduler scheduler(seed);
    Diary diary(scheduler);
    diary.plan(kA, 1, "a");
    diary.plan(kA, 3, "b");
    diary.plan(kA, 4, "c");
    const TaskId cancelled = diary.plan(kA, 4, "x");
    diary.plan(kA, 7, "d");  // when the pause ends, and behind those that wait
    diary.plan(kB, 4, "other");
    scheduler.at(kWorld, at_ns(2), [&] { scheduler.pause(kA, at_ns(7)); });
    scheduler.at(kWorld, at_ns(5), [&] { EXPECT_TRUE(scheduler.cancel(cancelled)); });
    scheduler.run_until(at_ns(6));
    EXPECT_TRUE(scheduler.paused(kA));
    EXPECT_EQ(scheduler.tasks(kA), 3U);
    scheduler.run_until(at_ns(7));
    EXPECT_FALSE(scheduler.paused(kA));
    EXPECT_EQ(diary.text(), "a@1 other@4 b@7 c@7 d@7") << "seed " << seed;
  }
}

TEST(Scheduler, TheLongestPauseCounts) {
  Scheduler scheduler;
  Diary diary(scheduler);
  diary.plan(kA, 3, "a");
  scheduler.pause(kA, at_ns(5));
  scheduler.pause(kA, at_ns(9));
  scheduler.pause(kA, at_ns(7));
  scheduler.run_until(at_ns(20));
  EXPECT_EQ(diary.text(), "a@9");
}

TEST(Scheduler, ResumeEndsAPauseEarlyOrOneWithoutEnd) {
  Scheduler scheduler;
  Diary diary(scheduler);
  diary.plan(kA, 3, "a");
  diary.plan(kB, 3, "b");
  scheduler.pause(kA, at_ns(100));
  scheduler.pause(kB, SimTime::max());
  scheduler.run_until(at_ns(10));
  EXPECT_EQ(diary.text(), "");
  scheduler.resume(kA);
  scheduler.run_until(at_ns(11));
  EXPECT_FALSE(scheduler.step()) << "b waits, and nothing will wake it";
  scheduler.resume(kB);
  EXPECT_TRUE(scheduler.step());
  EXPECT_EQ(diary.text().substr(0, 4), "a@10");
}

TEST(Scheduler, CrashEndsAPauseAndDropsWhatItHeldBack) {
  Scheduler scheduler;
  Diary diary(scheduler);
  diary.plan(kA, 3, "held");
  scheduler.pause(kA, at_ns(10));
  scheduler.run_until(at_ns(5));
  EXPECT_EQ(scheduler.crash(kA), 1U);
  EXPECT_FALSE(scheduler.paused(kA));
  diary.plan(kA, 6, "restarted");
  scheduler.run_until(at_ns(20));
  EXPECT_EQ(diary.text(), "restarted@6");
}

TEST(Scheduler, DestroysTasksThatNeverRan) {
  auto held = std::make_shared<int>(0);
  {
    Scheduler scheduler;
    scheduler.at(kA, at_ns(10), [held] {});
    scheduler.at(kB, at_ns(10), [held] {});
  }
  EXPECT_EQ(held.use_count(), 1);
}

TEST(SchedulerDeathTest, RefusesThePastAndNestedRuns) {
  Scheduler scheduler;
  scheduler.run_until(at_ns(10));
  EXPECT_DEATH(scheduler.at(kA, at_ns(9), [] {}), "for now or for later");
  scheduler.at(kA, at_ns(11), [&] { scheduler.step(); });
  EXPECT_DEATH(scheduler.step(), "does not run other tasks");
}

// The scheduler beside a list that is searched for its least element.
class Doubled {
 public:
  explicit Doubled(std::uint64_t seed) : random_(seed) {}

  void plan() {
    const NodeId owner(1 + random_.below(4));
    const SimTime when = scheduler_.now() + nanoseconds(random_.below(50));
    const int mine = number_++;
    list_[mine] = {owner, when, scheduler_.at(owner, when, [this, mine] { ran_ = mine; })};
  }
  void cancel_any() {
    if (list_.empty()) return;
    const auto it =
        std::next(list_.begin(), static_cast<std::ptrdiff_t>(random_.below(list_.size())));
    EXPECT_TRUE(scheduler_.cancel(it->second.id));
    list_.erase(it);
  }
  void crash_any() {
    const NodeId node(1 + random_.below(4));
    const std::size_t dropped =
        std::erase_if(list_, [&](const auto& entry) { return entry.second.owner == node; });
    EXPECT_EQ(scheduler_.crash(node), dropped);
  }
  void step() {
    ran_.reset();
    EXPECT_EQ(scheduler_.step(), !list_.empty());
    if (list_.empty()) return;
    const auto least = std::ranges::min_element(
        list_, {}, [](const auto& entry) { return std::pair(entry.second.when, entry.first); });
    EXPECT_EQ(ran_, least->first);
    EXPECT_EQ(scheduler_.now(), least->second.when);
    list_.erase(least);
  }
  void do_anything() {
    const std::uint64_t chance = random_.below(100);
    if (chance < 45) {
      plan();
    } else if (chance < 60) {
      cancel_any();
    } else if (chance < 61) {
      crash_any();
    } else {
      step();
    }
    EXPECT_EQ(scheduler_.tasks(), list_.size());
  }

 private:
  struct Planned {
    NodeId owner;
    SimTime when;
    TaskId id;
  };

  ChaChaRandom random_;
  Scheduler scheduler_;
  std::map<int, Planned> list_;  // By number of insertion.
  std::optional<int> ran_;
  int number_ = 0;
};

TEST(Scheduler, AgreesWithASortedListUnderRandomCalls) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Doubled doubled(seed);
    for (int call = 0; call < 3'000 && !testing::Test::HasFailure(); ++call)
      doubled.do_anything();
    ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed;
  }
}

TEST(Scheduler, SweepsCancelledTasksOutOfItsHeap) {
  Scheduler scheduler;
  Diary diary(scheduler);
  diary.plan(kA, 2'000'000, "a");
  TaskId timer;
  for (int i = 0; i < 100'000; ++i) {  // A timer that is set again and again, as elections are.
    scheduler.cancel(timer);
    timer = scheduler.after(kB, nanoseconds(1'000'000 + i), [&] { diary.write("timer"); });
  }
  EXPECT_EQ(scheduler.tasks(), 2U);
  EXPECT_LT(scheduler.events(), 4'000U);
  scheduler.run_until(at_ns(3'000'000));
  EXPECT_EQ(diary.text(), "timer@1099999 a@2000000");
}

}  // namespace
}  // namespace cadastre::sim
