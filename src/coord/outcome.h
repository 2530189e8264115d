// IdempotentOutcome: whether a request did something now, or had done so before. Most callers take
// the value and do not ask; metrics and tests do.

#pragma once

#include <cstdint>
#include <utility>

namespace cadastre::coord {

enum class Outcome : std::uint8_t {
  kExecuted,
  kReplayed,  // a retry of a request that had been executed; nothing changed
};

struct Unit {
  friend constexpr bool operator==(Unit, Unit) noexcept = default;
};

template <class T>
class IdempotentOutcome {
 public:
  [[nodiscard]] static IdempotentOutcome executed(T value) {
    return {Outcome::kExecuted, std::move(value)};
  }
  [[nodiscard]] static IdempotentOutcome replayed(T value) {
    return {Outcome::kReplayed, std::move(value)};
  }
  IdempotentOutcome(Outcome outcome, T value) : outcome_(outcome), value_(std::move(value)) {}

  [[nodiscard]] Outcome outcome() const noexcept { return outcome_; }
  [[nodiscard]] bool is_executed() const noexcept { return outcome_ == Outcome::kExecuted; }
  [[nodiscard]] bool is_replay() const noexcept { return outcome_ == Outcome::kReplayed; }
  [[nodiscard]] const T& value() const noexcept { return value_; }
  [[nodiscard]] T into_inner() && { return std::move(value_); }

  template <class F>
  [[nodiscard]] auto map(F&& f) const {
    auto mapped = std::forward<F>(f)(value_);
    return IdempotentOutcome<decltype(mapped)>(outcome_, std::move(mapped));
  }

  friend bool operator==(const IdempotentOutcome&, const IdempotentOutcome&) = default;

 private:
  Outcome outcome_;
  T value_;
};

}  // namespace cadastre::coord
