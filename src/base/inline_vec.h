// InlineVec: up to N elements inside the object, in one piece, without the heap.
//
//   base::InlineVec<Child, kMaxSplitChildren> children;      // never allocates
//   if (!children.try_push_back(child)) return fail(SplitError{...});
//
// What happens at N is the third parameter:
//   overflow::Fail   try_push_back says no and push_back is a contract violation. The default.
//   overflow::Spill  everything moves to a heap block, and later elements stay there for good, so
//                    that a size that swings around N does not move the elements back and forth.
//
// Not for large N on the stack, and not where most vectors are near empty: the object always has
// room for N. Moving one moves its elements one by one (a spilled one hands over its block) and
// leaves the source empty; pointers into an inline vector do not survive its move.
//
// Slots beyond size() are never constructed. If an element's constructor throws, the elements built
// so far are destroyed exactly once. Broken contracts abort (base/check.h). Not thread-safe.

#pragma once

#include <algorithm>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include "base/attributes.h"
#include "base/check.h"
#include "base/raw_slots.h"

namespace cadastre::base {

namespace overflow {
struct Fail {};
struct Spill {};
}  // namespace overflow

template <class T, std::size_t N, class Overflow = overflow::Fail>
class InlineVec {
  static constexpr bool kSpills = std::same_as<Overflow, overflow::Spill>;

  static_assert(N > 0 && N <= std::numeric_limits<std::int32_t>::max());
  static_assert(kSpills || std::same_as<Overflow, overflow::Fail>,
                "Fail and Spill are all there is");
  static_assert(std::is_nothrow_destructible_v<T>);
  static_assert(!kSpills || std::is_nothrow_move_constructible_v<T>,
                "a throw halfway to the heap would leave two half vectors");

 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  constexpr InlineVec() noexcept = default;
  constexpr InlineVec(std::initializer_list<T> values) : InlineVec() {
    append({values.begin(), values.size()});
  }
  constexpr explicit InlineVec(std::span<const T> values) : InlineVec() { append(values); }

  // The delegation makes the destructor run if an element's constructor throws in the body.
  constexpr InlineVec(const InlineVec& other) : InlineVec() { append(other.as_span()); }
  constexpr InlineVec(InlineVec&& other) noexcept(std::is_nothrow_move_constructible_v<T>)
      : InlineVec() {
    take(other);
  }
  constexpr InlineVec& operator=(const InlineVec& other) {
    if (this == &other) return *this;
    clear();
    append(other.as_span());
    return *this;
  }
  constexpr InlineVec& operator=(InlineVec&& other) noexcept(
      std::is_nothrow_move_constructible_v<T>) {
    if (this == &other) return *this;
    clear();
    take(other);
    return *this;
  }

  constexpr ~InlineVec()
    requires(std::is_trivially_destructible_v<T> && !kSpills)
  = default;
  constexpr ~InlineVec() {
    clear();
    release_heap();
  }

  // With overflow::Fail the vector must not be full.
  constexpr void push_back(const T& value) { emplace_back(value); }
  constexpr void push_back(T&& value) { emplace_back(std::move(value)); }

  // Arguments may be elements of this vector.
  template <class... Args>
  constexpr T& emplace_back(Args&&... args) {
    if (size_ == capacity()) [[unlikely]] {
      if constexpr (kSpills) return spill_and_emplace(std::forward<Args>(args)...);
      CAD_CHECK(size_ < N, "an InlineVec that fails on overflow has room for what is pushed");
    }
    T* const slot = std::construct_at(data() + size_, std::forward<Args>(args)...);
    ++size_;
    return *slot;
  }

  // False when full; `value` is then untouched. Always true with overflow::Spill.
  [[nodiscard]] constexpr bool try_push_back(const T& value) { return try_emplace_back(value); }
  [[nodiscard]] constexpr bool try_push_back(T&& value) {
    return try_emplace_back(std::move(value));
  }

  // `values` fit (overflow::Fail) and are no elements of this vector. If one of them throws on its
  // copy, those before it are in the vector.
  constexpr void append(std::span<const T> values) {
    if constexpr (!kSpills) {
      CAD_CHECK(values.size() <= N - size_,
                "an InlineVec that fails on overflow has room for what is appended");
    }
    CAD_CHECK_SLOW(!holds(values), "appended elements come from elsewhere");
    if constexpr (std::is_trivially_copyable_v<T> && !kSpills) {
      if (!std::is_constant_evaluated() && !values.empty()) {
        std::memcpy(data() + size_, values.data(), values.size_bytes());
        size_ += static_cast<std::uint32_t>(values.size());
        return;
      }
    }
    for (const T& value : values)
      emplace_back(value);
  }

  constexpr void pop_back() noexcept {
    CAD_CHECK(size_ != 0, "there is a last element to remove");
    --size_;
    std::destroy_at(data() + size_);
  }

  // Keeps the first `count` elements; does nothing if there are no more than that.
  constexpr void truncate(std::size_t count) noexcept {
    if (count >= size_) return;
    const std::uint32_t before = std::exchange(size_, static_cast<std::uint32_t>(count));
    std::destroy(data() + count, data() + before);
  }
  constexpr void clear() noexcept { truncate(0); }

