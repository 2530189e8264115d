// The gate's own promises; what stores make of them is in the conformance suite.

#include "kv/transaction_gate.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/threads_testing.h"
#include "kv/error.h"
#include "kv/store.h"

namespace cadastre::kv {
namespace {

constexpr int kTurns = 2'000;  // Given to another thread, to do what it must not.

TEST(TransactionGate, HandsTheLastSlotOutAgain) {
  TransactionGate gate(3);
  const std::uint32_t first = gate.enter_read().value();
  const std::uint32_t second = gate.enter_read().value();
  EXPECT_NE(first, second);
  gate.leave_read(first);
  EXPECT_EQ(gate.enter_read(), first);
  EXPECT_EQ(gate.readers_open(), 2U);
  gate.leave_read(first);
  gate.leave_read(second);
  EXPECT_EQ(gate.readers_open(), 0U);
}

TEST(TransactionGate, ClosesOnlyWhenNobodyIsInside) {
  TransactionGate gate(2);
  const std::uint32_t slot = gate.enter_read().value();
  EXPECT_EQ(gate.close(OpenTransactions::kRefuse).error(), Error{ErrorCode::kBusy});
  ASSERT_TRUE(gate.enter_write());
  gate.leave_read(slot);
  EXPECT_EQ(gate.close(OpenTransactions::kRefuse).error(), Error{ErrorCode::kBusy});
  gate.leave_write();
  ASSERT_TRUE(gate.close(OpenTransactions::kRefuse));
  EXPECT_EQ(gate.close(OpenTransactions::kRefuse).error(), Error{ErrorCode::kBusy});
  gate.reopen();
  EXPECT_TRUE(gate.enter_write());
  gate.leave_write();
}

TEST(TransactionGate, WaitsForTheReadersInside) {
  TransactionGate gate(2);
  const std::uint32_t slot = gate.enter_read().value();
  std::atomic<bool> is_closing = false;
  std::atomic<bool> has_closed = false;
  base::run_in_threads(2, [&](int thread) {
    if (thread == 0) {
      is_closing = true;
      is_closing.notify_all();
      ASSERT_TRUE(gate.close(OpenTransactions::kWait));
      has_closed = true;
      return;
    }
    is_closing.wait(false);
    for (int i = 0; i < kTurns; ++i)
      std::this_thread::yield();
    EXPECT_FALSE(has_closed);
    gate.leave_read(slot);
  });
  EXPECT_TRUE(has_closed);
  gate.reopen();
}

TEST(TransactionGate, HoldsEveryoneBackWhileItIsClosed) {
  TransactionGate gate(2);
  ASSERT_TRUE(gate.close(OpenTransactions::kRefuse));
  std::atomic<int> entered = 0;
  base::run_in_threads(3, [&](int thread) {
    if (thread == 0) {
      for (int i = 0; i < kTurns; ++i)
        std::this_thread::yield();
      EXPECT_EQ(entered, 0);
      gate.reopen();
    } else if (thread == 1) {
      const std::uint32_t slot = gate.enter_read().value();
      ++entered;
      gate.leave_read(slot);
    } else {
      ASSERT_TRUE(gate.enter_write());
      ++entered;
      gate.leave_write();
    }
  });
  EXPECT_EQ(entered, 2);
}

TEST(TransactionGate, AClockSetBackMakesNoNegativeAge) {
  TransactionGate gate(1);
  const std::uint32_t slot = gate.enter_read().value();
  EXPECT_FALSE(gate.oldest_reader(7, base::Instant()));  // Nothing is known of it yet.
  gate.note_reader(slot, 5, base::Instant(std::chrono::seconds(10)));
  const auto oldest = gate.oldest_reader(7, base::Instant(std::chrono::seconds(9))).value();
  EXPECT_EQ(oldest.commits_behind, 2U);
  EXPECT_EQ(oldest.age, std::chrono::nanoseconds(0));
  gate.leave_read(slot);
}

}  // namespace
}  // namespace cadastre::kv
