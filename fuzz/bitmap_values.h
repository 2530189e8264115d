// What the bitmap targets share: values with a right checksum, and walks over everything that can be
// read from a view.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "bitmap/container.h"
#include "bitmap/ids.h"
#include "bitmap/limits.h"
#include "bitmap/segment_form.h"
#include "bitmap/segment_view.h"

namespace cadastre::fuzz {

// The same bytes with their checksum made right, if they are of a form that has one.
[[nodiscard]] inline base::Bytes resealed(base::ByteView value) {
  base::Bytes bytes = base::to_owned(value);
  const bool has_room = bytes.size() > bitmap::kChecksumBytes;
  if (has_room && (bytes.front() & bitmap::kSealedBit) != std::byte{0}) bitmap::seal(bytes);
  return bytes;
}

// Every id of a container; at most as many as there are slots if its content is not valid.
inline void append_ids(const bitmap::ContainerView& container, std::vector<std::uint64_t>& ids) {
  bitmap::SlotReader reader(container);
  std::vector<std::uint16_t> slots(1000);
  std::size_t left = bitmap::kSlotsPerChunk;
  while (const std::size_t count = reader.read(slots)) {
    for (std::size_t i = 0; i < std::min(count, left); ++i)
      ids.push_back(bitmap::id_at(container.chunk, slots[i]).value());
    left -= std::min(count, left);
    if (left == 0) break;
  }
}

[[nodiscard]] inline std::vector<std::uint64_t> ids_of(const bitmap::SegmentView& view) {
  std::vector<std::uint64_t> ids;
  for (auto it = view.begin(); it != view.end(); ++it)
    append_ids(*it, ids);
  return ids;
}

}  // namespace cadastre::fuzz
