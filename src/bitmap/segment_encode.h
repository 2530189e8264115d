// Writing a segment's value: canonical containers, or ascending ids, as form 81 or 82.

#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "bitmap/container.h"
#include "bitmap/ids.h"

namespace cadastre::bitmap {

// A buffer that grows and never shrinks, so that it allocates no more once it has seen the largest
// value.
class ValueBuffer {
 public:
  [[nodiscard]] std::span<std::byte> take(std::size_t size);

 private:
  std::vector<std::byte> bytes_;
};

// At least one container, ascending. The value lives in `out`; `ids` is scratch.
[[nodiscard]] base::ByteView encode_containers(std::span<const ContainerView> containers,
                                               std::vector<Id>& ids,
                                               ValueBuffer& out);

// At least one id and at most kPackedIdsMax, for which form 2 is canonical.
[[nodiscard]] base::ByteView encode_packed(std::span<const Id> sorted_unique, ValueBuffer& out);

// Appends the ids of a container.
void append_ids(const ContainerView& container, std::vector<Id>& ids);

}  // namespace cadastre::bitmap
