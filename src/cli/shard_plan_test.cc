#include "cli/shard_plan.h"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/bytes.h"
#include "cli/answer.h"
#include "cli/options.h"
#include "cli/plan_text.h"

namespace cadastre::cli {
namespace {

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();

EvenPlan even(std::string_view start, std::string_view end, std::uint64_t count) {
  return {{base::as_bytes(start), base::as_bytes(end)}, count};
}

template <class Plan>
std::vector<std::string> shown(const Plan& plan) {
  std::vector<std::string> lines;
  visit_plan(plan, [&](const PlannedShard& planned) {
    lines.push_back(fmt::format("{} [{}, {}) {} {}", planned.id, base::to_hex(planned.start),
                                base::to_hex(planned.end), hint_text(planned.hint),
                                base::to_hex(planned.metadata)));
    return true;
  });
  return lines;
}

template <class Plan>
std::string refusal(const Plan& plan) {
  const auto checked = check_plan(plan);
  return checked ? "fine" : checked.error().code;
}

TEST(EvenPlan, TilesTheRange) {
  EXPECT_EQ(shown(even("a", "e", 2)), (std::vector<std::string>{"0 [61, 63) range 0000000100",
                                                                "1 [63, 65) range 0000000100"}));
  EXPECT_EQ(shown(even("", "", 2)),
            (std::vector<std::string>{"0 [, 80) range 0000000100", "1 [80, ) range 0000000100"}));
  EXPECT_EQ(shown(even("", "", 1)), std::vector<std::string>{"0 [, ) range 0000000100"});
}

TEST(EvenPlan, IsRefusedWhereThereIsNoRoom) {
  const std::string longest(4096, 'a');
  EXPECT_EQ(refusal(even("a", "b", 1'000'000)), "fine");
  EXPECT_EQ(refusal(even("b", "a", 2)), "inverted_range");
  EXPECT_EQ(refusal(even("a", "a", 1)), "inverted_range");
  EXPECT_EQ(refusal(even(longest + "a", "b", 2)), "key_too_large");
  EXPECT_EQ(refusal(even("a", longest + "a", 2)), "key_too_large");
  EXPECT_EQ(refusal(even(longest, longest.substr(1) + "b", 1)), "fine");
  EXPECT_EQ(refusal(even(longest, longest.substr(1) + "b", 2)), "range_too_narrow");
}

TEST(RowPlan, GivesTheLastShardWhatIsLeft) {
  const RowPlan plan{{7, 0, 10}, 4};
  EXPECT_EQ(shard_count(plan), 3U);
  const auto lines = shown(plan);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[2],
            "2 [00000000000000070000000000000008, 0000000000000007000000000000000a) "
            "manifest 7, rows 8..10 000000190200000000000000070000000000000008000000000000000a");
}

TEST(RowPlan, DoesNotWrapAtTheLastRow) {
  EXPECT_EQ(shown(RowPlan{{1, kMax - 1, kMax}, kMax}).size(), 1U);
  EXPECT_EQ(shown(RowPlan{{1, 0, kMax}, kMax / 2}).size(), 3U);
  EXPECT_EQ(shard_count(RowPlan{{1, 0, kMax}, kMax / 2}), 3U);
  EXPECT_EQ(shard_count(RowPlan{{1, 0, kMax}, 1}), kMax);
}

TEST(RowPlan, RefusesRowsThatAreNone) {
  EXPECT_EQ(refusal(RowPlan{{1, 5, 5}, 1}), "inverted_range");
  EXPECT_EQ(refusal(RowPlan{{1, 6, 5}, 1}), "inverted_range");
  EXPECT_EQ(refusal(RowPlan{{1, 5, 6}, 1}), "fine");
}

TEST(VisitPlan, StopsWhenItsVisitorDoes) {
  int visits = 0;
  const auto stop_at_third = [&](const PlannedShard&) {
    return ++visits < 3;
  };
  visit_plan(even("", "", kMax), stop_at_third);
  EXPECT_EQ(visits, 3);
  visits = 0;
  visit_plan(RowPlan{{1, 0, kMax}, 1}, stop_at_third);
  EXPECT_EQ(visits, 3);
}

TEST(PlanText, IsAnObjectWithTheKeysInTheirForm) {
  std::string text;
  std::string hex;
  visit_plan(even("a", "c", 1), [&](const PlannedShard& planned) {
    append_plan_json(text, planned, KeyForm::kText);
    append_plan_json(hex, planned, KeyForm::kHex);
    return true;
  });
  EXPECT_EQ(text,
            R"({"id":0,"start":"a","end":"c","hint":{"kind":"range"},"metadata":"0000000100"})");
  EXPECT_EQ(hex,
            R"({"id":0,"start":"61","end":"63","hint":{"kind":"range"},"metadata":"0000000100"})");
}

TEST(PlanTable, AlignsItsColumns) {
  const EvenPlan plan = even("long-start", "", 2);
  PlanTable table(shard_count(plan), KeyForm::kHex);
  visit_plan(plan, [&](const PlannedShard& planned) {
    table.widen_for(planned);
    return true;
  });
  std::string text;
  table.append_title(text);
  visit_plan(plan, [&](const PlannedShard& planned) {
    text += '\n';
    table.append_row(text, planned);
    return true;
  });
  EXPECT_EQ(text,
            "id  start                 end                   metadata    hint\n"
            " 0  6c6f6e672d7374617274  b637b73396b9ba30b93a  0000000100  range\n"
            " 1  b637b73396b9ba30b93a  -                     0000000100  range");
}

}  // namespace
}  // namespace cadastre::cli
