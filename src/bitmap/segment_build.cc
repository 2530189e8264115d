#include "bitmap/segment_build.h"

#include <algorithm>
#include <optional>

#include "base/bytes.h"
#include "base/result.h"
#include "bitmap/container.h"
#include "bitmap/container_convert.h"
#include "bitmap/container_ops.h"
#include "bitmap/faults.h"
#include "bitmap/ids.h"
#include "bitmap/segment_encode.h"
#include "bitmap/segment_size.h"

namespace cadastre::bitmap {

BuiltSegment SegmentBuild::encode() {
  SegmentSize size;
  for (const ContainerView& container : containers_)
    size.add(container);
  return {.fence = fence_at(containers_.front().chunk),
          .cardinality = size.cardinality(),
          .value = encode_containers(containers_, ids_, value_)};
}

std::optional<BuiltSegment> SegmentBuild::settle_last() {
  SegmentSize with_last = size_;
  with_last.add(containers_.back());
  if (containers_.size() == 1 || with_last.bytes() <= target_bytes_) {
    size_ = with_last;
    return std::nullopt;
  }
  const ContainerView last = containers_.back();
  containers_.pop_back();
  const BuiltSegment full = encode();
  // It begins the next segment, for which the memory of this one is free.
  std::ranges::copy(last.bytes, result_.bytes.begin());
  clear();
  containers_.push_back(arena_.keep(
      {last.chunk, last.cardinality, last.kind, ByteView(result_.bytes).first(last.bytes.size())}));
  size_.add(containers_.back());
  return full;
}

Result<std::optional<BuiltSegment>, ValueFault> SegmentBuild::add(const ContainerView& container) {
  CAD_TRY(validate(container));
  std::optional<BuiltSegment> full;
  if (!containers_.empty()) {
    ContainerView& last = containers_.back();
    if (container.chunk < last.chunk) return base::fail(ValueFault::kUnorderedKey);
    if (container.chunk == last.chunk) {
      last = arena_.keep(canonical(unite(last, container, result_), converted_));
      return full;
    }
    full = settle_last();
  }
  containers_.push_back(arena_.keep(canonical(container, converted_)));
  return full;
}

std::optional<BuiltSegment> SegmentBuild::finish() {
  if (containers_.empty()) return std::nullopt;
  if (const auto full = settle_last()) return full;
  const BuiltSegment rest = encode();
  clear();
  return rest;
}

void SegmentBuild::clear() noexcept {
  containers_.clear();
  arena_.clear();
  size_ = {};
}

}  // namespace cadastre::bitmap
