#include "bitmap/segment_size.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "bitmap/chunked_ids.h"
#include "bitmap/container.h"
#include "bitmap/ids.h"
#include "bitmap/limits.h"
#include "bitmap/packed_ids.h"
#include "bitmap/portable_format.h"
#include "bitmap/segment_form.h"

namespace cadastre::bitmap {

void SegmentSize::add(const ContainerView& container) noexcept {
  portable_.add(container.chunk, container.bytes.size(), container.kind == ContainerKind::kRun);
  if (cardinality_ == 0 || container.chunk < lowest_.chunk) lowest_ = container;
  if (cardinality_ == 0 || container.chunk > highest_.chunk) highest_ = container;
  cardinality_ += container.cardinality;
}

std::size_t SegmentSize::packed() const noexcept {
  if (cardinality_ > kPackedIdsMax) return std::numeric_limits<std::size_t>::max();
  return packed_bytes(cardinality_, id_at(lowest_.chunk, min_slot(lowest_)),
                      id_at(highest_.chunk, max_slot(highest_)));
}

std::size_t SegmentSize::bytes() const noexcept {
  return kFrameBytes + std::min(packed(), portable_.bytes());
}

SegmentForm SegmentSize::form() const noexcept {
  return packed() <= portable_.bytes() ? SegmentForm::kPacked : SegmentForm::kPortable;
}

std::size_t portable_bytes(std::span<const Id> sorted_unique) noexcept {
  PortableSize size;
  while (!sorted_unique.empty()) {
    const std::size_t count = first_chunk_count(sorted_unique);
    std::size_t runs = 1;
    for (std::size_t i = 1; i < count; ++i)
      runs += sorted_unique[i].value() - sorted_unique[i - 1].value() == 1 ? 0 : 1;
    const std::size_t plain = plain_bytes(static_cast<std::uint32_t>(count));
    size.add(chunk_of(sorted_unique.front()), std::min(plain, run_bytes(runs)),
             run_bytes(runs) < plain);
    sorted_unique = sorted_unique.subspan(count);
  }
  return size.bytes();
}

}  // namespace cadastre::bitmap
