// LeaseQueue: leased records by deadline, with the foremost at hand and any one removable.
//
// A heap with four children to a node. Each record remembers its place (`Links`, as in
// marked_sequence.h), so that a renewal moves it from where it is. Deadlines mostly grow, so a new
// one mostly stays where it was appended.
//
// Nothing is allocated but by reserve(). `Foremost` is std::less for the earliest deadline first,
// std::greater for the latest.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/check.h"
#include "coord/identity.h"

namespace cadastre::coord::memory {

template <class Links, class Foremost>
class LeaseQueue {
 public:
  using Number = std::uint32_t;

  explicit LeaseQueue(Links links) noexcept : links_(links) {}

  void reserve(std::size_t count) {
    if (count > entries_.capacity()) entries_.reserve(count + count / 2);
  }

  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
  [[nodiscard]] LogicalTime first_deadline() const noexcept { return entries_.front().deadline; }
  [[nodiscard]] Number first() const noexcept { return entries_.front().number; }

  // There is room: reserve() was told of as many records.
  void push(Number number, LogicalTime deadline) noexcept {
    CAD_CHECK(entries_.size() < entries_.capacity(),
              "the queue has room for every shard of its run");
    entries_.push_back({deadline, number});
    rise(entries_.size() - 1);
  }

  void remove(Number number) noexcept {
    const std::size_t place = links_(number);
    CAD_CHECK(place < entries_.size() && entries_[place].number == number,
              "a leased record knows its place");
    const Entry last = entries_.back();
    entries_.pop_back();
    if (place == entries_.size()) return;
    put(place, last);
    sink(rise(place));
  }

  // Aborts unless the order and the links hold.
  void verify() const {
    for (std::size_t place = 0; place < entries_.size(); ++place) {
      CAD_CHECK(links_(entries_[place].number) == place, "a leased record knows its place");
      if (place == 0) continue;
      const Entry& parent = entries_[(place - 1) / kChildren];
      CAD_CHECK(!foremost(entries_[place], parent), "the foremost is on top");
    }
  }

 private:
  static constexpr std::size_t kChildren = 4;

  struct Entry {
    LogicalTime deadline;
    Number number = 0;
  };

  [[nodiscard]] static bool foremost(const Entry& a, const Entry& b) noexcept {
    return Foremost{}(a.deadline, b.deadline);
  }

  void put(std::size_t place, const Entry& entry) noexcept {
    entries_[place] = entry;
    links_(entry.number) = static_cast<std::uint32_t>(place);
  }

  std::size_t rise(std::size_t place) noexcept {
    const Entry moving = entries_[place];
    while (place > 0) {
      const std::size_t parent = (place - 1) / kChildren;
      if (!foremost(moving, entries_[parent])) break;
      put(place, entries_[parent]);
      place = parent;
    }
    put(place, moving);
    return place;
  }

  void sink(std::size_t place) noexcept {
    const Entry moving = entries_[place];
    for (;;) {
      const std::size_t first = place * kChildren + 1;
      if (first >= entries_.size()) break;
      std::size_t best = first;
      for (std::size_t child = first + 1; child < first + kChildren && child < entries_.size();
           ++child) {
        if (foremost(entries_[child], entries_[best])) best = child;
      }
      if (!foremost(entries_[best], moving)) break;
      put(place, entries_[best]);
      place = best;
    }
    put(place, moving);
  }

  Links links_;
  std::vector<Entry> entries_;
};

}  // namespace cadastre::coord::memory
