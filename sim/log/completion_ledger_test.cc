#include "sim/log/completion_ledger.h"

#include <chrono>

#include <gtest/gtest.h>

namespace cadastre::sim {
namespace {

constexpr log::GroupId kGroup{3};

bool any(const CompletionLedger::Open& /*one*/) {
  return true;
}

TEST(CompletionLedger, CountsWhatIsOpenByGroupAndKind) {
  CompletionLedger ledger;
  const auto command =
      ledger.open({kGroup, CompletionKind::kCommand, SimTime(std::chrono::seconds(1))});
  const auto barrier =
      ledger.open({kGroup, CompletionKind::kBarrier, SimTime(std::chrono::seconds(2))});
  EXPECT_EQ(ledger.count(kGroup, CompletionKind::kCommand), 1U);
  EXPECT_EQ(ledger.count(kGroup, CompletionKind::kBarrier), 1U);
  EXPECT_EQ(ledger.count(log::GroupId{4}, CompletionKind::kBarrier), 0U);
  EXPECT_EQ(ledger.oldest(any)->kind, CompletionKind::kCommand);
  const auto reads = [](const CompletionLedger::Open& one) {
    return one.kind == CompletionKind::kBarrier;
  };
  EXPECT_EQ(ledger.oldest(reads)->since, SimTime(std::chrono::seconds(2)));

  EXPECT_TRUE(ledger.close(command));
  EXPECT_EQ(ledger.count(kGroup, CompletionKind::kCommand), 0U);
  EXPECT_EQ(ledger.oldest(any)->since, SimTime(std::chrono::seconds(2)));
  EXPECT_TRUE(ledger.close(barrier));
  EXPECT_FALSE(ledger.oldest(any));
}

TEST(CompletionLedger, TellsASecondCallAndWhatAProcessLeftOpen) {
  CompletionLedger ledger;
  const auto once = ledger.open({kGroup, CompletionKind::kCommand, SimTime()});
  (void)ledger.open({kGroup, CompletionKind::kChange, SimTime()});
  EXPECT_TRUE(ledger.close(once));
  EXPECT_FALSE(ledger.close(once));
  EXPECT_EQ(ledger.clear(), 1U);
  EXPECT_EQ(ledger.clear(), 0U);
}

}  // namespace
}  // namespace cadastre::sim
