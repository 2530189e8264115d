// Writing the parts of a container into a buffer.

#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "base/endian.h"
#include "bitmap/container.h"

namespace cadastre::bitmap {

inline void put_slot(ContainerBuffer& array, std::size_t index, std::uint16_t slot) noexcept {
  base::store_le(array.bytes.data() + index * kSlotBytes, slot);
}

inline void put_word(ContainerBuffer& bitset, std::size_t index, std::uint64_t word) noexcept {
  base::store_le(bitset.bytes.data() + index * sizeof word, word);
}

inline void put_bit(ContainerBuffer& bitset, std::uint16_t slot) noexcept {
  const std::uint64_t word = word_at(bitset.bytes, slot / kWordBits);
  put_word(bitset, slot / kWordBits, word | std::uint64_t{1} << (slot % kWordBits));
}

inline void take_bit(ContainerBuffer& bitset, std::uint16_t slot) noexcept {
  const std::uint64_t word = word_at(bitset.bytes, slot / kWordBits);
  put_word(bitset, slot / kWordBits, word & ~(std::uint64_t{1} << (slot % kWordBits)));
}

inline void clear_words(ContainerBuffer& bitset) noexcept {
  bitset.bytes.fill(std::byte{0});
}

[[nodiscard]] inline ContainerView array_in(const ContainerBuffer& array,
                                            std::uint64_t chunk,
                                            std::size_t count) noexcept {
  return {chunk, static_cast<std::uint32_t>(count), ContainerKind::kArray,
          ByteView(array.bytes).first(count * kSlotBytes)};
}

}  // namespace cadastre::bitmap
