#include "log/round.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/crc32c.h"
#include "log/ledger_testing.h"

namespace cadastre::log {
namespace {

Entry entry(std::uint64_t index, const std::vector<std::string>& commands) {
  BodyBuilder builder;
  for (const std::string& command : commands)
    builder.add({base::as_bytes(command), base::crc32c(base::as_bytes(command))});
  Body body;
  if (!commands.empty()) body = builder.close(0);
  return {{Term{1}, Index{index}}, EntryType::kNormal, body};
}

class RoundTest : public ::testing::Test {
 protected:
  base::Result<void, HaltReason> run(const std::vector<Entry>& entries) {
    std::vector<const Entry*> pointers;
    for (const Entry& one : entries)
      pointers.push_back(&one);
    return round.run(machine, pointers);
  }

  LedgerDisk disk;
  LedgerMachine machine{disk};
  Round round;
};

TEST_F(RoundTest, ExecutesEntriesInOrderWithOneResultForEachCommand) {
  ASSERT_TRUE(run({entry(1, {}), entry(2, {"a", "b"}), entry(3, {"c"})}));
  EXPECT_EQ(machine.state().commands, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(machine.applied(), (Position{Term{1}, Index{3}}));
  EXPECT_EQ(round.results().size(), 3U);
  EXPECT_EQ(round.commands_of(0), 0U);
  EXPECT_EQ(round.commands_of(1), 2U);
  ASSERT_TRUE(run({entry(4, {"d"})}));
  EXPECT_EQ(round.results().size(), 1U);
}

TEST_F(RoundTest, ChecksEverySumBeforeAnythingIsExecuted) {  // L-13
  Entry damaged = entry(2, {"b"});
  Bytes bytes = base::to_owned(damaged.body.bytes());
  bytes.back() ^= std::byte{1};
  damaged.body = Body::copy_of(bytes);
  const auto ran = run({entry(1, {"a"}), damaged});
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().code, HaltReason::kDamaged);
  EXPECT_NE(ran.error().detail.find("entry 1/2"), std::string::npos) << ran.error().detail;
  EXPECT_TRUE(machine.state().commands.empty());
}

TEST_F(RoundTest, SaysWhyItHalted) {  // L-20
  Entry newer = entry(1, {"a"});
  Bytes bytes = base::to_owned(newer.body.bytes());
  bytes[0] = std::byte{2};
  newer.body = Body::copy_of(bytes);
  EXPECT_EQ(run({newer}).error().code, HaltReason::kNewer);
  EXPECT_EQ(run({entry(1, {machine.poison})}).error().code, HaltReason::kNewer);
  machine.broken = true;
  EXPECT_EQ(run({entry(1, {"a"})}).error().code, HaltReason::kStorage);
}

}  // namespace
}  // namespace cadastre::log
