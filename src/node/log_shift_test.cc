#include "node/log_shift.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <latch>
#include <optional>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/threads_testing.h"

namespace cadastre::node {
namespace {

using std::chrono::milliseconds;
using By = LogShift::By;
using Duty = LogShift::Duty;
using Again = std::optional<base::Elapsed>;

constexpr int kCrew = static_cast<int>(LogShift::kSeats);

// What a log would do: a pass says when to run again, and may fill a set.
struct Work {
  std::function<Again()> pass;
  std::function<void()> carry = [] {
  };
};

void man_a_seat(LogShift& shift, std::size_t seat, const Work& work) {
  for (;;) {
    switch (shift.next(seat)) {
      case Duty::kPass: shift.end_pass(work.pass(), By::kCrew); break;
      case Duty::kCarry: {
        const LogShift::Deferral deferral(shift);
        work.carry();
        break;
      }
      case Duty::kOver: return;
    }
  }
}

// The crew at work beside other threads, which are told which one they are: 0, 1, …
template <typename Others>
void with_crew(LogShift& shift, const Work& work, int others, const Others& other) {
  base::run_in_threads(kCrew + others, [&](int thread) {
    if (thread < kCrew) {
      man_a_seat(shift, static_cast<std::size_t>(thread), work);
    } else {
      other(thread - kCrew);
    }
  });
}

struct ShiftTest : ::testing::Test {
  base::SystemClock clock;
  LogShift shift{clock};
};

TEST_F(ShiftTest, OnePassAndOneSetAtATimeAndNoRaiseIsLost) {
  constexpr int kBringers = 3;  // One raises, one helps, one keeps its raises back and then helps.
  constexpr std::uint64_t kTimes = 20'000;
  std::atomic<std::uint64_t> waiting{0};
  std::atomic<int> in_pass{0};
  std::atomic<int> at_disk{0};
  std::atomic<bool> set_under_way{false};
  std::uint64_t passes = 0;
  std::latch all(static_cast<std::ptrdiff_t>(kBringers * kTimes));
  const Work work{.pass = [&]() -> Again {
                    EXPECT_EQ(in_pass.fetch_add(1), 0);
                    const std::uint64_t done = waiting.exchange(0);
                    if (++passes % 3 == 0 && !set_under_way.exchange(true)) shift.set_filled();
                    for (std::uint64_t i = 0; i < done; ++i)
                      all.count_down();
                    in_pass.fetch_sub(1);
                    return std::nullopt;
                  },
                  .carry =
                      [&] {
                        EXPECT_EQ(at_disk.fetch_add(1), 0);
                        at_disk.fetch_sub(1);
                        set_under_way.store(false);
                        shift.raise();
                      }};
  const auto help = [&] {
    if (shift.begin_help()) shift.end_pass(work.pass(), By::kHelper);
  };
  with_crew(shift, work, kBringers + 1, [&](int thread) {
    if (thread == kBringers) {
      all.wait();  // Every piece of work is seen without a further raise: that is the test.
      shift.end();
      return;
    }
    for (std::uint64_t i = 0; i < kTimes; ++i) {
      if (thread == 2) {
        const LogShift::Deferral deferral(shift);
        waiting.fetch_add(1);
        shift.raise();
        EXPECT_TRUE(deferral.raised());
      } else {
        waiting.fetch_add(1);
      }
      if (thread == 0) {
        shift.raise();
      } else {
        help();
      }
    }
  });
}

// Rounds in which a pass fills a set, and the disk does not answer before another pass came. In most of them the other
// one of the crew is asleep when the first leaves for the disk.
struct SlowDisk : ShiftTest {
  static constexpr int kRounds = 100;
  enum class Set : std::uint8_t {
    kNone,
    kFilled,
    kSeen  // By the pass that came while it was at the disk.
  };
  std::atomic<Set> set{Set::kNone};
  int rounds = 0;
  std::latch over{1};

