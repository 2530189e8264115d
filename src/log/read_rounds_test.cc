#include "log/read_rounds.h"

#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace cadastre::log {
namespace {

using std::chrono::milliseconds;

constexpr base::Elapsed kRoundMost = milliseconds(500);

class ReadRoundsTest : public testing::Test {
 public:
  void add(const std::string& name, ReadMode mode = ReadMode::kLinearizable) {
    rounds.add(
        {.mode = mode, .done = [this, name](const ReadAnswer&) { told += name; }, .came = now});
  }
  // Who they are, in order.
  std::string names(std::vector<ReadRounds::Reader> readers) {
    told.clear();
    for (ReadRounds::Reader& reader : readers)
      reader.done(ReadPoint{Index{1}});
    return told;
  }

  ReadRounds rounds;
  base::Elapsed now{};
  std::string told;
};

TEST_F(ReadRoundsTest, ARoundServesWhoeverCameBeforeItBegan) {  // L-80
  add("a");
  add("b");
  rounds.begin(1, now);
  add("c");
  EXPECT_EQ(names(rounds.answered(1)), "ab");
  EXPECT_EQ(names(rounds.answered(1)), "");
  EXPECT_TRUE(rounds.due());
  rounds.begin(2, now);
  EXPECT_EQ(names(rounds.answered(2)), "c");
  EXPECT_TRUE(rounds.empty());
}

TEST_F(ReadRoundsTest, OnlySoManyRoundsAreUnderWay) {  // L-80
  for (std::uint64_t round = 1; round <= kReadRoundsMax; ++round) {
    add("x");
    ASSERT_TRUE(rounds.due());
    rounds.begin(round, now);
  }
  add("y");
  EXPECT_FALSE(rounds.due());
  (void)rounds.answered(2);
  EXPECT_TRUE(rounds.due());
}

TEST_F(ReadRoundsTest, ARoundWithoutAnswerIsBegunAgainUnderAnotherName) {  // L-82
  add("a");
  rounds.begin(1, now);
  now += kRoundMost;
  EXPECT_EQ(names(rounds.expire(kRoundMost, now)), "");
  EXPECT_TRUE(rounds.due());
  rounds.begin(2, now);
  EXPECT_EQ(names(rounds.answered(1)), "");  // A late answer to the old name.
  EXPECT_EQ(names(rounds.answered(2)), "a");
}

TEST_F(ReadRoundsTest, WhoWaitedThroughAllAttemptsIsHandedBack) {  // L-82
  add("a");
  for (int attempt = 1; attempt < kReadAttemptsMax; ++attempt) {
    rounds.begin(static_cast<std::uint64_t>(attempt), now);
    now += kRoundMost;
    EXPECT_EQ(names(rounds.expire(kRoundMost, now)), "") << attempt;
  }
  rounds.begin(9, now);
  add("b");
  now += kRoundMost;
  EXPECT_EQ(names(rounds.expire(kRoundMost, now)), "a");
  EXPECT_FALSE(rounds.empty());
}

TEST_F(ReadRoundsTest, WithLeadershipOnlyFollowersReadersStay) {  // L-82, L-84
  add("a");
  add("b", ReadMode::kFollower);
  rounds.begin(1, now);
  add("c");
  EXPECT_EQ(names(rounds.forget()), "ac");
  EXPECT_EQ(names(rounds.answered(1)), "");
  rounds.begin(2, now);
  EXPECT_EQ(names(rounds.answered(2)), "b");
}

TEST_F(ReadRoundsTest, AtTheEndEverybodyIsHandedBack) {
  add("a");
  rounds.begin(1, now);
  add("b", ReadMode::kFollower);
  EXPECT_EQ(names(rounds.take_all()), "ab");
  EXPECT_TRUE(rounds.empty());
}

}  // namespace
}  // namespace cadastre::log
