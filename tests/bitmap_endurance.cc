// The long runs of bitmap tables, for ./dev test --full.
//
//   bitmap_endurance programs OPERATIONS   random programs against the model, over every setting (T-P1)
//   bitmap_endurance churn OPERATIONS      ids come and go, and the file stops growing (T-C4)
//
// Prints what was done. Exits with 1 if a law does not hold, with 2 if it is called wrongly.

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <span>
#include <string_view>
#include <system_error>

#include "bitmap/churn_testing.h"
#include "bitmap/config.h"
#include "bitmap/table_program_testing.h"

namespace cadastre::bitmap {
namespace {

constexpr std::uint64_t kFirstSeed = 1'000;  // The short test has those below.
constexpr std::uint64_t kSeedsPerSetting = 1'000'000;

int run_programs(std::uint64_t operations) {
  testing::ProgramCounts total;
  std::uint64_t first_seed = kFirstSeed;
  for (const testing::ProgramSetting& setting : testing::kProgramSettings) {
    testing::ProgramCounts counts;
    std::uint64_t seed = first_seed;
    for (; counts.operations < operations / testing::kProgramSettings.size() + 1; ++seed) {
      const auto outcome = testing::run_program(setting.config, seed);
      if (outcome.difference) {
        std::cout << setting.name << ", seed " << seed << ": " << *outcome.difference << '\n';
        return 1;
      }
      counts += outcome.counts;
    }
    std::cout << setting.name << ": " << seed - first_seed << " programs, " << counts.operations
              << " operations, " << counts.changed_ids << " ids changed" << std::endl;
    total += counts;
    first_seed += kSeedsPerSetting;
  }
  std::cout << "all: " << total.operations << " operations, " << total.changed_ids
            << " ids changed, no difference\n";
  return 0;
}

// The second half of the run must not need more of the file than the first did.
int run_churn(std::uint64_t operations) {
  constexpr std::uint64_t kParts = 10;
  testing::Churn churn(Config{});
  std::array<std::uint64_t, kParts> file_bytes{};
  const std::uint64_t part =
      std::max<std::uint64_t>(1, operations / kParts / testing::Churn::kOperationsPerCommit) *
      testing::Churn::kOperationsPerCommit;
  for (std::size_t i = 0; i < kParts; ++i) {
    churn.run(part);
    file_bytes[i] = churn.file_bytes();
    std::cout << (i + 1) * part << " operations: " << file_bytes[i] << " bytes" << std::endl;
  }
  if (!churn.is_whole()) {
    std::cout << "the table is damaged\n";
    return 1;
  }
  if (!testing::Churn::stands_still(file_bytes[kParts / 2 - 1], file_bytes[kParts - 1])) {
    std::cout << "the file still grows\n";
    return 1;
  }
  return 0;
}

int usage() {
  std::cerr << "usage: bitmap_endurance programs|churn OPERATIONS\n";
  return 2;
}

int run(std::span<char*> words) {
  if (words.size() != 3) return usage();
  const std::string_view number = words[2];
  std::uint64_t operations = 0;
  const auto parsed = std::from_chars(number.data(), number.data() + number.size(), operations);
  if (parsed.ec != std::errc{} || parsed.ptr != number.data() + number.size()) return usage();
  const std::string_view what = words[1];
  if (what == "programs") return run_programs(operations);
  if (what == "churn") return run_churn(operations);
  return usage();
}

}  // namespace
}  // namespace cadastre::bitmap

int main(int argc, char** argv) {
  return cadastre::bitmap::run(std::span(argv, static_cast<std::size_t>(argc)));
}
