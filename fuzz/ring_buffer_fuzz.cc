// RingBuffer under any sequence of operations, against std::deque. The elements own heap memory, so
// that a lost or doubled destructor is a finding too.
//
// Input: operations until the end.

#include "base/ring_buffer.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "fuzz/input.h"
#include "fuzz/target.h"

namespace cadastre::fuzz {
namespace {

// Copyable, on the heap, and empty once it is moved from.
class Box {
 public:
  explicit Box(int value) : value_(std::make_unique<int>(value)) {}
  Box(const Box& other) : value_(other.value_ ? std::make_unique<int>(*other.value_) : nullptr) {}
  Box(Box&&) noexcept = default;
  Box& operator=(const Box& other) {
    if (this != &other) *this = Box(other);
    return *this;
  }
  Box& operator=(Box&&) noexcept = default;
  ~Box() = default;

  [[nodiscard]] bool is_full() const { return value_ != nullptr; }
  friend bool operator==(const Box& a, const Box& b) {
    return a.value_ && b.value_ && *a.value_ == *b.value_;
  }

 private:
  std::unique_ptr<int> value_;
};

template <std::size_t Capacity>
class Run {
 public:
  void step(Input& in) {
    switch (in.below(8)) {
      case 0: push(Box(in.byte())); break;
      case 1:
      case 2: overwrite(Box(in.byte())); break;
      case 3: pop(); break;
      case 4: copy(in); break;
      case 5: move(in); break;
      case 6: rebuild(); break;
      default:
        if (!in.one_in(4)) break;
        ring_.clear();
        model_.clear();
        break;
    }
    check(Box(in.byte()));
  }

 private:
  using Ring = base::RingBuffer<Box, Capacity>;

  void push(Box value) {
    const bool full = model_.size() == Capacity;
    if (!full) model_.push_back(value);
    CAD_CHECK(ring_.push_back(std::move(value)) == !full, "a full buffer refuses");
    // NOLINTNEXTLINE(bugprone-use-after-move): the promise is what happens to it.
    CAD_CHECK(value.is_full() == full, "what is refused is not moved from");
  }

  void overwrite(const Box& value) {
    std::optional<Box> oldest;
    if (model_.size() == Capacity) {
      oldest = model_.front();
      model_.pop_front();
    }
    model_.push_back(value);
    const auto evicted = ring_.push_back_overwrite(value);
    CAD_CHECK(evicted == oldest, "the oldest makes room");
  }

  void pop() {
    std::optional<Box> oldest;
    if (!model_.empty()) {
      oldest = model_.front();
      model_.pop_front();
    }
    CAD_CHECK(ring_.pop_front() == oldest, "the oldest leaves first");
  }

  void copy(Input& in) {
    const Ring other(ring_);
    CAD_CHECK(other == ring_, "a copy is equal, wherever its head stands");
    if (in.below(2) == 0) ring_ = other;
  }

  void move(Input& in) {
    Ring other;
    if (in.below(2) == 0) {
      Ring third(std::move(ring_));
      other = std::move(third);
    } else {
      (void)other.push_back(Box(1));
      other = std::move(ring_);
    }
    // NOLINTNEXTLINE(bugprone-use-after-move): the promise is that it is empty.
    CAD_CHECK(ring_.empty(), "a buffer that was moved from is empty");
    ring_ = std::move(other);
  }

  void rebuild() {
    const std::vector<Box> values(model_.begin(), model_.end());
    CAD_CHECK(Ring(values) == ring_, "a buffer of the same elements is equal");
  }

  void check(const Box& wanted) const {
    CAD_CHECK(ring_.size() == model_.size() && ring_.empty() == model_.empty(), "sizes agree");
    CAD_CHECK(ring_.full() == (model_.size() == Capacity), "a buffer knows when it is full");
    CAD_CHECK(std::equal(ring_.begin(), ring_.end(), model_.begin(), model_.end()),
              "elements come oldest first");
    CAD_CHECK(std::equal(std::make_reverse_iterator(ring_.end()),
                         std::make_reverse_iterator(ring_.begin()), model_.rbegin(), model_.rend()),
              "and newest first the other way");
    CAD_CHECK(ring_.get(model_.size()) == nullptr, "there is nothing behind the newest");
    const Box* const found = ring_.find_if([&](const Box& held) { return held == wanted; });
    const auto place = std::ranges::find(model_, wanted);
    const Box* const expected = place == model_.end()
                                    ? nullptr
                                    : ring_.get(static_cast<std::size_t>(place - model_.begin()));
    CAD_CHECK(found == expected, "the oldest match is found");
  }

  Ring ring_;
  std::deque<Box> model_;
};

template <std::size_t Capacity>
void run(Input& in) {
  Run<Capacity> run;
  for (int steps = 0; steps < 400 && !in.done(); ++steps)
    run.step(in);
}

}  // namespace

void run_one(base::ByteView input) {
  Input in(input);
  switch (in.below(3)) {
    case 0: return run<1>(in);
    case 1: return run<4>(in);
    default: return run<16>(in);
  }
}

}  // namespace cadastre::fuzz
