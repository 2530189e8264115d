#include "log/held.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace cadastre::log {
namespace {

enum class Sync : std::uint8_t {
  kNeeded,
  kNot
};

// An output with one message to the node of its own number.
Output output(std::uint64_t number, Sync sync) {
  Output made;
  made.number = OutputNumber{number};
  made.must_sync = sync == Sync::kNeeded;
  made.held.push_back({.to = NodeId{number}, .bytes = {}});
  return made;
}

std::string text(const Held::Released& released) {
  std::string text = to_string(released.upto) + ":";
  for (const PeerMessage& message : released.messages)
    text += " " + to_string(message.to);
  return text;
}

class HeldTest : public testing::Test {
 public:
  std::string take(std::uint64_t number, Sync sync) {
    Output made = output(number, sync);
    return text(held.taken(made));
  }
  std::string persist(std::uint64_t upto) { return text(held.persisted(OutputNumber{upto})); }

  Held held;
};

TEST_F(HeldTest, NothingLeavesBeforeItsOutputIsPersisted) {  // 5.2
  EXPECT_EQ(take(1, Sync::kNeeded), "0:");
  EXPECT_EQ(take(2, Sync::kNeeded), "0:");
  EXPECT_EQ(persist(1), "1: 1");
  EXPECT_EQ(persist(2), "2: 2");
  EXPECT_TRUE(held.empty());
}

TEST_F(HeldTest, AnOutputWithoutSyncIsPersistedAtOnceIfNothingIsBeforeIt) {  // L-44
  EXPECT_EQ(take(1, Sync::kNot), "1: 1");
  EXPECT_EQ(take(2, Sync::kNot), "2: 2");
}

TEST_F(HeldTest, ASnapshotIsPersistedOnceTheStateHasSwitchedToIt) {  // 5.2, 7.3
  Output snapshot = output(2, Sync::kNeeded);
  snapshot.snapshot.emplace();
  EXPECT_EQ(take(1, Sync::kNeeded), "0:");
  EXPECT_EQ(text(held.taken(snapshot)), "0:");
  EXPECT_EQ(take(3, Sync::kNeeded), "0:");
  EXPECT_EQ(take(4, Sync::kNot), "0:");
  EXPECT_EQ(persist(2), "1: 1");
  EXPECT_EQ(persist(3), "0:");
  EXPECT_EQ(text(held.installed()), "4: 2 3 4");
  EXPECT_EQ(take(5, Sync::kNeeded), "0:");
  EXPECT_EQ(text(held.installed()), "0:");
  EXPECT_EQ(persist(5), "5: 5");
}

TEST_F(HeldTest, AnAnswerWithoutSyncWaitsForTheOutputsBeforeIt) {  // L-54, R4
  EXPECT_EQ(take(1, Sync::kNeeded), "0:");
  EXPECT_EQ(take(2, Sync::kNot), "0:");
  EXPECT_EQ(take(3, Sync::kNeeded), "0:");
  EXPECT_EQ(take(4, Sync::kNot), "0:");
  EXPECT_EQ(persist(1), "2: 1 2");
  EXPECT_EQ(persist(3), "4: 3 4");
}

TEST_F(HeldTest, ASetMayPersistSeveralOutputs) {
  EXPECT_EQ(take(1, Sync::kNeeded), "0:");
  EXPECT_EQ(take(2, Sync::kNeeded), "0:");
  EXPECT_EQ(persist(2), "2: 1 2");
  EXPECT_EQ(persist(2), "0:");
}

}  // namespace
}  // namespace cadastre::log
