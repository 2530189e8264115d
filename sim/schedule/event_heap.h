// EventHeap: the events to come, soonest first; of one time, by their order number.
//
// No two events share time and order, so what comes next does not depend on how the heap is laid out.
// Four children for each parent: half as deep as with two, and siblings are neighbours in memory.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/schedule/sim_time.h"

namespace cadastre::sim {

struct Event {
  SimTime when;
  std::uint64_t order = 0;
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;

  [[nodiscard]] bool before(const Event& other) const noexcept {
    return when != other.when ? when < other.when : order < other.order;
  }
};

class EventHeap {
 public:
  [[nodiscard]] bool empty() const noexcept { return events_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return events_.size(); }
  [[nodiscard]] const Event& top() const noexcept { return events_.front(); }

  void push(const Event& event) {
    events_.push_back(event);
    std::size_t hole = events_.size() - 1;
    while (hole != 0 && event.before(events_[parent(hole)])) {
      events_[hole] = events_[parent(hole)];
      hole = parent(hole);
    }
    events_[hole] = event;
  }

  void pop() noexcept {
    const Event last = events_.back();
    events_.pop_back();
    if (!events_.empty()) sink(0, last);
  }

  template <class Unwanted>
  void remove_if(Unwanted unwanted) {
    std::erase_if(events_, std::move(unwanted));
    for (std::size_t i = events_.size() / kFanOut + 1; i-- > 0;) {
      if (i < events_.size()) sink(i, Event(events_[i]));
    }
  }

 private:
  static constexpr std::size_t kFanOut = 4;

  static std::size_t parent(std::size_t child) noexcept { return (child - 1) / kFanOut; }

  // Puts `event` at `hole` or below it.
  void sink(std::size_t hole, const Event& event) noexcept {
    for (;;) {
      const std::size_t first = hole * kFanOut + 1;
      if (first >= events_.size()) break;
      const std::size_t end = std::min(first + kFanOut, events_.size());
      std::size_t least = first;
      for (std::size_t child = first + 1; child < end; ++child) {
        if (events_[child].before(events_[least])) least = child;
      }
      if (!events_[least].before(event)) break;
      events_[hole] = events_[least];
      hole = least;
    }
    events_[hole] = event;
  }

  std::vector<Event> events_;
};

}  // namespace cadastre::sim