  // What the first pass of a round leaves behind, and what happens once its set is at the disk.
  void play(const std::function<Again()>& first, const std::function<void()>& at_disk) {
    const Work work{.pass = [&]() -> Again {
                      if (set.load() == Set::kNone) {
                        set.store(Set::kFilled);
                        shift.set_filled();
                        return first();
                      }
                      Set filled = Set::kFilled;
                      if (set.compare_exchange_strong(filled, Set::kSeen)) set.notify_all();
                      return std::nullopt;
                    },
                    .carry =
                        [&] {
                          at_disk();
                          set.wait(Set::kFilled);
                          if (++rounds == kRounds) over.count_down();
                          shift.raise();
                          set.store(Set::kNone);  // From here on another set may come.
                        }};
    with_crew(shift, work, 1, [&](int) {
      over.wait();
      shift.end();
      set.store(Set::kSeen);  // No pass comes any more.
      set.notify_all();
    });
    EXPECT_GE(rounds, kRounds);
  }
};

TEST_F(SlowDisk, TheOtherOneRunsThePassWhileOneIsAtTheDisk) {
  play([] { return std::nullopt; }, [&] { base::run_in_threads(1, [&](int) { shift.raise(); }); });
}

TEST_F(SlowDisk, ATimeComesThoughOneIsAtTheDisk) {
  play([&] { return clock.elapsed() + milliseconds(1); }, [] {});
}

TEST_F(SlowDisk, ARaiseDuringAPassIsHeardByTheOtherOneWhenItsCrewLeavesForTheDisk) {
  play(
      [&] {
        shift.raise();
        return std::nullopt;
      },
      [] {});
}

TEST_F(ShiftTest, AHelpersSetIsCarriedByTheCrewAndItsTimeIsWatched) {
  std::latch carried(1);
  std::latch timed(1);
  bool told = false;  // Of whoever is in the pass, like the next one.
  Again due;
  const Work work{.pass = [&]() -> Again {
                    if (!due || clock.elapsed() < *due) return due;
                    if (!std::exchange(told, true)) timed.count_down();
                    return std::nullopt;
                  },
                  .carry =
                      [&] {
                        carried.count_down();
                      }};
  with_crew(shift, work, 1, [&](int) {
    while (!shift.begin_help())
      std::this_thread::yield();
    due = clock.elapsed() + milliseconds(20);
    shift.set_filled();
    shift.end_pass(due, By::kHelper);
    carried.wait();
    timed.wait();
    shift.end();
  });
}

TEST_F(ShiftTest, AHelpersSetIsCarriedByTheCrewThoughNothingElseIsDue) {
  constexpr int kSets = 1'000;  // The crew is asleep for most of them.
  int passes = 0;
  std::atomic<int> carried{0};
  const Work work{.pass = [&]() -> Again {
                    ++passes;
                    return std::nullopt;
                  },
                  .carry =
                      [&] {
                        carried.fetch_add(1);
                        carried.notify_all();
                      }};
  with_crew(shift, work, 1, [&](int) {
    for (int set = 0; set < kSets; ++set) {
      while (!shift.begin_help())
        std::this_thread::yield();
      shift.set_filled();
      shift.end_pass(std::nullopt, By::kHelper);
      carried.wait(set);
    }
    shift.end();
  });
  EXPECT_EQ(carried.load(), kSets);
}

TEST_F(ShiftTest, WhatWasKeptBackCountsBehindTheDeferral) {
  ASSERT_TRUE(shift.begin_help());  // What was raised at the start.
  shift.end_pass(std::nullopt, By::kHelper);
  {
    const LogShift::Deferral deferral(shift);
    shift.raise();
  }
  EXPECT_EQ(shift.next(0), Duty::kPass);
  shift.end_pass(std::nullopt, By::kCrew);
}

TEST_F(ShiftTest, ASetStillWaitsWhenAnotherPassComesBeforeItIsCarried) {
  std::latch carried(1);
  ASSERT_TRUE(shift.begin_help());
  shift.set_filled();
  shift.end_pass(std::nullopt, By::kHelper);
  ASSERT_TRUE(shift.begin_help());
  shift.end_pass(std::nullopt, By::kHelper);
  const Work work{.pass = []() -> Again { return std::nullopt; },
                  .carry =
                      [&] {
                        carried.count_down();
                      }};
  with_crew(shift, work, 1, [&](int) {
    carried.wait();
    shift.end();
  });
}

TEST_F(ShiftTest, ARaiseDuringAHelpersPassIsFollowedByAnother) {
  constexpr int kTimes = 1'000;
  std::atomic<int> passes{0};
  const Work work{.pass = [&]() -> Again {
    passes.fetch_add(1);
    passes.notify_all();
    return std::nullopt;
  }};
  with_crew(shift, work, 1, [&](int) {
    for (int i = 0; i < kTimes; ++i) {
      while (!shift.begin_help())
        std::this_thread::yield();
      EXPECT_FALSE(shift.begin_help()) << "one at a time";
      const int before = passes.load();
      shift.raise();
      shift.end_pass(std::nullopt, By::kHelper);
      passes.wait(before);
    }
    shift.end();
  });
}

TEST_F(ShiftTest, RaisesOfAnotherLogAreNotKeptBack) {
  LogShift other{clock};
  const LogShift::Deferral outer(shift);
  const LogShift::Deferral inner(other);
  shift.raise();
  EXPECT_TRUE(outer.raised());
  EXPECT_FALSE(inner.raised());
}

TEST_F(ShiftTest, TheEndWaitsForThePassUnderWayAndNobodyBeginsAnother) {
  std::atomic<bool> over{false};
  ASSERT_TRUE(shift.begin_help());
  base::run_in_threads(2, [&](int thread) {
    if (thread == 0) {
      shift.end();
      EXPECT_TRUE(over.load());
    } else {
      EXPECT_EQ(shift.next(1), Duty::kOver);  // By the end that has begun, and waits.
      over.store(true);
      shift.end_pass(std::nullopt, By::kHelper);
    }
  });
  EXPECT_FALSE(shift.begin_help());
  EXPECT_EQ(shift.next(0), Duty::kOver);
}

}  // namespace
}  // namespace cadastre::node
