// Patching: a stored value with one id more or less, made by changing one container where it lies and
// copying the rest. For most single inserts and removals this is all there is to do; what it costs does
// not depend on how many containers the segment has, but for the copy.
//
// HOT: no allocation once the buffer has seen the largest value.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "base/result.h"
#include "bitmap/container.h"
#include "bitmap/faults.h"
#include "bitmap/ids.h"
#include "bitmap/segment_encode.h"
#include "bitmap/segment_view.h"

namespace cadastre::bitmap {

// What happens to the id: it is absent before kInsert, present before kRemove.
enum class PatchOp : std::uint8_t {
  kInsert,
  kRemove,
};

struct PatchRequest {
  const SegmentView& view;
  ByteView value;  // what the view was opened on, checksum included
  Id id;
  PatchOp op;
  std::size_t limit_bytes;
};

// Reused from patch to patch.
struct PatchBuffers {
  ContainerBuffer& changed;
  ValueBuffer& out;
};

struct SegmentPatch {
  ByteView value;  // canonical, sealed; in the buffer
  std::uint64_t cardinality = 0;
  std::size_t container_count = 0;
};

// Nothing if the value has to be edited as a whole: it is not sealed, of form 2 or becomes so, has
// several 32-bit bitmaps, the chunk comes or goes, its container changes kind, or the result exceeds the
// limit. Only the container that changes is validated: the others stay as they were sealed (B-28).
[[nodiscard]] Result<std::optional<SegmentPatch>, ValueFault> patch_segment(
    const PatchRequest& request, const PatchBuffers& buffers);

}  // namespace cadastre::bitmap
