// ContainerArena: containers that an edit has made. Addresses stay until `clear`, which keeps the
// memory: an arena that has seen its largest edit allocates no more.

#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "bitmap/container.h"

namespace cadastre::bitmap {

class ContainerArena {
 public:
  // A copy that lives here. The container is canonical, so that it fits a block.
  [[nodiscard]] ContainerView keep(const ContainerView& container);
  void clear() noexcept;

 private:
  static constexpr std::size_t kBlockBytes = std::size_t{64} << 10;
  using Block = std::array<std::byte, kBlockBytes>;

  std::vector<std::unique_ptr<Block>> blocks_;
  std::size_t block_ = 0;  // the one that is being filled
  std::size_t used_ = 0;   // bytes of it
};

}  // namespace cadastre::bitmap
