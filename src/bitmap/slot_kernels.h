// SlotKernels: the loops that set algebra spends its time in, in the widest form this processor has.
//
// Arrays are slots of two bytes, little-endian, at any address; bitsets have kContainerBytesMax bytes.
// What is not in order gives a wrong answer and nothing worse: no call reads outside of its arguments
// or writes more than kArrayCardinalityMax slots.
//
// HOT: no allocation.

#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "bitmap/container.h"
#include "bitmap/ids.h"

namespace cadastre::bitmap {

struct SlotKernels {
  // How many slots two arrays share.
  std::uint32_t (*count_common)(ByteView a, ByteView b) noexcept;
  // The same, and the slots.
  std::size_t (*keep_common)(ByteView a, ByteView b, ContainerBuffer& out) noexcept;
  // Whether each slot is greater than the one before.
  bool (*ascends)(ByteView array) noexcept;
  // The ids of an array's slots in the chunk that begins with `first`; `out` has room for them.
  void (*widen)(ByteView array, Id first, Id* out) noexcept;
  // How many bits two bitsets share.
  std::uint32_t (*count_common_bits)(ByteView a, ByteView b) noexcept;
};

// For any processor.
[[nodiscard]] const SlotKernels& portable_slot_kernels() noexcept;
// For this one.
[[nodiscard]] const SlotKernels& slot_kernels() noexcept;

}  // namespace cadastre::bitmap
