// RawSlots: room for N objects of type T, none of them constructed. The owner builds and destroys
// the elements and knows which exist; this type only hides how one storage serves both run time and
// constant evaluation.
//
// At run time the room is raw bytes and costs nothing to make. In constant evaluation, where raw
// bytes cannot become objects, it is an array of T{}; this works for trivially copyable T with a
// constexpr default constructor, and other types are for run time only.

#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <new>
#include <type_traits>

namespace cadastre::base {

template <class T, std::size_t N>
class RawSlots {
  static constexpr bool kConstantEvaluable =
      std::is_trivially_copyable_v<T> && std::default_initializable<T>;

 public:
  constexpr RawSlots() noexcept
    requires kConstantEvaluable
      : room_(std::is_constant_evaluated() ? Room(Filled{}) : Room()) {}
  constexpr RawSlots() noexcept = default;

  RawSlots(const RawSlots&) = delete;
  RawSlots& operator=(const RawSlots&) = delete;
  ~RawSlots() = default;

  // The first slot; the others follow it. Only constructed ones may be read.
  [[nodiscard]] constexpr T* data() noexcept {
    if (std::is_constant_evaluated()) return room_.items.data();
    return std::launder(reinterpret_cast<T*>(room_.bytes.data()));
  }
  [[nodiscard]] constexpr const T* data() const noexcept {
    if (std::is_constant_evaluated()) return room_.items.data();
    return std::launder(reinterpret_cast<const T*>(room_.bytes.data()));
  }

 private:
  struct Filled {};

  union Room {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): not filling the room is the purpose.
    constexpr Room() noexcept {}
    constexpr explicit Room(Filled) noexcept : items() {}
    Room(const Room&) = delete;
    Room& operator=(const Room&) = delete;
    constexpr ~Room()
      requires std::is_trivially_destructible_v<T>
    = default;
    constexpr ~Room() {}

    alignas(T) std::array<std::byte, N * sizeof(T)> bytes;
    std::array<T, N> items;
  };

  Room room_;
};

}  // namespace cadastre::base
