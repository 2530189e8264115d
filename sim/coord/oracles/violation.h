// What an oracle found: the rule that was broken, and how.

#pragma once

#include <string>
#include <vector>

namespace cadastre::sim {

struct Violation {
  std::string rule;  // "S1", "S10", ...
  std::string text;

  friend bool operator==(const Violation&, const Violation&) = default;
};

using Violations = std::vector<Violation>;

}  // namespace cadastre::sim
