// Checked views: a borrowed view that notices when its owner has moved on.
//
// In the checked flavour (CAD_CHECKED_VIEWS; the debug and sanitizer presets) every scratch buffer
// and arena slot counts its changes, and a view remembers the count it was made at. Each accessor
// compares; a difference aborts with the kind of owner that changed. In the plain flavour all of
// this is empty and costs nothing.
//
// The flavours differ in layout, so everything in this room lives in an inline namespace named after
// its flavour: translation units of different flavours do not link.

#pragma once

#include <cstdint>

#include "base/check.h"

#ifndef CAD_CHECKED_VIEWS
#define CAD_CHECKED_VIEWS 0
#endif

#if CAD_CHECKED_VIEWS
#define CAD_SHARD_FLAVOUR checked
#else
#define CAD_SHARD_FLAVOUR plain
#endif

namespace cadastre::shard::inline CAD_SHARD_FLAVOUR {

inline constexpr bool kCheckedViews = CAD_CHECKED_VIEWS != 0;

enum class ViewOwner : std::uint8_t {
  kScratch,  // a KeyBuf or MetadataBuf was written again
  kArena,    // the arena slot was freed or the arena cleared
  kBuilder,  // the builder that returned the rows was changed
};

#if CAD_CHECKED_VIEWS

// Counts the changes of one owner.
// NOLINTNEXTLINE(cppcoreguidelines-special-member-functions): a move is a copy
class Generation {
 public:
  Generation() = default;
  Generation(const Generation&) noexcept {}  // A copy is a new owner with views of its own.
  Generation& operator=(const Generation&) noexcept {
    bump();
    return *this;
  }
  ~Generation() = default;

  void bump() noexcept { ++count_; }
  [[nodiscard]] const std::uint32_t* counter() const noexcept { return &count_; }

 private:
  std::uint32_t count_ = 0;
};

// What one view remembers of one owner. A default guard has no owner and always holds.
class ViewGuard {
 public:
  ViewGuard() = default;
  ViewGuard(const std::uint32_t* counter, ViewOwner owner) noexcept
      : counter_(counter), expected_(*counter), owner_(owner) {}
  ViewGuard(const Generation& generation, ViewOwner owner) noexcept
      : ViewGuard(generation.counter(), owner) {}

  void check() const noexcept {
    if (counter_ == nullptr || *counter_ == expected_) [[likely]]
      return;
    CAD_CHECK(owner_ != ViewOwner::kScratch, "view outlived scratch reuse");
    CAD_CHECK(owner_ != ViewOwner::kArena, "view outlived its arena slot");
    CAD_CHECK(owner_ != ViewOwner::kBuilder, "view outlived a builder change");
  }

 private:
  const std::uint32_t* counter_ = nullptr;
  std::uint32_t expected_ = 0;
  ViewOwner owner_ = ViewOwner::kScratch;
};

#else

class Generation {
 public:
  void bump() noexcept {}
  [[nodiscard]] const std::uint32_t* counter() const noexcept { return nullptr; }
};

class ViewGuard {
 public:
  ViewGuard() = default;
  ViewGuard(const std::uint32_t* /*counter*/, ViewOwner /*owner*/) noexcept {}
  ViewGuard(const Generation& /*generation*/, ViewOwner /*owner*/) noexcept {}
  void check() const noexcept {}
};

#endif

}  // namespace cadastre::shard::inline CAD_SHARD_FLAVOUR
