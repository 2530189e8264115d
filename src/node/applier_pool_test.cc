#include "node/applier_pool.h"

#include <array>
#include <atomic>
#include <latch>

#include <gtest/gtest.h>

#include "base/threads_testing.h"

namespace cadastre::node {
namespace {

constexpr std::size_t kGroups = 20;

TEST(ApplierPool, RunsAGroupOnOneThreadAtATimeAndLosesNoWake) {
  constexpr int kWakers = 4;
  constexpr std::uint64_t kWakes = 5'000;
  std::array<std::atomic<std::uint64_t>, kGroups> work{};  // Pushed and not yet done.
  std::array<std::atomic<int>, kGroups> inside{};
  std::latch all(static_cast<std::ptrdiff_t>(kWakers * kWakes));
  {
    ApplierPool pool;
    pool.start(3, [&](log::GroupId group) {
      const std::size_t at = group.value();
      EXPECT_EQ(inside[at].fetch_add(1), 0);
      const std::uint64_t done = work[at].exchange(0);
      inside[at].fetch_sub(1);
      for (std::uint64_t i = 0; i < done; ++i)
        all.count_down();
      return false;
    });
    base::run_in_threads(kWakers, [&](int waker) {
      for (std::uint64_t i = 0; i < kWakes; ++i) {
        const log::GroupId group{(i * 7 + static_cast<std::uint64_t>(waker)) % kGroups};
        work[group.value()].fetch_add(1);
        pool.wake({&group, 1});
      }
    });
    all.wait();  // Every push is seen without a further wake: that is the test.
  }
}

TEST(ApplierPool, AGroupWithMoreToDoRunsAgainBehindTheOthers) {
  std::latch done(10);
  std::atomic<int> rounds{0};
  ApplierPool pool;
  pool.start(1, [&](log::GroupId) {
    done.count_down();
    return rounds.fetch_add(1) < 9;
  });
  const log::GroupId group{1};
  pool.wake({&group, 1});
  done.wait();
  pool.stop();
  EXPECT_EQ(rounds.load(), 10);
}

}  // namespace
}  // namespace cadastre::node