  [[nodiscard]] constexpr T& operator[](std::size_t index) noexcept CAD_LIFETIMEBOUND {
    CAD_CHECK(index < size_, "an InlineVec is indexed within its size");
    return data()[index];
  }
  [[nodiscard]] constexpr const T& operator[](std::size_t index) const noexcept CAD_LIFETIMEBOUND {
    CAD_CHECK(index < size_, "an InlineVec is indexed within its size");
    return data()[index];
  }
  [[nodiscard]] constexpr T& front() noexcept CAD_LIFETIMEBOUND { return (*this)[0]; }
  [[nodiscard]] constexpr const T& front() const noexcept CAD_LIFETIMEBOUND { return (*this)[0]; }
  [[nodiscard]] constexpr T& back() noexcept CAD_LIFETIMEBOUND { return (*this)[last()]; }
  [[nodiscard]] constexpr const T& back() const noexcept CAD_LIFETIMEBOUND {
    return (*this)[last()];
  }

  [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
  [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] constexpr std::size_t capacity() const noexcept {
    if constexpr (kSpills) {
      if (heap_.block != nullptr) return heap_.capacity;
    }
    return N;
  }

  [[nodiscard]] constexpr T* data() noexcept CAD_LIFETIMEBOUND {
    if constexpr (kSpills) {
      if (heap_.block != nullptr) return heap_.block;
    }
    return slots_.data();
  }
  [[nodiscard]] constexpr const T* data() const noexcept CAD_LIFETIMEBOUND {
    if constexpr (kSpills) {
      if (heap_.block != nullptr) return heap_.block;
    }
    return slots_.data();
  }
  [[nodiscard]] constexpr iterator begin() noexcept CAD_LIFETIMEBOUND { return data(); }
  [[nodiscard]] constexpr iterator end() noexcept CAD_LIFETIMEBOUND { return data() + size_; }
  [[nodiscard]] constexpr const_iterator begin() const noexcept CAD_LIFETIMEBOUND { return data(); }
  [[nodiscard]] constexpr const_iterator end() const noexcept CAD_LIFETIMEBOUND {
    return data() + size_;
  }
  [[nodiscard]] constexpr std::span<T> as_span() noexcept CAD_LIFETIMEBOUND {
    return {data(), size_};
  }
  [[nodiscard]] constexpr std::span<const T> as_span() const noexcept CAD_LIFETIMEBOUND {
    return {data(), size_};
  }

  // By content: where the elements live does not matter.
  friend constexpr bool operator==(const InlineVec& a, const InlineVec& b)
    requires std::equality_comparable<T>
  {
    return std::ranges::equal(a.as_span(), b.as_span());
  }
  friend constexpr auto operator<=>(const InlineVec& a, const InlineVec& b)
    requires std::three_way_comparable<T>
  {
    return std::lexicographical_compare_three_way(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  struct NoHeap {};
  struct Heap {
    T* block = nullptr;  // Null until the vector spills, never null again unless it is moved from.
    std::uint32_t capacity = 0;
  };

  // Gives back a block that holds no elements yet.
  struct Deallocate {
    std::size_t capacity;
    constexpr void operator()(T* block) const noexcept {
      std::allocator<T>().deallocate(block, capacity);
    }
  };

  [[nodiscard]] constexpr std::size_t last() const noexcept {
    CAD_CHECK(size_ != 0, "there is a last element");
    return size_ - 1;
  }

  [[nodiscard]] constexpr bool holds(std::span<const T> values) const noexcept {
    if (std::is_constant_evaluated() || values.empty()) return false;
    const std::less<const T*> before;  // Orders pointers into different objects, too.
    return before(values.data(), data() + size_) && before(data(), values.data() + values.size());
  }

  template <class Value>
  constexpr bool try_emplace_back(Value&& value) {
    if constexpr (!kSpills) {
      if (size_ == N) return false;
    }
    emplace_back(std::forward<Value>(value));
    return true;
  }

  // Takes all elements of `other` into this empty vector.
  constexpr void take(InlineVec& other) {
    if constexpr (kSpills) {
      if (other.heap_.block != nullptr) {
        release_heap();
        heap_ = std::exchange(other.heap_, Heap{});
        size_ = std::exchange(other.size_, 0U);
        return;
      }
    }
    for (T& element : other)
      emplace_back(std::move(element));
    other.clear();
  }

  // The new element is built first, while the arguments may still point into the old place.
  template <class... Args>
  [[gnu::cold, gnu::noinline]] constexpr T& spill_and_emplace(Args&&... args) {
    CAD_CHECK(size_ <= std::numeric_limits<std::int32_t>::max() / 2, "a spilled vector is bounded");
    const std::size_t grown = std::max<std::size_t>(N + 1, std::size_t{2} * size_);
    std::unique_ptr<T, Deallocate> fresh(std::allocator<T>().allocate(grown), Deallocate{grown});
    T* const slot = std::construct_at(fresh.get() + size_, std::forward<Args>(args)...);
    for (std::uint32_t i = 0; i < size_; ++i) {
      std::construct_at(fresh.get() + i, std::move(data()[i]));
    }
    std::destroy(data(), data() + size_);
    release_heap();
    heap_ = Heap{fresh.release(), static_cast<std::uint32_t>(grown)};
    ++size_;
    return *slot;
  }

  // Only when no element lives in the heap block.
  constexpr void release_heap() noexcept {
    if constexpr (kSpills) {
      if (heap_.block == nullptr) return;
      Deallocate{heap_.capacity}(std::exchange(heap_.block, nullptr));
    }
  }

  std::uint32_t size_ = 0;
  [[no_unique_address]] std::conditional_t<kSpills, Heap, NoHeap> heap_;
  RawSlots<T, N> slots_;
};

}  // namespace cadastre::base
