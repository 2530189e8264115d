#include "log/local/local_engine.h"

#include <array>
#include <vector>

#include <gtest/gtest.h>

namespace cadastre::log {
namespace {

std::vector<Index> indexes(const std::vector<Entry>& entries) {
  std::vector<Index> found;
  for (const Entry& entry : entries)
    found.push_back(entry.at.index);
  return found;
}

Body body(std::string_view text) {
  return Body::copy_of(base::as_bytes(text));
}

GroupImage image_at(std::uint64_t state_term, Position last) {
  GroupImage image;
  image.group = GroupId{1};
  image.state.term = Term{state_term};
  image.last = last;
  return image;
}

using Indexes = std::vector<Index>;

TEST(LocalEngine, OpensWithAnEmptyEntryInTheNextTerm) {  // L-22
  LocalEngine engine(image_at(4, {Term{4}, Index{9}}));
  ASSERT_TRUE(engine.has_output());
  const Output output = engine.take_output();
  EXPECT_EQ(output.number, OutputNumber{1});
  ASSERT_EQ(output.entries.size(), 1U);
  EXPECT_EQ(output.entries[0].at, (Position{Term{5}, Index{10}}));
  EXPECT_TRUE(output.entries[0].body.empty());
  ASSERT_TRUE(output.state);
  EXPECT_EQ(*output.state, (HardState{.term = Term{5}, .vote = {}, .commit = {}}));
  EXPECT_TRUE(output.must_sync);
  EXPECT_TRUE(output.committed.empty());
  EXPECT_EQ(engine.status().term, Term{5});
  EXPECT_EQ(engine.status().term_start, Index{10});
  EXPECT_EQ(engine.status().role, Role::kLeader);
}

TEST(LocalEngine, CountsOpeningsEvenWhenTheLogWasCutShort) {  // L-22
  LocalEngine engine(image_at(7, {Term{2}, Index{3}}));
  EXPECT_EQ(engine.take_output().entries[0].at, (Position{Term{8}, Index{4}}));
}

TEST(LocalEngine, CommitsUpToTheOutputThatIsPersisted) {  // L-23
  LocalEngine engine(image_at(0, {}));
  const Output opening = engine.take_output();
  ASSERT_EQ(engine.propose(kAnyTerm, std::array{body("a"), body("b")}),
            (Position{Term{1}, Index{2}}));
  const Output second = engine.take_output();
  EXPECT_EQ(second.number, OutputNumber{2});
  EXPECT_EQ(indexes(second.entries), (Indexes{Index{2}, Index{3}}));
  EXPECT_FALSE(engine.has_output());
  EXPECT_EQ(engine.status().last, Index{3});
  EXPECT_EQ(engine.status().committed, Index{0});

  engine.on_persisted(opening.number);
  EXPECT_EQ(engine.status().committed, Index{1});
  EXPECT_EQ(indexes(engine.take_output().committed), Indexes{Index{1}});
  engine.on_persisted(second.number);
  EXPECT_EQ(engine.status().committed, Index{3});
  const Output last = engine.take_output();
  EXPECT_FALSE(last.must_sync);
  EXPECT_EQ(indexes(last.committed), (Indexes{Index{2}, Index{3}}));
  EXPECT_EQ(base::as_text(last.committed[0].body.bytes()), "a");
}

TEST(LocalEngine, OneReportCoversAllEarlierOutputs) {  // L-23
  LocalEngine engine(image_at(0, {}));
  (void)engine.take_output();
  ASSERT_TRUE(engine.propose(kAnyTerm, std::array{body("a")}));
  const Output second = engine.take_output();
  engine.on_persisted(second.number);
  EXPECT_EQ(indexes(engine.take_output().committed), (Indexes{Index{1}, Index{2}}));
}

TEST(LocalEngine, NothingIsCommittedThatIsNotInAPersistedOutput) {  // L-21
  LocalEngine engine(image_at(0, {}));
  const Output opening = engine.take_output();
  ASSERT_TRUE(engine.propose(kAnyTerm, std::array{body("a")}));
  engine.on_persisted(opening.number);
  const Output output = engine.take_output();
  EXPECT_EQ(indexes(output.committed), Indexes{Index{1}});
  EXPECT_EQ(indexes(output.entries), Indexes{Index{2}});
}

TEST(LocalEngine, AnotherTermAppendsNothing) {  // L-17
  LocalEngine engine(image_at(1, {Term{1}, Index{1}}));
  (void)engine.take_output();
  for (const Term term : {Term{1}, Term{3}}) {
    const auto refused = engine.propose(term, std::array{body("a")});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ProposeError::kNotLeader);
  }
  EXPECT_FALSE(engine.has_output());
  EXPECT_EQ(engine.propose(Term{2}, std::array{body("a")}), (Position{Term{2}, Index{3}}));
}

TEST(LocalEngine, AReadWaitsForWhatIsCommittedWhenItCame) {  // L-83
  LocalEngine engine(image_at(0, {}));
  engine.on_persisted(engine.take_output().number);
  (void)engine.take_output();
  ASSERT_TRUE(engine.propose(kAnyTerm, std::array{body("a")}));
  engine.read_index({.sequence = 11});
  const Output output = engine.take_output();
  ASSERT_EQ(output.reads.size(), 1U);
  EXPECT_EQ(output.reads[0].context.sequence, 11U);
  EXPECT_EQ(output.reads[0].index, Index{1});
}

}  // namespace
}  // namespace cadastre::log
