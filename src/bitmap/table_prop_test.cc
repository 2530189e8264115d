// Random programs on a table and on its model (6.2). The long run is tests/bitmap_endurance.cc.

#include <cstdint>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include "base/check.h"
#include "bitmap/table_program_testing.h"

namespace cadastre::bitmap {
namespace testing {

// For GoogleTest.
static std::ostream& operator<<(std::ostream& out, const ProgramSetting& setting) {
  return out << setting.name;
}

}  // namespace testing

namespace {

using testing::ProgramSetting;

constexpr std::uint64_t kSeeds = base::kSlowChecks ? 4 : 16;

class TableProgram : public ::testing::TestWithParam<ProgramSetting> {};

// T-P1, T-P3, T-P5.
TEST_P(TableProgram, AnswersAsTheModel) {
  testing::ProgramCounts counts;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const auto outcome = testing::run_program(GetParam().config, seed);
    ASSERT_FALSE(outcome.difference) << "seed " << seed << ": " << *outcome.difference;
    counts += outcome.counts;
  }
  EXPECT_GT(counts.operations, kSeeds * testing::kProgramSteps);
  EXPECT_GT(counts.changed_ids, counts.operations) << "most operations change something";
}

INSTANTIATE_TEST_SUITE_P(Settings,
                         TableProgram,
                         ::testing::ValuesIn(testing::kProgramSettings),
                         [](const auto& setting) { return std::string(setting.param.name); });

}  // namespace
}  // namespace cadastre::bitmap
