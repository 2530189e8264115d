// OneOf: exactly one of several plain types; the errors that an operation can return.
//
//   using RenewError = OneOf<ShardNotFound, StaleFence>;
//   using AnyError = OneOf<ShardNotFound, StaleFence, LeaseExpired>;
//   AnyError wide = narrow;     // compiles: every alternative is there
//   RenewError narrow = wide;   // does not compile
//
// A function that returns a narrow set can therefore be called where a wider one is promised, and an
// operation that promises a narrow set cannot return what it never can.

#pragma once

#include <concepts>
#include <type_traits>
#include <utility>
#include <variant>

namespace cadastre::coord {

template <class... Alternatives>
class OneOf {
 public:
  template <class T>
  static constexpr bool kHas = (std::same_as<T, Alternatives> || ...);

  template <class T>
    requires kHas<std::remove_cvref_t<T>>
  // NOLINTNEXTLINE(google-explicit-constructor): an alternative is one of the set
  constexpr OneOf(T&& value) noexcept : value_(std::forward<T>(value)) {}

  template <class... Fewer>
    requires(!std::same_as<OneOf<Fewer...>, OneOf> && (kHas<Fewer> && ...))
  // NOLINTNEXTLINE(google-explicit-constructor): a subset widens silently
  constexpr OneOf(const OneOf<Fewer...>& other) noexcept
      : value_(other.visit([](const auto& value) -> Variant { return value; })) {}

  template <class T>
    requires kHas<T>
  [[nodiscard]] constexpr const T* get_if() const noexcept {
    return std::get_if<T>(&value_);
  }
  template <class T>
    requires kHas<T>
  [[nodiscard]] constexpr bool is() const noexcept {
    return std::holds_alternative<T>(value_);
  }

  // Calls with whichever it is; the visitor takes every alternative.
  template <class Visitor>
  constexpr decltype(auto) visit(Visitor&& visitor) const {
    return std::visit(std::forward<Visitor>(visitor), value_);
  }

  friend bool operator==(const OneOf&, const OneOf&) = default;
  template <class T>
    requires kHas<T>
  friend bool operator==(const OneOf& one, const T& value) {
    const T* const held = one.template get_if<T>();
    return held != nullptr && *held == value;
  }

 private:
  using Variant = std::variant<Alternatives...>;
  Variant value_;
};

}  // namespace cadastre::coord
