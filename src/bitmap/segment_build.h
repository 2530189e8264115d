// SegmentBuild: segments from an ordered stream of containers, each filled up to a byte target. For
// bulk loads, `assign` and compaction: what comes out depends on the set and the target only.
//
//   SegmentBuild build(target_bytes);
//   while (const auto container = next()) {
//     if (const auto full = CAD_TRY(build.add(*container))) put(full->fence, full->value);
//   }
//   while (const auto rest = build.finish()) put(rest->fence, rest->value);
//
// Sorted ids become containers through ChunkedIds (chunked_ids.h). A built segment is valid until the
// next call. One thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "bitmap/container.h"
#include "bitmap/container_arena.h"
#include "bitmap/faults.h"
#include "bitmap/ids.h"
#include "bitmap/segment_encode.h"
#include "bitmap/segment_size.h"

namespace cadastre::bitmap {

struct BuiltSegment {
  Id fence;  // of its first chunk; the first segment of a shard is stored under 0 (I-2)
  std::uint64_t cardinality = 0;
  ByteView value;
};

class SegmentBuild {
 public:
  // Segments are at most this large, or hold one chunk.
  explicit SegmentBuild(std::size_t target_bytes) noexcept : target_bytes_(target_bytes) {}

  // The segment that this container no longer fits, if it does not. Containers come by ascending
  // chunk (two of one chunk are united); one that does not, or that is not valid, is a fault.
  [[nodiscard]] Result<std::optional<BuiltSegment>, ValueFault> add(const ContainerView& container);
  // What is left, one or two segments, then nothing: the build is empty and may be used again.
  [[nodiscard]] std::optional<BuiltSegment> finish();

 private:
  [[nodiscard]] BuiltSegment encode();
  // The last container will not grow any more: the segment before it, if it is full without.
  [[nodiscard]] std::optional<BuiltSegment> settle_last();
  void clear() noexcept;

  std::size_t target_bytes_;
  std::vector<ContainerView> containers_;  // of the segment that is being filled
  SegmentSize size_;                       // of all but the last, which may still grow
  ContainerArena arena_;
  ContainerBuffer result_;
  ContainerBuffer converted_;
  std::vector<Id> ids_;
  ValueBuffer value_;
};

}  // namespace cadastre::bitmap
