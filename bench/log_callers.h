// Closed loops on groups of this process: so many callers, each with one submission under way.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "log/group.h"
#include "log/metrics.h"

namespace cadastre::bench {

inline constexpr std::size_t kCommandBytes = 100;

struct LoadPlan {
  std::size_t groups = 1;        // The first so many of those given.
  std::size_t outstanding = 64;  // Submissions under way, over all groups.
  std::size_t commands = 1;      // In a submission.
  std::size_t command_bytes = kCommandBytes;
  double seconds = 3;
};
struct LoadResult {
  double commands_per_second = 0;
  double sets_per_second = 0;
  double p50_us = 0;  // From a submission to its last answer.
  double p99_us = 0;
  double cpu_us_per_command = 0;  // Of this process, the callers' own part included.
};

// After a warm-up of a fifth of the time. Every command is applied: the groups are led here meanwhile.
[[nodiscard]] LoadResult run_callers(std::span<log::Group* const> groups,
                                     const log::NodeMetrics& metrics,
                                     const LoadPlan& plan);

struct FillPlan {
  std::uint64_t bytes = 0;  // Of commands, over all groups; at least so many.
  std::size_t command_bytes = kCommandBytes;
};
// Puts commands into the groups, and waits for their answers.
void fill_groups(std::span<log::Group* const> groups, const FillPlan& plan);

// Linearizable reads per second, so many under way on one group.
[[nodiscard]] double run_readers(log::Group& group, std::size_t outstanding, double seconds);

}  // namespace cadastre::bench
