// OpenCalls: the operations that an order does not hold yet, and which of them may come next.
//
// Calls and returns stand in one list, in the order of time. An operation may come next if no operation
// that is still in the list returned before its call: these are the calls in front of the first return.
// take() and put_back() cost the same whatever the length; put_back() undoes the last take().

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "sim/checkers/history.h"
#include "sim/schedule/sim_time.h"

namespace cadastre::sim::checkers {

class OpenCalls {
 public:
  using Op = std::uint32_t;     // Index of an operation.
  using Place = std::uint32_t;  // Of an event in the list.

  explicit OpenCalls(std::span<const Operation* const> operations)
      : next_(2 * operations.size() + 1), previous_(2 * operations.size() + 1) {
    std::vector<Place> places;
    for (Op op = 0; op < operations.size(); ++op) {
      places.push_back(call_of(op));
      places.push_back(return_of(op));
    }
    // At one instant calls come first: operations that touch are concurrent.
    std::ranges::sort(places, {}, [&](Place place) {
      const Operation& operation = *operations[op_of(place)];
      return std::tuple(is_call(place) ? operation.called : operation.returned, !is_call(place),
                        place);
    });
    Place last = kHead;
    for (const Place place : places) {
      next_[last] = place;
      previous_[place] = last;
      last = place;
    }
    next_[last] = kHead;
    previous_[kHead] = last;
  }

  [[nodiscard]] bool empty() const noexcept { return next_[kHead] == kHead; }

  // for (Place at = first(); is_call(at); at = after(at)) op_of(at) may come next.
  [[nodiscard]] Place first() const noexcept { return next_[kHead]; }
  [[nodiscard]] Place after(Place place) const noexcept { return next_[place]; }
  [[nodiscard]] static bool is_call(Place place) noexcept { return place % 2 == 1; }
  [[nodiscard]] static Op op_of(Place place) noexcept { return (place - 1) / 2; }

  // The operation that returns first. Not if it is empty.
  [[nodiscard]] Op first_to_return() const noexcept {
    Place at = first();
    while (is_call(at))
      at = after(at);
    return op_of(at);
  }

  void take(Op op) noexcept {
    unlink(call_of(op));
    unlink(return_of(op));
  }
  void put_back(Op op) noexcept {
    relink(return_of(op));
    relink(call_of(op));
  }

 private:
  static constexpr Place kHead = 0;  // Even, so that walks over calls stop there.

  static Place call_of(Op op) noexcept { return 2 * op + 1; }
  static Place return_of(Op op) noexcept { return 2 * op + 2; }

  void unlink(Place place) noexcept {
    next_[previous_[place]] = next_[place];
    previous_[next_[place]] = previous_[place];
  }
  void relink(Place place) noexcept {
    next_[previous_[place]] = place;
    previous_[next_[place]] = place;
  }

  std::vector<Place> next_;
  std::vector<Place> previous_;
};

}  // namespace cadastre::sim::checkers
