#include "coord/memory/marked_sequence.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "shard/key_space_testing.h"

namespace cadastre::coord::memory {
namespace {

using shard::SampleStream;

constexpr std::size_t kNumbers = 2000;  // eight blocks

struct VectorLinks {
  std::vector<std::uint32_t>* places;

  std::uint32_t& operator()(std::uint32_t number) const noexcept { return (*places)[number]; }
};

struct ByRank {
  const std::vector<std::uint32_t>* ranks;

  bool operator()(std::uint32_t a, std::uint32_t b) const { return (*ranks)[a] < (*ranks)[b]; }
};

// A sequence beside the plainest thing that does the same. Numbers are ordered by their rank.
class Double {
 public:
  explicit Double(std::uint64_t seed) : stream_(seed), places_(kNumbers), ranks_(kNumbers) {
    for (std::size_t i = 0; i < kNumbers; ++i)
      ranks_[i] = static_cast<std::uint32_t>((i * 977) % kNumbers);  // a permutation
  }

  [[nodiscard]] std::uint32_t any_number() {
    return static_cast<std::uint32_t>(stream_.below(kNumbers));
  }
  [[nodiscard]] std::uint64_t dice(std::uint64_t sides) { return stream_.below(sides); }

  [[nodiscard]] bool has(std::uint32_t number) const { return find(number) != items_.end(); }

  void insert(std::uint32_t number, Mark mark) {
    sequence_.insert(number, mark, before());
    const auto at = std::ranges::partition_point(
        items_, [&](const Item& item) { return ranks_[item.number] < ranks_[number]; });
    items_.insert(at, {number, mark});
  }
  void erase(std::uint32_t number) {
    sequence_.erase(number);
    items_.erase(find(number));
  }
  void mark(std::uint32_t number, Mark mark) {
    sequence_.mark(number, mark);
    find(number)->mark = mark;
  }

  // Everything that can be asked, compared.
  void expect_equal(std::uint32_t visit_from) const {
    sequence_.verify(before());
    std::vector<std::uint32_t> all;
    std::vector<std::uint32_t> marked;
    for (const Item& item : items_) {
      all.push_back(item.number);
      if (item.mark == Mark::kSet) marked.push_back(item.number);
      ASSERT_EQ(sequence_.is_marked(item.number), item.mark == Mark::kSet);
    }
    ASSERT_EQ(sequence_.size(), all.size());
    ASSERT_EQ(sequence_.marked(), marked.size());
    for (std::size_t rank = 0; rank < marked.size(); ++rank)
      ASSERT_EQ(sequence_.select(rank), marked[rank]);
    std::vector<std::uint32_t> visited;
    const auto keep = [&](std::uint32_t number) {
      visited.push_back(number);
      return true;
    };
    sequence_.visit(keep);
    ASSERT_EQ(visited, all);
    const auto from = std::ranges::find(all, visit_from);
    if (from == all.end()) return;
    visited.clear();
    sequence_.visit_after(visit_from, keep);
    ASSERT_EQ(visited, std::vector(from + 1, all.end()));
  }

  [[nodiscard]] std::size_t size() const { return items_.size(); }
  [[nodiscard]] std::uint32_t at(std::size_t index) const { return items_[index].number; }

 private:
  struct Item {
    std::uint32_t number;
    Mark mark;
  };

  [[nodiscard]] std::vector<Item>::const_iterator find(std::uint32_t number) const {
    return std::ranges::find(items_, number, &Item::number);
  }
  [[nodiscard]] std::vector<Item>::iterator find(std::uint32_t number) {
    return std::ranges::find(items_, number, &Item::number);
  }
  [[nodiscard]] ByRank before() const { return {&ranks_}; }

  SampleStream stream_;
  std::vector<std::uint32_t> places_;
  std::vector<std::uint32_t> ranks_;
  MarkedSequence<VectorLinks> sequence_{VectorLinks{&places_}};
  std::vector<Item> items_;
};

Mark any_mark(Double& both) {
  return both.dice(2) == 0 ? Mark::kClear : Mark::kSet;
}

// One random change; grows or shrinks by preference.
void step(Double& both, std::uint64_t insertions_of_ten) {
  const std::uint32_t number = both.any_number();
  if (!both.has(number)) {
    if (both.dice(10) < insertions_of_ten) both.insert(number, any_mark(both));
    return;
  }
  if (both.dice(10) < insertions_of_ten) {
    both.mark(number, any_mark(both));
  } else {
    both.erase(number);
  }
}

void walk(Double& both, std::uint64_t insertions_of_ten) {
  for (int i = 0; i < 4000; ++i) {
    step(both, insertions_of_ten);
    if (i % 250 == 0) both.expect_equal(both.any_number());
  }
}

TEST(MarkedSequence, DoesAsASortedVectorDoes) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    Double both(seed);
    // Full, then empty, then full again: blocks split, retire and come back.
    for (const std::uint64_t insertions_of_ten : {9U, 1U, 8U, 0U, 7U}) {
      walk(both, insertions_of_ten);
      both.expect_equal(both.any_number());
    }
  }
}

TEST(MarkedSequence, AscendingAndDescendingFillEveryBlock) {
  Double both(1);
  for (std::uint32_t number = 0; number < kNumbers; ++number)
    both.insert(number, number % 3 == 0 ? Mark::kSet : Mark::kClear);
  both.expect_equal(0);
  while (both.size() > 0) {
    both.erase(both.at(both.size() / 2));
    if (both.size() % 200 == 0) both.expect_equal(0);
  }
}

TEST(MarkedSequence, MarkingTwiceCountsOnce) {
  Double both(1);
  both.insert(5, Mark::kClear);
  both.insert(6, Mark::kSet);
  both.mark(5, Mark::kSet);
  both.mark(5, Mark::kSet);
  both.mark(6, Mark::kClear);
  both.mark(6, Mark::kClear);
  both.expect_equal(5);
}

TEST(MarkedSequence, VisitsStopWhenTold) {
  std::vector<std::uint32_t> places(10);
  MarkedSequence<VectorLinks> sequence(VectorLinks{&places});
  for (std::uint32_t number = 0; number < 10; ++number)
    sequence.insert(number, Mark::kClear, std::less<>());
  std::vector<std::uint32_t> visited;
  const auto three = [&](std::uint32_t number) {
    visited.push_back(number);
    return visited.size() < 3;
  };
  sequence.visit(three);
  EXPECT_EQ(visited, (std::vector<std::uint32_t>{0, 1, 2}));
  visited.clear();
  sequence.visit_after(4, three);
  EXPECT_EQ(visited, (std::vector<std::uint32_t>{5, 6, 7}));
}

}  // namespace
}  // namespace cadastre::coord::memory
