// RingBuffer: the last few things that happened, oldest first, inside the object.
//
//   base::RingBuffer<OpLogEntry, kOpLogCapacity> log;
//   log.push_back_overwrite(entry);                    // forgets the oldest when full
//   const OpLogEntry* done = log.find_if([&](const auto& e) { return e.op_id == op_id; });
//
// Logical element i lives at slot (head + i) mod N, so N is a power of two. Two buffers are equal
// when their elements are, wherever their heads stand. Slots without an element are never
// constructed; nothing allocates. Pointers to an element last until it is removed or the buffer is
// moved. Not thread-safe.

#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "base/attributes.h"
#include "base/check.h"
#include "base/raw_slots.h"

namespace cadastre::base {

template <class T, std::size_t N>
class RingBuffer {
  static_assert(std::has_single_bit(N), "positions wrap by a mask");
  static_assert(N <= std::numeric_limits<std::int32_t>::max());
  static_assert(std::is_nothrow_destructible_v<T>);

 public:
  class ConstIterator;
  using value_type = T;
  using const_iterator = ConstIterator;
  using iterator = ConstIterator;

  constexpr RingBuffer() noexcept = default;
  // At most N values.
  constexpr RingBuffer(std::initializer_list<T> values)
      : RingBuffer(std::span<const T>(values.begin(), values.size())) {}
  constexpr explicit RingBuffer(std::span<const T> values) : RingBuffer() {
    CAD_CHECK(values.size() <= N, "a RingBuffer is not built from more than it holds");
    for (const T& value : values)
      append(value);
  }

  // Copies and moves start again at slot 0. A buffer that was moved from is empty.
  constexpr RingBuffer(const RingBuffer& other) : RingBuffer() { copy(other); }
  constexpr RingBuffer(RingBuffer&& other) noexcept(std::is_nothrow_move_constructible_v<T>)
      : RingBuffer() {
    take(other);
  }
  constexpr RingBuffer& operator=(const RingBuffer& other) {
    if (this == &other) return *this;
    clear();
    copy(other);
    return *this;
  }
  constexpr RingBuffer& operator=(RingBuffer&& other) noexcept(
      std::is_nothrow_move_constructible_v<T>) {
    if (this == &other) return *this;
    clear();
    take(other);
    return *this;
  }

  constexpr ~RingBuffer()
    requires std::is_trivially_destructible_v<T>
  = default;
  constexpr ~RingBuffer() { clear(); }

  // False when full; `value` is then untouched.
  [[nodiscard]] constexpr bool push_back(const T& value) {
    if (full()) return false;
    append(value);
    return true;
  }
  [[nodiscard]] constexpr bool push_back(T&& value) {
    if (full()) return false;
    append(std::move(value));
    return true;
  }

  // Always takes `value`, which is no element of this buffer. Returns the oldest element if it had
  // to make room.
  constexpr std::optional<T> push_back_overwrite(T&& value) {
    std::optional<T> evicted;
    if (full()) evicted = pop_front();
    append(std::move(value));
    return evicted;
  }
  constexpr std::optional<T> push_back_overwrite(const T& value) {
    return push_back_overwrite(T(value));
  }

  // Removes and returns the oldest element.
  constexpr std::optional<T> pop_front() {
    if (len_ == 0) return std::nullopt;
    T* const oldest = slot(0);
    std::optional<T> out(std::move(*oldest));
    drop_front();
    std::destroy_at(oldest);
    return out;
  }

  // Element `index`, 0 being the oldest; null if there is none.
  [[nodiscard]] constexpr const T* get(std::size_t index) const noexcept CAD_LIFETIMEBOUND {
    return index < len_ ? slot(index) : nullptr;
  }

  // All elements in order, as the two stretches of memory in which they lie: for loops over the whole
  // buffer that should cost no more than loops over an array.
  [[nodiscard]] constexpr std::array<std::span<const T>, 2> stretches() const noexcept
      CAD_LIFETIMEBOUND {
    const std::size_t first = std::min<std::size_t>(len_, N - head_);
    return {std::span<const T>(slots_.data() + head_, first),
            std::span<const T>(slots_.data(), len_ - first)};
  }

