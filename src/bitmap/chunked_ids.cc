#include "bitmap/chunked_ids.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "bitmap/container.h"
#include "bitmap/container_convert.h"
#include "bitmap/ids.h"

namespace cadastre::bitmap {

std::size_t first_chunk_count(std::span<const Id> sorted) noexcept {
  const std::uint64_t chunk = chunk_of(sorted.front());
  std::size_t count = 1;
  while (count < sorted.size() && chunk_of(sorted[count]) == chunk)
    ++count;
  return count;
}

std::optional<ContainerView> ChunkedIds::next() noexcept {
  if (rest_.empty()) return std::nullopt;
  const std::size_t count = first_chunk_count(rest_);
  const ContainerView container = from_ids(rest_.first(count), buffer_);
  rest_ = rest_.subspan(count);
  return container;
}

}  // namespace cadastre::bitmap
