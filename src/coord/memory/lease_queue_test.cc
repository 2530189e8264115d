#include "coord/memory/lease_queue.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "coord/identity.h"
#include "shard/key_space_testing.h"

namespace cadastre::coord::memory {
namespace {

using shard::SampleStream;

struct VectorLinks {
  std::vector<std::uint32_t>* places;

  std::uint32_t& operator()(std::uint32_t number) const noexcept { return (*places)[number]; }
};

struct Lease {
  std::uint32_t number;
  LogicalTime deadline;
};

template <class Foremost>
class Double {
 public:
  explicit Double(std::size_t numbers) : places_(numbers) { queue_.reserve(numbers); }

  [[nodiscard]] auto find(std::uint32_t number) {
    return std::ranges::find(leases_, number, &Lease::number);
  }
  [[nodiscard]] bool has(std::uint32_t number) { return find(number) != leases_.end(); }

  void push(std::uint32_t number, LogicalTime deadline) {
    queue_.push(number, deadline);
    leases_.push_back({number, deadline});
  }
  void remove(std::uint32_t number) {
    queue_.remove(number);
    leases_.erase(find(number));
  }

  // The foremost deadline is that of a scan, and the foremost record has it.
  void expect_equal() {
    queue_.verify();
    ASSERT_EQ(queue_.size(), leases_.size());
    ASSERT_EQ(queue_.empty(), leases_.empty());
    if (leases_.empty()) return;
    const auto foremost = std::ranges::min_element(leases_, Foremost{}, &Lease::deadline);
    ASSERT_EQ(queue_.first_deadline(), foremost->deadline);
    ASSERT_EQ(find(queue_.first())->deadline, foremost->deadline);
  }

  [[nodiscard]] std::vector<LogicalTime> drain() {
    std::vector<LogicalTime> deadlines;
    while (!queue_.empty()) {
      deadlines.push_back(queue_.first_deadline());
      remove(queue_.first());
    }
    return deadlines;
  }

 private:
  std::vector<std::uint32_t> places_;
  LeaseQueue<VectorLinks, Foremost> queue_{VectorLinks{&places_}};
  std::vector<Lease> leases_;
};

template <class Foremost>
void drive(std::uint64_t seed) {
  constexpr std::size_t kNumbers = 60;
  SampleStream stream(seed);
  Double<Foremost> both(kNumbers);
  for (int i = 0; i < 3000; ++i) {
    const auto number = static_cast<std::uint32_t>(stream.below(kNumbers));
    const LogicalTime deadline = LogicalTime::from_raw(1 + stream.below(40));  // many are equal
    const bool was_there = both.has(number);
    if (was_there) both.remove(number);
    if (!was_there || stream.below(2) == 0) both.push(number, deadline);
    both.expect_equal();
  }
  const auto deadlines = both.drain();
  EXPECT_TRUE(std::ranges::is_sorted(deadlines, Foremost{}));
}

TEST(LeaseQueue, TheEarliestIsForemost) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed)
    drive<std::less<>>(seed);
}

TEST(LeaseQueue, TheLatestIsForemost) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed)
    drive<std::greater<>>(seed);
}

TEST(LeaseQueue, GrowingDeadlinesStayInOrder) {
  constexpr std::uint32_t kNumbers = 1000;
  Double<std::less<>> both(kNumbers);
  for (std::uint32_t number = 0; number < kNumbers; ++number)
    both.push(number, LogicalTime::from_raw(100 + number));
  both.expect_equal();
  const auto deadlines = both.drain();
  EXPECT_EQ(deadlines.size(), kNumbers);
  EXPECT_TRUE(std::ranges::is_sorted(deadlines));
}

}  // namespace
}  // namespace cadastre::coord::memory
