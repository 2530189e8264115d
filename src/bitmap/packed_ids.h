// PackedIds: the payload of form 2, ids as differences from the first (2.4).
//
//   u8 w || u16_le n || u64_le first || (n-1) x w-byte little-endian (id - first), strictly ascending
//
// w is the least number of bytes that holds last - first, and 0 exactly when n = 1; n is 1..65535.
// The fixed width keeps binary search possible on stored bytes. Pure; a view borrows its payload.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/bytes.h"
#include "base/endian.h"
#include "base/result.h"
#include "bitmap/faults.h"
#include "bitmap/ids.h"

namespace cadastre::bitmap {

inline constexpr std::size_t kPackedHeaderBytes = 11;
inline constexpr unsigned kPackedWidthMax = 8;

// The w of ids this far apart.
[[nodiscard]] unsigned packed_width(std::uint64_t difference) noexcept;
// Bytes of the payload. `count` is at least 1.
[[nodiscard]] std::size_t packed_bytes(std::uint64_t count, Id first, Id last) noexcept;

// Writes a whole payload of ascending ids, packed_bytes long.
void write_packed(std::byte* to, std::span<const Id> ids) noexcept;

class PackedIds {
 public:
  // Counts, width and size; not the order of ids (see decode).
  [[nodiscard]] static base::Result<PackedIds, ValueFault> parse(base::ByteView payload);

  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  [[nodiscard]] unsigned width() const noexcept { return width_; }
  [[nodiscard]] Id id_at(std::size_t index) const noexcept {
    return Id{first_ + difference_at(index)};
  }
  [[nodiscard]] Id first() const noexcept { return Id{first_}; }
  [[nodiscard]] Id last() const noexcept { return id_at(count_ - 1); }
  // Index of the first id that is not less, or count().
  [[nodiscard]] std::size_t lower_bound(Id id) const noexcept;
  // Index of the first id behind `index` that lies in another chunk, or count().
  [[nodiscard]] std::size_t chunk_end(std::size_t index) const noexcept;

  // All ids into `out`, which has room for count(); kUnorderedSlots unless they ascend strictly.
  [[nodiscard]] base::Result<void, ValueFault> decode(std::span<Id> out) const;
  // The same question without the ids.
  [[nodiscard]] base::Result<void, ValueFault> check_order() const;

 private:
  // The word that ends where a difference ends begins inside the payload, whose header is longer.
  [[nodiscard]] std::uint64_t difference_at(std::size_t index) const noexcept {
    if (index == 0) return 0;
    constexpr std::size_t kWordBytes = sizeof(std::uint64_t);
    static_assert(kPackedHeaderBytes >= kWordBytes);
    const std::byte* const end = differences_.data() + index * width_;
    const auto word = base::load_le<std::uint64_t>(end - kWordBytes);
    return word >> (8 * (kWordBytes - width_));
  }

  base::ByteView differences_;  // of the ids from the second on
  std::uint64_t first_ = 0;
  std::size_t count_ = 0;
  unsigned width_ = 0;
};

}  // namespace cadastre::bitmap
