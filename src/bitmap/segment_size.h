// SegmentSize: how many bytes canonical containers take as a stored value, and in which form (B-13).
// Exact, without writing one. Containers are added in order, ascending or descending. Pure.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "bitmap/container.h"
#include "bitmap/ids.h"
#include "bitmap/limits.h"
#include "bitmap/portable_format.h"
#include "bitmap/segment_form.h"

namespace cadastre::bitmap {

// Form byte and checksum.
inline constexpr std::size_t kFrameBytes = 1 + kChecksumBytes;

class SegmentSize {
 public:
  void add(const ContainerView& container) noexcept;

  [[nodiscard]] std::uint64_t cardinality() const noexcept { return cardinality_; }
  // Of at least one container.
  [[nodiscard]] std::size_t bytes() const noexcept;
  [[nodiscard]] SegmentForm form() const noexcept;

 private:
  // Of the payload in form 2, or more than any other form takes.
  [[nodiscard]] std::size_t packed() const noexcept;

  PortableSize portable_;
  std::uint64_t cardinality_ = 0;
  ContainerView lowest_;
  ContainerView highest_;
};

// The payload of ascending ids in form 1, with canonical containers.
[[nodiscard]] std::size_t portable_bytes(std::span<const Id> sorted_unique) noexcept;

}  // namespace cadastre::bitmap
