// EventCollector: events of one tenant, until someone takes them.

#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/function_ref.h"
#include "coord/events.h"
#include "coord/identity.h"

namespace cadastre::coord {

class EventCollector {
 public:
  EventCollector() = default;
  [[nodiscard]] static EventCollector with_capacity(std::size_t capacity) {
    EventCollector collector;
    collector.events_.reserve(capacity);
    return collector;
  }
  // Holds at most `max` and drops what comes after.
  [[nodiscard]] static EventCollector with_max_capacity(std::size_t max) {
    EventCollector collector = with_capacity(max);
    collector.max_ = max;
    return collector;
  }

  // False: dropped. The first event fixes the tenant for good; another tenant's is our own mistake.
  bool emit(StateTransitionEvent event) {
    CAD_CHECK(tenant_.value_or(event.tenant) == event.tenant, "a collector is of one tenant");
    if (events_.size() >= max_) return false;
    tenant_ = event.tenant;
    events_.push_back(std::move(event));
    return true;
  }

  [[nodiscard]] std::vector<StateTransitionEvent> drain() { return std::exchange(events_, {}); }

  // Visits, then forgets, and keeps the room.
  void drain_with(base::FunctionRef<void(const StateTransitionEvent&)> visit) {
    for (const StateTransitionEvent& event : events_)
      visit(event);
    events_.clear();
  }

  [[nodiscard]] std::size_t size() const noexcept { return events_.size(); }
  [[nodiscard]] bool empty() const noexcept { return events_.empty(); }
  [[nodiscard]] auto begin() const noexcept { return events_.begin(); }
  [[nodiscard]] auto end() const noexcept { return events_.end(); }

 private:
  std::vector<StateTransitionEvent> events_;
  std::size_t max_ = std::numeric_limits<std::size_t>::max();
  std::optional<TenantId> tenant_;
};

}  // namespace cadastre::coord
