// CutPlan: where a segment that has grown too large is divided (3.4). Pure.
//
// A cut lies between two chunks, never inside one. Sizes are those of each part in its own canonical
// form, checksum included.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bitmap/container.h"
#include "bitmap/ids.h"

namespace cadastre::bitmap {

// Containers [first, last) of an edit, by number.
struct ContainerSpan {
  std::size_t first = 0;
  std::size_t last = 0;

  [[nodiscard]] std::size_t count() const noexcept { return last - first; }
  friend bool operator==(const ContainerSpan&, const ContainerSpan&) = default;
};

// Where the segment stands in its shard.
enum class SegmentPlace : std::uint8_t {
  kMiddle,
  kFirst,  // its fence is 0
  kLast,
  kOnly,  // first and last
};

// What makes an uneven cut right: ids that ascend or descend leave full segments behind.
struct CutHint {
  SegmentPlace place = SegmentPlace::kMiddle;
  std::optional<std::uint64_t> inserted_chunk = {};  // of the one id that was added
};

// One segment to be written.
struct SegmentPart {
  ContainerSpan containers;
  Id fence;  // of its first chunk; the part that holds the segment's first chunk keeps its fence
  std::uint64_t cardinality = 0;
  std::size_t size_bytes = 0;
};

// In order, at least one for a segment that is not empty. Borrowed from the planner's scratch.
struct CutPlan {
  std::span<const SegmentPart> parts;
};

// Reused from plan to plan.
struct CutScratch {
  std::vector<SegmentPart> parts;
  std::vector<std::size_t> left_bytes;
};

// One part if the whole fits `limit_bytes` or is one chunk; else two, cut as the hint says or as
// evenly as can be, ties at the smaller index; if one of them still has two or more chunks and does
// not fit, as many parts as packing from the left takes. Containers are canonical, at least one.
[[nodiscard]] CutPlan choose_cut(std::span<const ContainerView> containers,
                                 std::size_t limit_bytes,
                                 const CutHint& hint,
                                 CutScratch& scratch);

// Packs from the left: each part takes what fits `limit_bytes`, and at least one chunk.
[[nodiscard]] CutPlan choose_packing(std::span<const ContainerView> containers,
                                     std::size_t limit_bytes,
                                     CutScratch& scratch);

}  // namespace cadastre::bitmap
