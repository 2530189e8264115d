#include "bitmap/cut_plan.h"

#include <cstddef>
#include <span>
#include <vector>

#include "base/check.h"
#include "bitmap/container.h"
#include "bitmap/ids.h"
#include "bitmap/segment_size.h"

namespace cadastre::bitmap {
namespace {

SegmentPart part_of(std::span<const ContainerView> containers, ContainerSpan span) noexcept {
  SegmentSize size;
  for (std::size_t i = span.first; i < span.last; ++i)
    size.add(containers[i]);
  return {.containers = span,
          .fence = fence_at(containers[span.first].chunk),
          .cardinality = size.cardinality(),
          .size_bytes = size.bytes()};
}

bool fits(const SegmentPart& part, std::size_t limit_bytes) noexcept {
  return part.size_bytes <= limit_bytes || part.containers.count() == 1;
}

bool is_first(SegmentPlace place) noexcept {
  return place == SegmentPlace::kFirst || place == SegmentPlace::kOnly;
}

bool is_last(SegmentPlace place) noexcept {
  return place == SegmentPlace::kLast || place == SegmentPlace::kOnly;
}

// The cut whose parts differ least in size.
std::size_t even_cut(std::span<const ContainerView> containers,
                     std::vector<std::size_t>& left_bytes) {
  const std::size_t count = containers.size();
  left_bytes.clear();
  SegmentSize left;
  for (const ContainerView& container : containers.first(count - 1)) {
    left.add(container);
    left_bytes.push_back(left.bytes());
  }
  SegmentSize right;
  std::size_t best = count - 1;
  std::size_t best_difference = ~std::size_t{0};
  for (std::size_t cut = count - 1; cut > 0; --cut) {
    right.add(containers[cut]);
    const std::size_t left_size = left_bytes[cut - 1];
    const std::size_t right_size = right.bytes();
    const std::size_t difference =
        left_size < right_size ? right_size - left_size : left_size - right_size;
    if (difference > best_difference) continue;
    best_difference = difference;  // Of equal ones the last seen, which is the smallest.
    best = cut;
  }
  return best;
}

std::size_t choose_boundary(std::span<const ContainerView> containers,
                            const CutHint& hint,
                            CutScratch& scratch) {
  const bool at_end = hint.inserted_chunk == containers.back().chunk;
  const bool at_start = hint.inserted_chunk == containers.front().chunk;
  if (at_end && is_last(hint.place)) return containers.size() - 1;
  if (at_start && is_first(hint.place)) return 1;
  return even_cut(containers, scratch.left_bytes);
}

}  // namespace

CutPlan choose_packing(std::span<const ContainerView> containers,
                       std::size_t limit_bytes,
                       CutScratch& scratch) {
  scratch.parts.clear();
  std::size_t first = 0;
  while (first < containers.size()) {
    SegmentSize size;
    std::size_t last = first;
    do {
      size.add(containers[last++]);
      if (last == containers.size()) break;
      SegmentSize with_next = size;
      with_next.add(containers[last]);
      if (with_next.bytes() > limit_bytes) break;
    } while (true);
    scratch.parts.push_back(part_of(containers, {first, last}));
    first = last;
  }
  return {scratch.parts};
}

CutPlan choose_cut(std::span<const ContainerView> containers,
                   std::size_t limit_bytes,
                   const CutHint& hint,
                   CutScratch& scratch) {
  CAD_CHECK(!containers.empty(), "an empty segment is erased, not cut");
  const std::size_t count = containers.size();
  scratch.parts.clear();
  scratch.parts.push_back(part_of(containers, {0, count}));
  if (fits(scratch.parts.front(), limit_bytes)) return {scratch.parts};

  const std::size_t cut = choose_boundary(containers, hint, scratch);
  scratch.parts.clear();
  scratch.parts.push_back(part_of(containers, {0, cut}));
  scratch.parts.push_back(part_of(containers, {cut, count}));
  for (const SegmentPart& part : scratch.parts) {
    if (!fits(part, limit_bytes)) return choose_packing(containers, limit_bytes, scratch);
  }
  return {scratch.parts};
}

}  // namespace cadastre::bitmap
