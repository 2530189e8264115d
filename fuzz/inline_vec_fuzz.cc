// InlineVec under any sequence of operations, against std::vector: one that fails on overflow, one that
// spills, and one of trivially copyable elements. Strings are long enough to own heap memory.
//
// Input: which of the three, then operations until the end.

#include "base/inline_vec.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "fuzz/input.h"
#include "fuzz/target.h"

namespace cadastre::fuzz {
namespace {

constexpr std::size_t kCapacity = 6;
constexpr std::size_t kSpilledMax = 40;  // How far a spilling vector is filled here.

template <class T>
T element(std::uint8_t value) {
  if constexpr (std::is_same_v<T, std::string>) {
    return std::string(40, static_cast<char>('a' + value % 26));
  } else {
    return T{value};
  }
}

template <class T, class Overflow>
class Run {
 public:
  void step(Input& in) {
    switch (in.below(10)) {
      case 0:
      case 1: push(element<T>(in.byte())); break;
      case 2: append(in); break;
      case 3: pop(); break;
      case 4: truncate(in.below(kSpilledMax)); break;
      case 5: push_own(in); break;
      case 6: copy(in); break;
      case 7: move(in); break;
      case 8: compare(in); break;
      default:
        if (in.one_in(4)) truncate(0);
        break;
    }
    check();
  }

 private:
  using Vec = base::InlineVec<T, kCapacity, Overflow>;
  static constexpr bool kSpills = std::is_same_v<Overflow, base::overflow::Spill>;
  static constexpr std::size_t kMost = kSpills ? kSpilledMax : kCapacity;

  [[nodiscard]] bool has_room() const { return model_.size() < kMost; }

  void push(const T& value) {
    if (kSpills && !has_room()) return;
    const bool room = has_room();
    CAD_CHECK(vec_.try_push_back(value) == room, "only a full vector that fails refuses");
    if (room) model_.push_back(value);
  }

  void append(Input& in) {
    std::vector<T> values;
    for (std::size_t left = in.below(6); left > 0; --left)
      values.push_back(element<T>(in.byte()));
    if (values.size() > kMost - model_.size()) return;
    vec_.append(values);
    model_.insert(model_.end(), values.begin(), values.end());
  }

  void pop() {
    if (model_.empty()) return;
    vec_.pop_back();
    model_.pop_back();
  }

  void truncate(std::size_t count) {
    vec_.truncate(count);
    if (count < model_.size())
      model_.erase(model_.begin() + static_cast<std::ptrdiff_t>(count), model_.end());
  }

  // An element of the vector itself is a legal argument, also when the push moves everything.
  void push_own(Input& in) {
    if (model_.empty() || !has_room()) return;
    const std::size_t index = in.below(model_.size());
    const T copy = model_[index];
    vec_.emplace_back(vec_[index]);
    model_.push_back(copy);
  }

  void copy(Input& in) {
    const Vec other(vec_);
    CAD_CHECK(other == vec_, "a copy is equal");
    if (in.below(2) == 0) {
      Vec third{element<T>(7)};
      third = other;
      CAD_CHECK(third == vec_, "so is an assigned one");
      vec_ = third;
    }
  }

  void move(Input& in) {
    Vec other{element<T>(9)};
    if (in.below(2) == 0) {
      Vec third(std::move(vec_));
      other = std::move(third);
    } else {
      other = std::move(vec_);
    }
    // NOLINTNEXTLINE(bugprone-use-after-move): the promise is that it is empty.
    CAD_CHECK(vec_.empty(), "a vector that was moved from is empty");
    vec_ = std::move(other);
  }

  void compare(Input& in) const {
    std::vector<T> values;
    for (std::size_t left = in.below(kCapacity + 1); left > 0; --left)
      values.push_back(element<T>(in.byte()));
    const Vec other{std::span<const T>(values)};
    CAD_CHECK((vec_ == other) == (model_ == values), "equality is that of the elements");
    CAD_CHECK((vec_ <=> other) == (model_ <=> values), "order is that of the elements");
  }

  void check() const {
    CAD_CHECK(vec_.size() == model_.size() && vec_.empty() == model_.empty(), "sizes agree");
    CAD_CHECK(vec_.capacity() >= vec_.size(), "there is room for what is there");
    CAD_CHECK(kSpills || vec_.capacity() == kCapacity, "a vector that fails never grows");
    CAD_CHECK(std::ranges::equal(vec_.as_span(), model_), "elements agree");
    if (model_.empty()) return;
    CAD_CHECK(vec_.front() == model_.front() && vec_.back() == model_.back(), "so do both ends");
    CAD_CHECK(vec_.end() - vec_.begin() == static_cast<std::ptrdiff_t>(model_.size()),
              "iterators span the elements");
  }

  Vec vec_;
  std::vector<T> model_;
};

template <class T, class Overflow>
void run(Input& in) {
  Run<T, Overflow> run;
  for (int steps = 0; steps < 400 && !in.done(); ++steps)
    run.step(in);
}

}  // namespace

void run_one(base::ByteView input) {
  Input in(input);
  switch (in.below(3)) {
    case 0: return run<std::string, base::overflow::Fail>(in);
    case 1: return run<std::string, base::overflow::Spill>(in);
    default: return run<std::uint32_t, base::overflow::Fail>(in);
  }
}

}  // namespace cadastre::fuzz
