// BitmapBuild: a Bitmap from containers by ascending chunk, as streams and segments give them.
// Containers are collected and each 32-bit bitmap is decoded once: uniting bitmaps one container at a
// time would be quadratic (B-24).

#pragma once

#include <cstddef>
#include <vector>

#include "base/result.h"
#include "bitmap/bitmap.h"
#include "bitmap/container.h"
#include "bitmap/container_arena.h"
#include "bitmap/faults.h"

namespace cadastre::bitmap {

class BitmapBuild {
 public:
  // Copies the container. One that is not valid, or whose chunk does not ascend, is a fault.
  [[nodiscard]] base::Result<void, ValueFault> add(const ContainerView& container);

  // Bytes of containers so far: what to hold against a bound.
  [[nodiscard]] std::size_t size_bytes() const noexcept { return size_bytes_; }

  // The set of all that was added. The build is empty then.
  [[nodiscard]] Bitmap finish();

 private:
  void close_inner();

  Bitmap bitmap_;
  std::vector<ContainerView> containers_;  // of the last upper half
  ContainerArena arena_;
  ContainerBuffer buffer_;
  std::size_t size_bytes_ = 0;
};

}  // namespace cadastre::bitmap
