// Shrinking a list: the few items that matter to a failure, by leaving out the others.
//
//   const auto few = shrink_list(faults, kAttemptsMax, [&](const auto& some) { return fails(seed, some); });
//
// Halves are left out first, then quarters, ... then single items, each size again and again until none
// of its pieces can go. Unless the attempts ran out, the answer is minimal: without any single one of
// its items the failure is gone. The predicate must be a function of the list.

#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/function_ref.h"

namespace cadastre::sim {
namespace shrinking {

template <class Item>
std::vector<Item> without(const std::vector<Item>& items, std::size_t first, std::size_t count) {
  std::vector<Item> rest;
  rest.reserve(items.size() - count);
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i < first || i >= first + count) rest.push_back(items[i]);
  }
  return rest;
}

// Once from front to back; whether a piece could be left out and another round may leave out more.
template <class Item>
bool leave_out_pieces(std::vector<Item>& items,
                      std::size_t piece,
                      base::FunctionRef<bool(const std::vector<Item>&)> fails,
                      std::size_t& attempts_left) {
  bool shorter = false;
  for (std::size_t first = 0; first < items.size();) {
    if (attempts_left == 0) return false;
    --attempts_left;
    const std::size_t count = std::min(piece, items.size() - first);
    std::vector<Item> rest = without(items, first, count);
    if (fails(rest)) {
      items = std::move(rest);
      shorter = true;
    } else {
      first += count;
    }
  }
  return shorter;
}

}  // namespace shrinking

// `items` itself fails; it is not asked about. At most `attempts_max` other lists are.
template <class Item>
[[nodiscard]] std::vector<Item> shrink_list(
    std::vector<Item> items,
    std::size_t attempts_max,
    std::type_identity_t<base::FunctionRef<bool(const std::vector<Item>&)>> fails) {
  std::size_t attempts_left = attempts_max;
  for (std::size_t piece = std::max<std::size_t>(items.size() / 2, 1); piece > 0; piece /= 2) {
    while (shrinking::leave_out_pieces(items, piece, fails, attempts_left)) {}
  }
  return items;
}

}  // namespace cadastre::sim
