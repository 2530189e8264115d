#include "tests/allocation_guard.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#include <gtest/gtest.h>

// NOLINTBEGIN: these are the names that the linker and the standard prescribe

namespace {

thread_local std::uint64_t allocations = 0;

}  // namespace

extern "C" {
void* __real_malloc(std::size_t size);
void* __real_calloc(std::size_t count, std::size_t size);
void* __real_realloc(void* old, std::size_t size);
int __real_posix_memalign(void** out, std::size_t alignment, std::size_t size);
void* __real_aligned_alloc(std::size_t alignment, std::size_t size);

void* __wrap_malloc(std::size_t size) {
  ++allocations;
  return __real_malloc(size);
}
void* __wrap_calloc(std::size_t count, std::size_t size) {
  ++allocations;
  return __real_calloc(count, size);
}
void* __wrap_realloc(void* old, std::size_t size) {
  ++allocations;
  return __real_realloc(old, size);
}
int __wrap_posix_memalign(void** out, std::size_t alignment, std::size_t size) {
  ++allocations;
  return __real_posix_memalign(out, alignment, size);
}
void* __wrap_aligned_alloc(std::size_t alignment, std::size_t size) {
  ++allocations;
  return __real_aligned_alloc(alignment, size);
}
}

namespace {

void* take(std::size_t size) noexcept {
  ++allocations;
  return __real_malloc(size == 0 ? 1 : size);
}

void* take_aligned(std::size_t size, std::align_val_t alignment) noexcept {
  ++allocations;
  void* memory = nullptr;
  const auto bytes = static_cast<std::size_t>(alignment);
  const std::size_t least = bytes < sizeof(void*) ? sizeof(void*) : bytes;
  return __real_posix_memalign(&memory, least, size == 0 ? 1 : size) == 0 ? memory : nullptr;
}

void* or_abort(void* memory) noexcept {
  if (memory == nullptr) std::abort();
  return memory;
}

}  // namespace

void* operator new(std::size_t size) {
  return or_abort(take(size));
}
void* operator new[](std::size_t size) {
  return or_abort(take(size));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return take(size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return take(size);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return or_abort(take_aligned(size, alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return or_abort(take_aligned(size, alignment));
}
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return take_aligned(size, alignment);
}
void* operator new[](std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return take_aligned(size, alignment);
}

void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t, const std::nothrow_t&) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::align_val_t, const std::nothrow_t&) noexcept {
  std::free(memory);
}

// NOLINTEND

namespace cadastre::testing {

std::uint64_t allocation_count() noexcept {
  return allocations;
}

AllocationGuard::AllocationGuard(Expect expect) noexcept : expect_(expect), before_(allocations) {}

AllocationGuard::~AllocationGuard() {
  const std::uint64_t made = allocations - before_;
  switch (expect_) {
    case Expect::kNone: EXPECT_EQ(made, 0U) << "this code must not allocate"; break;
    case Expect::kSome: EXPECT_GT(made, 0U) << "the counting hook is not live"; break;
  }
}

}  // namespace cadastre::testing
