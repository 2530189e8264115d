// AllocationGuard: fails the test if anything is allocated while it lives.
//
// allocation_guard.cc replaces every replaceable allocation function of the program and wraps the
// C library's at link time, so that calls from linked objects count too. Counters are per thread.
//
//   { const AllocationGuard guard(Expect::kNone); hot_function(); }

#pragma once

#include <cstdint>

namespace cadastre::testing {

enum class Expect : std::uint8_t {
  kNone,
  kSome,  // the positive control: the hook is live
};

// Allocations of this thread so far.
[[nodiscard]] std::uint64_t allocation_count() noexcept;

class AllocationGuard {
 public:
  explicit AllocationGuard(Expect expect) noexcept;
  ~AllocationGuard();
  AllocationGuard(const AllocationGuard&) = delete;
  AllocationGuard& operator=(const AllocationGuard&) = delete;

 private:
  Expect expect_;
  std::uint64_t before_;
};

}  // namespace cadastre::testing
