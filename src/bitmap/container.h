// Containers: the ids of one chunk, as the portable roaring format stores them, and what can be read
// from those bytes without decoding them.
//
//   array   u16 x cardinality, ascending          cardinality <= 4096
//   bitset  1024 x u64                            cardinality >  4096
//   run     u16 n_runs, n_runs x (u16 start, u16 length - 1), ascending, not touching
//
// Integers are little-endian and lie at any address. A view is well formed when its bytes have the
// size that kind, cardinality and number of runs ask for: all that a view of a segment guarantees.
// Every function here stays inside the bytes of a well-formed view, whatever they hold; slots out of
// order may give a wrong answer and no other harm. `validate` looks at the content (B-28).
//
// Everything here is a pure function.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/bytes.h"
#include "base/endian.h"
#include "base/result.h"
#include "bitmap/faults.h"
#include "bitmap/limits.h"

namespace cadastre::bitmap {

using base::ByteView;
using base::Result;

enum class ContainerKind : std::uint8_t {
  kArray,
  kBitset,
  kRun,
};

// Borrows its bytes.
struct ContainerView {
  std::uint64_t chunk = 0;
  std::uint32_t cardinality = 0;
  ContainerKind kind = ContainerKind::kArray;
  ByteView bytes = {};
};

// Room for any container. Not cleared: clearing costs as much as reading one.
struct alignas(64) ContainerBuffer {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init,modernize-use-equals-default)
  ContainerBuffer() noexcept {}

  std::array<std::byte, kContainerBytesMax> bytes;
};

inline constexpr std::size_t kSlotBytes = sizeof(std::uint16_t);
inline constexpr std::size_t kRunBytes = 2 * sizeof(std::uint16_t);
inline constexpr std::size_t kRunHeaderBytes = sizeof(std::uint16_t);
inline constexpr std::size_t kBitsetWords = kContainerBytesMax / sizeof(std::uint64_t);
inline constexpr unsigned kWordBits = 64;

// Stored bytes of a container that is no run container.
[[nodiscard]] constexpr std::size_t plain_bytes(std::uint32_t cardinality) noexcept {
  return cardinality <= kArrayCardinalityMax ? cardinality * kSlotBytes : kContainerBytesMax;
}
[[nodiscard]] constexpr std::size_t run_bytes(std::size_t runs) noexcept {
  return kRunHeaderBytes + runs * kRunBytes;
}
[[nodiscard]] constexpr ContainerKind plain_kind(std::uint32_t cardinality) noexcept {
  return cardinality <= kArrayCardinalityMax ? ContainerKind::kArray : ContainerKind::kBitset;
}

// The kind that stores this content in the fewest bytes; ties prefer array, then bitset (B-12).
[[nodiscard]] constexpr ContainerKind canonical_kind(std::uint32_t cardinality,
                                                     std::size_t runs) noexcept {
  return run_bytes(runs) < plain_bytes(cardinality) ? ContainerKind::kRun : plain_kind(cardinality);
}

// ---- Parts of the stored bytes ---------------------------------------------------------------

[[nodiscard]] inline std::uint16_t slot_at(ByteView array, std::size_t index) noexcept {
  return base::load_le<std::uint16_t>(array.data() + index * kSlotBytes);
}
[[nodiscard]] inline std::uint64_t word_at(ByteView bitset, std::size_t index) noexcept {
  return base::load_le<std::uint64_t>(bitset.data() + index * sizeof(std::uint64_t));
}

// Both ends belong to it.
struct Run {
  std::uint16_t first = 0;
  std::uint16_t last = 0;
};
[[nodiscard]] inline std::size_t run_count(ByteView run_container) noexcept {
  return base::load_le<std::uint16_t>(run_container.data());
}
// A run that would leave the chunk ends with it.
[[nodiscard]] inline Run run_at(ByteView run_container, std::size_t index) noexcept {
  const std::byte* const at = run_container.data() + run_bytes(index);
  const auto first = base::load_le<std::uint16_t>(at);
  const std::uint32_t last = std::uint32_t{first} + base::load_le<std::uint16_t>(at + kSlotBytes);
  constexpr std::uint32_t kLastSlot = kSlotsPerChunk - 1;
  return {first, static_cast<std::uint16_t>(last < kLastSlot ? last : kLastSlot)};
}

// ---- Questions -------------------------------------------------------------------------------

[[nodiscard]] bool contains(const ContainerView& container, std::uint16_t slot) noexcept;
// Members <= slot.
[[nodiscard]] std::uint32_t rank(const ContainerView& container, std::uint16_t slot) noexcept;
// The member with `index` members before it, or nothing if there is none.
[[nodiscard]] std::optional<std::uint16_t> select(const ContainerView& container,
                                                  std::uint32_t index) noexcept;
[[nodiscard]] std::uint16_t min_slot(const ContainerView& container) noexcept;
[[nodiscard]] std::uint16_t max_slot(const ContainerView& container) noexcept;
// Maximal intervals of members.
[[nodiscard]] std::uint32_t count_runs(const ContainerView& container) noexcept;

// Order of slots, shape of runs, and that the cardinality is right.
[[nodiscard]] Result<void, ValueFault> validate(const ContainerView& container);

[[nodiscard]] std::uint32_t count_bits(ByteView bitset) noexcept;
[[nodiscard]] std::uint32_t count_bit_runs(ByteView bitset) noexcept;

// ---- Slots in order --------------------------------------------------------------------------

// Reads a container's slots in ascending order, a block at a time. Borrows the container's bytes.
class SlotReader {
 public:
  explicit SlotReader(const ContainerView& container) noexcept;

  // Fills `out` from its start; less than all of it only at the end, then 0.
  [[nodiscard]] std::size_t read(std::span<std::uint16_t> out) noexcept;

 private:
  std::size_t read_array(std::span<std::uint16_t> out) noexcept;
  std::size_t read_bitset(std::span<std::uint16_t> out) noexcept;
  std::size_t read_runs(std::span<std::uint16_t> out) noexcept;

  ContainerView container_;
  std::size_t next_ = 0;        // slot, word or run
  std::uint64_t word_ = 0;      // bitset: what is left of the word before `next_`
  std::uint32_t into_run_ = 0;  // run: slots of run `next_` that were read
};

}  // namespace cadastre::bitmap
