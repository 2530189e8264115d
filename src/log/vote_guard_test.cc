#include "log/vote_guard.h"

#include <chrono>

#include <gtest/gtest.h>

namespace cadastre::log {
namespace {

using std::chrono::milliseconds;

constexpr RaftSettings kSettings;  // A promise of 950 ms, an election timeout of 1 s.
constexpr base::Elapsed kBegan = milliseconds(500);
constexpr Term kTerm{5};

MessageHead head(MessageKind kind, Term term = kTerm) {
  return {.from = NodeId{2}, .term = term, .kind = kind};
}
MessageHead forced() {
  MessageHead made = head(MessageKind::kVoteRequest);
  made.forced = true;
  return made;
}

TEST(VoteGuard, ANewProcessHelpsNobodyForOneElectionTimeout) {  // 8.3: a restarted voter
  const VoteGuard guard(kSettings, kBegan);
  const base::Elapsed end = kBegan + kSettings.election_timeout();
  EXPECT_TRUE(guard.drops(head(MessageKind::kVoteRequest), end - milliseconds(1)));
  EXPECT_TRUE(guard.drops(forced(), end - milliseconds(1)));
  EXPECT_FALSE(guard.drops(head(MessageKind::kVoteRequest), end));
  EXPECT_FALSE(guard.drops(head(MessageKind::kAppend), kBegan));
}

TEST(VoteGuard, WhoHeardALeaderHelpsNobodyElseWhateverTheTerm) {  // L-61
  for (const MessageKind kind :
       {MessageKind::kAppend, MessageKind::kHeartbeat, MessageKind::kSnapshot}) {
    VoteGuard guard(kSettings, kBegan);
    const base::Elapsed heard = milliseconds(10'000);
    guard.stepped(head(kind), kTerm, heard);
    const base::Elapsed end = heard + kSettings.promise();
    for (const Term term : {Term{1}, kTerm, Term{99}})
      EXPECT_TRUE(guard.drops(head(MessageKind::kVoteRequest, term), end - milliseconds(1)));
    EXPECT_FALSE(guard.drops(forced(), heard));  // A transfer.
    EXPECT_FALSE(guard.drops(head(MessageKind::kVoteRequest), end));
  }
}

TEST(VoteGuard, ALeaderOfThePastIsNotHeard) {
  VoteGuard guard(kSettings, kBegan);
  const base::Elapsed now = milliseconds(10'000);
  guard.stepped(head(MessageKind::kHeartbeat, Term{4}), kTerm, now);
  guard.stepped(head(MessageKind::kOther), kTerm, now);
  EXPECT_FALSE(guard.drops(head(MessageKind::kVoteRequest), now));
}

}  // namespace
}  // namespace cadastre::log
