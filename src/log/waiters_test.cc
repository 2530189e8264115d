#include "log/waiters.h"

#include <map>
#include <set>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace cadastre::log {
namespace {

// Waiters that are told apart by their number of bytes.
EntryWaiters numbered(std::size_t number) {
  EntryWaiters waiters;
  waiters.done.emplace_back([](const Answer&) {});
  waiters.bytes = number;
  return waiters;
}

TEST(Waiters, AnEntryOfAnotherTermIsNotTheirs) {  // L-14
  Waiters waiters;
  waiters.add({Term{1}, Index{5}}, numbered(1));
  waiters.add({Term{2}, Index{5}}, numbered(2));
  waiters.add({Term{2}, Index{6}}, numbered(3));
  Waiters::Settled settled = waiters.settle({Term{2}, Index{5}});
  EXPECT_EQ(settled.applied.bytes, 2U);
  ASSERT_EQ(settled.superseded.size(), 1U);
  EXPECT_EQ(settled.superseded[0].bytes, 1U);
  EXPECT_FALSE(waiters.empty());
  settled = waiters.settle({Term{3}, Index{6}});
  EXPECT_TRUE(settled.applied.done.empty());
  ASSERT_EQ(settled.superseded.size(), 1U);
  EXPECT_EQ(settled.superseded[0].bytes, 3U);
  EXPECT_TRUE(waiters.empty());
}

TEST(Waiters, AnEntryThatNobodyWaitsForSettlesNobody) {
  Waiters waiters;
  waiters.add({Term{1}, Index{5}}, numbered(1));
  const Waiters::Settled settled = waiters.settle({Term{1}, Index{4}});
  EXPECT_TRUE(settled.applied.done.empty());
  EXPECT_TRUE(settled.superseded.empty());
  EXPECT_FALSE(waiters.empty());
}

RC_GTEST_PROP(WaitersProperty, SettleAsAPlainListWould, ()) {
  struct Model {
    Position at;
    std::size_t number;
  };
  Waiters waiters;
  std::vector<Model> model;
  std::set<std::size_t> answered;
  std::size_t next = 1;
  const int steps = *rc::gen::inRange(1, 60);
  for (int step = 0; step < steps; ++step) {
    const Position at{Term{*rc::gen::inRange<std::uint64_t>(1, 4)},
                      Index{*rc::gen::inRange<std::uint64_t>(1, 6)}};
    if (*rc::gen::arbitrary<bool>()) {
      const bool taken = std::ranges::any_of(model, [&](const Model& one) { return one.at == at; });
      if (taken) continue;
      waiters.add(at, numbered(next));
      model.push_back({at, next++});
      continue;
    }
    std::size_t applied = 0;
    std::set<std::size_t> superseded;
    std::erase_if(model, [&](const Model& one) {
      if (one.at.index != at.index) return false;
      if (one.at.term == at.term) {
        applied = one.number;
      } else {
        superseded.insert(one.number);
      }
      return true;
    });
    const Waiters::Settled settled = waiters.settle(at);
    RC_ASSERT(settled.applied.bytes == applied);
    RC_ASSERT(settled.superseded.size() == superseded.size());
    for (const EntryWaiters& one : settled.superseded) {
      RC_ASSERT(superseded.contains(one.bytes));
      RC_ASSERT(answered.insert(one.bytes).second);
    }
  }
  RC_ASSERT(waiters.empty() == model.empty());
  RC_ASSERT(waiters.take_all().size() == model.size());
  RC_ASSERT(waiters.empty());
}

}  // namespace
}  // namespace cadastre::log
