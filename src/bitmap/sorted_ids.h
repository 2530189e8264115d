// SortedIds: ids that ascend strictly, as their caller knows. Whoever takes them checks it anyway, for
// that costs less than one lookup.

#pragma once

#include <algorithm>
#include <functional>
#include <span>

#include "bitmap/ids.h"

namespace cadastre::bitmap {

struct SortedIds {
  std::span<const Id> ids;

  [[nodiscard]] bool ascend() const noexcept {
    return std::ranges::adjacent_find(ids, std::ranges::greater_equal{}) == ids.end();
  }
};

}  // namespace cadastre::bitmap
