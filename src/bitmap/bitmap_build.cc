#include "bitmap/bitmap_build.h"

#include <cstdint>
#include <utility>

#include "base/bytes.h"
#include "base/result.h"
#include "bitmap/bitmap.h"
#include "bitmap/container.h"
#include "bitmap/container_convert.h"
#include "bitmap/faults.h"
#include "bitmap/portable_format.h"

namespace cadastre::bitmap {
namespace {

constexpr unsigned kKeyBits = 16;

std::uint32_t high_of(const ContainerView& container) noexcept {
  return static_cast<std::uint32_t>(container.chunk >> kKeyBits);
}

}  // namespace

base::Result<void, ValueFault> BitmapBuild::add(const ContainerView& container) {
  CAD_TRY(validate(container));
  if (!containers_.empty()) {
    if (container.chunk <= containers_.back().chunk) return base::fail(ValueFault::kUnorderedKey);
    if (high_of(container) != high_of(containers_.front())) close_inner();
  }
  containers_.push_back(arena_.keep(canonical(container, buffer_)));
  size_bytes_ += containers_.back().bytes.size();
  return {};
}

void BitmapBuild::close_inner() {
  PortableSize size;
  for (const ContainerView& container : containers_)
    size.add(container.chunk, container.bytes.size(), container.kind == ContainerKind::kRun);
  base::Bytes bytes(size.bytes());
  write_portable(bytes.data(), containers_);
  const auto inner = base::ByteView(bytes).subspan(kMapCountBytes + kMapHighBytes);
  const std::uint32_t high = high_of(containers_.front());
  bitmap_.inner_.emplace_hint(bitmap_.inner_.end(), high, Bitmap::read_inner(inner));
  containers_.clear();
  arena_.clear();
}

Bitmap BitmapBuild::finish() {
  if (!containers_.empty()) close_inner();
  size_bytes_ = 0;
  return std::exchange(bitmap_, Bitmap{});
}

}  // namespace cadastre::bitmap
