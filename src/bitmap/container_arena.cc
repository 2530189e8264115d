#include "bitmap/container_arena.h"

#include <cstddef>
#include <cstring>
#include <memory>

#include "base/bytes.h"
#include "base/check.h"
#include "bitmap/container.h"
#include "bitmap/limits.h"

namespace cadastre::bitmap {

ContainerView ContainerArena::keep(const ContainerView& container) {
  const std::size_t size = container.bytes.size();
  CAD_CHECK(size <= kContainerBytesMax, "canonical containers are kept");
  if (block_ < blocks_.size() && kBlockBytes - used_ < size) {
    ++block_;
    used_ = 0;
  }
  if (block_ == blocks_.size()) blocks_.push_back(std::make_unique<Block>());
  std::byte* const to = blocks_[block_]->data() + used_;
  std::memcpy(to, container.bytes.data(), size);
  used_ += size;
  ContainerView kept = container;
  kept.bytes = ByteView(to, size);
  return kept;
}

void ContainerArena::clear() noexcept {
  block_ = 0;
  used_ = 0;
}

}  // namespace cadastre::bitmap
