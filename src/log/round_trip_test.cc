#include "log/round_trip.h"

#include <chrono>

#include <gtest/gtest.h>

namespace cadastre::log {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class RoundTripTest : public ::testing::Test {
 protected:
  void ask(milliseconds at) { trip_.asked(kBegin + at); }
  void answer(milliseconds at) { trip_.answered(kBegin + at); }
  [[nodiscard]] std::optional<base::Elapsed> last() const { return trip_.last(); }

  static constexpr base::Elapsed kBegin = seconds(100);
  RoundTrip trip_;
};

TEST_F(RoundTripTest, IsFromAHeartbeatToItsAnswer) {
  EXPECT_EQ(last(), std::nullopt);
  ask(milliseconds(0));
  EXPECT_EQ(last(), std::nullopt);
  answer(milliseconds(3));
  EXPECT_EQ(last(), milliseconds(3));
  ask(milliseconds(100));
  answer(milliseconds(105));
  EXPECT_EQ(last(), milliseconds(5));
}

TEST_F(RoundTripTest, OneThatLeftWhileAnotherWasUnansweredIsNotMeasured) {
  ask(milliseconds(0));
  ask(milliseconds(2));
  answer(milliseconds(4));
  answer(milliseconds(7));
  EXPECT_EQ(last(), milliseconds(4));
}

TEST_F(RoundTripTest, AnAnswerToNothingSaysNothing) {
  answer(milliseconds(1));
  EXPECT_EQ(last(), std::nullopt);
  ask(milliseconds(100));
  answer(milliseconds(102));
  EXPECT_EQ(last(), milliseconds(2));
}

TEST_F(RoundTripTest, AfterALossTheNextAnswerCountsForBothAndLaterOnesAreRightAgain) {
  ask(milliseconds(0));  // Lost.
  ask(milliseconds(100));
  answer(milliseconds(102));
  EXPECT_EQ(last(), milliseconds(102));
  milliseconds at(200);
  for (; at < kRoundTripForgotten; at += milliseconds(100)) {
    ask(at);
    answer(at + milliseconds(2));
    EXPECT_EQ(last(), milliseconds(102)) << "one seems unanswered";
  }
  ask(at);
  answer(at + milliseconds(2));
  EXPECT_EQ(last(), milliseconds(2));
}

}  // namespace
}  // namespace cadastre::log