  // The oldest element for which `wanted` holds, or null.
  template <std::predicate<const T&> Predicate>
  [[nodiscard]] constexpr const T* find_if(Predicate wanted) const CAD_LIFETIMEBOUND {
    for (std::size_t i = 0; i < len_; ++i) {
      if (wanted(*slot(i))) return slot(i);
    }
    return nullptr;
  }

  // Oldest first. An element has left the buffer before its destructor runs.
  constexpr void clear() noexcept {
    while (len_ != 0) {
      T* const oldest = slot(0);
      drop_front();
      std::destroy_at(oldest);
    }
    head_ = 0;
  }

  [[nodiscard]] constexpr std::size_t size() const noexcept { return len_; }
  [[nodiscard]] constexpr bool empty() const noexcept { return len_ == 0; }
  [[nodiscard]] constexpr bool full() const noexcept { return len_ == N; }
  [[nodiscard]] static constexpr std::size_t capacity() noexcept { return N; }

  [[nodiscard]] constexpr const_iterator begin() const noexcept CAD_LIFETIMEBOUND {
    return const_iterator(this, 0);
  }
  [[nodiscard]] constexpr const_iterator end() const noexcept CAD_LIFETIMEBOUND {
    return const_iterator(this, len_);
  }

  friend constexpr bool operator==(const RingBuffer& a, const RingBuffer& b)
    requires std::equality_comparable<T>
  {
    return a.len_ == b.len_ && std::equal(a.begin(), a.end(), b.begin());
  }

  // Oldest to newest and back. Any change of the buffer ends it.
  class ConstIterator {
   public:
    using iterator_concept = std::bidirectional_iterator_tag;
    using iterator_category = std::bidirectional_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using reference = const T&;
    using pointer = const T*;

    constexpr ConstIterator() noexcept = default;

    constexpr reference operator*() const noexcept { return *operator->(); }
    constexpr pointer operator->() const noexcept {
      const T* const element = ring_->get(index_);
      CAD_CHECK(element != nullptr, "an iterator is read within its buffer");
      return element;
    }
    constexpr ConstIterator& operator++() noexcept {
      ++index_;
      return *this;
    }
    constexpr ConstIterator operator++(int) noexcept {
      const ConstIterator before = *this;
      ++index_;
      return before;
    }
    constexpr ConstIterator& operator--() noexcept {
      --index_;
      return *this;
    }
    constexpr ConstIterator operator--(int) noexcept {
      const ConstIterator before = *this;
      --index_;
      return before;
    }
    friend constexpr bool operator==(const ConstIterator& a, const ConstIterator& b) noexcept {
      return a.index_ == b.index_;
    }

   private:
    friend class RingBuffer;
    constexpr ConstIterator(const RingBuffer* ring, std::size_t index) noexcept
        : ring_(ring), index_(index) {}

    const RingBuffer* ring_ = nullptr;
    std::size_t index_ = 0;
  };

 private:
  [[nodiscard]] constexpr T* slot(std::size_t index) noexcept {
    return slots_.data() + ((head_ + index) & (N - 1));
  }
  [[nodiscard]] constexpr const T* slot(std::size_t index) const noexcept {
    return slots_.data() + ((head_ + index) & (N - 1));
  }

  template <class Value>
  constexpr void append(Value&& value) {
    std::construct_at(slot(len_), std::forward<Value>(value));
    ++len_;
  }

  // Forgets the oldest element; its destructor is the caller's.
  constexpr void drop_front() noexcept {
    head_ = static_cast<std::uint32_t>((head_ + 1) & (N - 1));
    --len_;
  }

  constexpr void copy(const RingBuffer& other) {
    for (const T& value : other)
      append(value);
  }
  constexpr void take(RingBuffer& other) {
    for (std::size_t i = 0; i < other.len_; ++i)
      append(std::move(*other.slot(i)));
    other.clear();
  }

  std::uint32_t head_ = 0;
  std::uint32_t len_ = 0;
  RawSlots<T, N> slots_;
};

}  // namespace cadastre::base
