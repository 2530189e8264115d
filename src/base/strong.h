// Strong: an integer with a meaning. It compares, hashes and prints; it does no arithmetic and
// converts to nothing, so an id cannot be passed where an epoch is wanted.
//
//   using OwnerId = base::Strong<struct OwnerIdTag>;

#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <ostream>
#include <string>

namespace cadastre::base {

template <class Tag, class Rep = std::uint64_t>
class Strong {
 public:
  constexpr Strong() noexcept = default;
  constexpr explicit Strong(Rep value) noexcept : value_(value) {}

  [[nodiscard]] constexpr Rep value() const noexcept { return value_; }

  friend constexpr auto operator<=>(Strong, Strong) noexcept = default;
  friend std::ostream& operator<<(std::ostream& out, Strong id) { return out << +id.value_; }
  friend std::string to_string(Strong id) { return std::to_string(id.value_); }

 private:
  Rep value_ = 0;
};

}  // namespace cadastre::base

template <class Tag, class Rep>
struct std::hash<cadastre::base::Strong<Tag, Rep>> {
  std::size_t operator()(cadastre::base::Strong<Tag, Rep> id) const noexcept {
    return std::hash<Rep>{}(id.value());
  }
};
