// What several repetitions of one measurement say together. Pure.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace cadastre::bench {

[[nodiscard]] inline double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// Of sorted values, which may be none.
[[nodiscard]] inline double percentile(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) return 0;
  return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
}

// From the 10th to the 90th percentile, by the median; of a few values, from the least to the largest.
[[nodiscard]] inline double spread(std::vector<double> values) {
  std::ranges::sort(values);
  const auto last = static_cast<double>(values.size() - 1);
  const double low = values[static_cast<std::size_t>(std::floor(0.1 * last))];
  const double high = values[static_cast<std::size_t>(std::ceil(0.9 * last))];
  return (high - low) / values[values.size() / 2];
}

}  // namespace cadastre::bench
