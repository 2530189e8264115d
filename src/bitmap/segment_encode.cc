#include "bitmap/segment_encode.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "bitmap/container.h"
#include "bitmap/ids.h"
#include "bitmap/packed_ids.h"
#include "bitmap/portable_format.h"
#include "bitmap/segment_form.h"
#include "bitmap/segment_size.h"

namespace cadastre::bitmap {
namespace {

constexpr std::size_t kBlockSlots = 1024;

std::byte sealed_form(SegmentForm form) noexcept {
  return static_cast<std::byte>(form) | kSealedBit;
}

}  // namespace

std::span<std::byte> ValueBuffer::take(std::size_t size) {
  if (bytes_.size() < size) bytes_.resize(size);
  return std::span(bytes_).first(size);
}

void append_ids(const ContainerView& container, std::vector<Id>& ids) {
  SlotReader reader(container);
  std::array<std::uint16_t, kBlockSlots> slots{};
  while (const std::size_t count = reader.read(slots)) {
    for (std::size_t i = 0; i < count; ++i)
      ids.push_back(id_at(container.chunk, slots[i]));
  }
}

base::ByteView encode_packed(std::span<const Id> sorted_unique, ValueBuffer& out) {
  const std::size_t payload =
      packed_bytes(sorted_unique.size(), sorted_unique.front(), sorted_unique.back());
  const std::span<std::byte> value = out.take(kFrameBytes + payload);
  value[0] = sealed_form(SegmentForm::kPacked);
  write_packed(value.data() + 1, sorted_unique);
  seal(value);
  return value;
}

base::ByteView encode_containers(std::span<const ContainerView> containers,
                                 std::vector<Id>& ids,
                                 ValueBuffer& out) {
  SegmentSize size;
  for (const ContainerView& container : containers)
    size.add(container);
  if (size.form() == SegmentForm::kPacked) {
    ids.clear();
    for (const ContainerView& container : containers)
      append_ids(container, ids);
    return encode_packed(ids, out);
  }
  const std::span<std::byte> value = out.take(size.bytes());
  value[0] = sealed_form(SegmentForm::kPortable);
  write_portable(value.data() + 1, containers);
  seal(value);
  return value;
}

}  // namespace cadastre::bitmap
