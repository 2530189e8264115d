#include "log/recovery.h"

#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace cadastre::log {
namespace {

// Truncated at 2/4; 5 and 6 are of term 2, 7 to 9 of term 5.
GroupImage image() {
  GroupImage image;
  image.group = GroupId{3};
  image.truncated = {Term{2}, Index{4}};
  image.last = {Term{5}, Index{9}};
  image.terms = {{Index{5}, Term{2}}, {Index{7}, Term{5}}};
  return image;
}

TEST(TermAt, KnowsEveryIndexOfTheLogAndWhereItBegins) {
  const std::vector<std::optional<Term>> expected = {
      std::nullopt, std::nullopt, std::nullopt, std::nullopt, Term{2},     Term{2},
      Term{2},      Term{5},      Term{5},      Term{5},      std::nullopt};
  for (std::uint64_t index = 0; index < expected.size(); ++index)
    EXPECT_EQ(term_at(image(), Index{index}), expected[index]) << index;
}

TEST(TermAt, ANewGroupIsAtNothing) {
  EXPECT_EQ(term_at({}, Index{0}), Term{0});
  EXPECT_EQ(term_at({}, Index{1}), std::nullopt);
}

TEST(CheckState, ComparesTheStateWithTheLog) {  // L-53, R16
  struct Case {
    const char* what;
    Position durable;
    const char* detail;  // Empty: it opens.
  };
  const std::vector<Case> cases = {
      {"the state has exactly what is truncated", {Term{2}, Index{4}}, ""},
      {"the state has a part of the log", {Term{2}, Index{6}}, ""},
      {"the state has all of it: commit is lifted", {Term{5}, Index{9}}, ""},
      {"the log was cut short", {Term{5}, Index{10}}, "the log lost synced entries"},
      {"the log has another entry there", {Term{4}, Index{7}}, "the log lost synced entries"},
      {"an entry of a later run took its place",
       {Term{6}, Index{9}},
       "the log lost synced entries"},
      {"the state went back behind the truncation",
       {Term{2}, Index{3}},
       "the state lost flushed entries"},
      {"the state is empty", {}, "the state lost flushed entries"},
      {"another entry was truncated", {Term{1}, Index{4}}, "the log lost synced entries"},
  };
  for (const Case& one : cases) {
    const auto checked = check_state(image(), one.durable);
    const std::string detail = one.detail;
    ASSERT_EQ(checked.has_value(), detail.empty()) << one.what;
    if (checked) continue;
    EXPECT_EQ(checked.error().code, OpenError::kDamaged) << one.what;
    EXPECT_NE(checked.error().detail.find(detail), std::string::npos)
        << one.what << ": " << checked.error().detail;
    EXPECT_NE(checked.error().detail.find("group 3"), std::string::npos) << one.what;
  }
}

TEST(CheckState, AnEmptyStateOpensOnAnEmptyLog) {
  EXPECT_TRUE(check_state({}, {}));
  EXPECT_FALSE(check_state({}, {Term{1}, Index{1}}));
}

}  // namespace
}  // namespace cadastre::log
