// What several repetitions of one measurement say together. Pure.

#pragma once

#include <algorithm>
#include <vector>

namespace cadastre::bench {

[[nodiscard]] inline double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// From the least to the largest, by the median.
[[nodiscard]] inline double spread(std::vector<double> values) {
  std::ranges::sort(values);
  return (values.back() - values.front()) / values[values.size() / 2];
}

}  // namespace cadastre::bench
