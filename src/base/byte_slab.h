// ByteSlab: many short byte strings in one buffer, allocated and freed in any order, without a heap
// call after construction.
//
//   base::ByteSlab slab(1U << 20, /*max_live=*/3000);
//   const base::ByteSlot slot = CAD_TRY(slab.allocate(key));
//   use(slab.get(slot));
//   slab.deallocate(slot);
//
// One buffer, two zones: [0, bump) is tiled by live and free blocks, [bump, capacity) is untouched.
// Free blocks are kept in one list sorted by offset; allocation is best fit, lowest offset first.
// There are no size classes. A freed block merges with its free neighbours, and lowers `bump` if it
// reaches it: the layout of a slab is a function of its live blocks alone.
//
// Invariants
//   1. bump <= capacity.
//   2. The free list is sorted and disjoint; no two blocks of it touch, none touches bump.
//   3. free_bytes is the sum of the free list.
//   4. live_bytes + free_bytes + (capacity - bump) == capacity.
//   5. There are at most live_count free blocks: a live block starts where a free one ends, and
//      different free blocks end at different places. So a list of max_live entries never overflows.
//
// With slow checks (base/check.h) the invariants are verified after every change; bytes that are not
// live are filled with `de`, and that is verified before they are handed out again.
//
// A slot names its slab, and clear() renames the slab, so foreign and cleared slots abort. A slot
// that was freed, and whose bytes live again under another slot, is not detected: keep slots behind
// a handle with a generation. A slab must be empty when it is destroyed. Not thread-safe.

#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include "base/attributes.h"
#include "base/bytes.h"
#include "base/check.h"
#include "base/result.h"

namespace cadastre::base {

inline constexpr std::uint32_t kSlabMinBlock = 16;
static_assert(std::has_single_bit(kSlabMinBlock), "both policies round to multiples of it");

// How many bytes of a slab hold `bytes` of data; nothing if that is no 32-bit number. Empty data
// takes no block, so 0 stays 0.
//
// Powers of two leave room for growth that fits the same hole: for data that is rewritten.
struct RoundPow2 {
  [[nodiscard]] static constexpr std::optional<std::uint32_t> round_up(
      std::uint32_t bytes) noexcept {
    if (bytes == 0) return 0;
    if (bytes > std::uint32_t{1} << 31) return std::nullopt;
    return std::bit_ceil(std::max(bytes, kSlabMinBlock));
  }
};

// Multiples of 16 waste 8 bytes on average: for data that is written once.
struct Round16 {
  [[nodiscard]] static constexpr std::optional<std::uint32_t> round_up(
      std::uint32_t bytes) noexcept {
    constexpr std::uint32_t kMask = kSlabMinBlock - 1;
    if (bytes > std::numeric_limits<std::uint32_t>::max() - kMask) return std::nullopt;
    return (bytes + kMask) & ~kMask;
  }
};

// Where a byte string lives. The block's size is stored, never recomputed from the length.
struct ByteSlot {
  std::uint32_t offset = 0;
  std::uint32_t len = 0;
  std::uint32_t block = 0;
  std::uint32_t owner = 0;  // Never 0 for a slot that has bytes.

  [[nodiscard]] static constexpr ByteSlot empty() noexcept { return {}; }
  [[nodiscard]] constexpr bool is_empty() const noexcept { return *this == empty(); }

  friend constexpr bool operator==(const ByteSlot&, const ByteSlot&) noexcept = default;
};
static_assert(sizeof(ByteSlot) == 16 && std::is_trivially_copyable_v<ByteSlot>);

enum class SlabResource : std::uint8_t {
  kBytes,        // No hole is large enough: free something, or use a larger slab.
  kLiveEntries,  // max_live strings are live: free one.
};

// Nothing was changed. For kBytes, `requested` is the rounded size (2^32-1 if rounding overflows)
// and `available` what is left behind bump; holes are not counted, since none of them fits. For
// kLiveEntries they are 1 and 0.
struct SlabFull {
  SlabResource resource = SlabResource::kBytes;
  std::uint64_t requested = 0;
  std::uint64_t available = 0;

  friend constexpr bool operator==(const SlabFull&, const SlabFull&) noexcept = default;
};

struct SlabStats {
  std::uint32_t capacity = 0;
  std::uint32_t live_bytes = 0;  // Whole blocks, padding included.
  std::uint32_t live_count = 0;
  std::uint32_t bump_offset = 0;
  std::uint32_t free_bytes = 0;       // In holes below bump.
  std::uint32_t available_bytes = 0;  // Holes and the rest: an upper bound, it may be fragmented.

  friend constexpr bool operator==(const SlabStats&, const SlabStats&) noexcept = default;
};

template <class Rounding>
class BasicByteSlab {
 public:
  // The only heap calls: `capacity` bytes, and 8 bytes for each of `max_live` strings.
  BasicByteSlab(std::uint32_t capacity, std::uint32_t max_live);
  ~BasicByteSlab();
  BasicByteSlab(const BasicByteSlab&) = delete;
  BasicByteSlab& operator=(const BasicByteSlab&) = delete;

  // Copies `data` in. Empty data gives the empty slot and is not counted. `data` may be a view into
  // this slab.
  [[nodiscard]] Result<ByteSlot, SlabFull> allocate(ByteView data) noexcept;

  // The bytes of a live slot, valid until it is freed.
  [[nodiscard]] ByteView get(ByteSlot slot) const noexcept CAD_LIFETIMEBOUND {
    if (slot.is_empty()) return {};
    check_slot(slot);
    return {buffer_.get() + slot.offset, slot.len};
  }

  // Whether `data` takes a block of the size that `slot` has.
  [[nodiscard]] bool fits_in_place(ByteSlot slot, ByteView data) const noexcept;
  // Writes `data`, which fits in place, over the bytes of a live slot, and returns the slot anew.
  // `data` may be a view into this slab.
  [[nodiscard]] ByteSlot overwrite(ByteSlot slot, ByteView data) noexcept;

  // Ends a live slot; freeing it twice aborts. The empty slot is ignored.
  void deallocate(ByteSlot slot) noexcept;

  // Ends every slot at once, in constant time (without slow checks).
  void clear() noexcept;

  [[nodiscard]] SlabStats stats() const noexcept;

  // Aborts unless invariants 1 to 5 hold. Walks the free list.
  void check_invariants() const noexcept;

 private:
  struct FreeBlock {
    std::uint32_t offset;
    std::uint32_t size;

    [[nodiscard]] constexpr std::uint32_t end() const noexcept { return offset + size; }
  };
  // A stretch of the buffer that has just become the caller's.
  struct Block {
    std::uint32_t offset;
    std::uint32_t size;
  };

  using FreeList = std::vector<FreeBlock>;

  [[nodiscard]] std::optional<Block> take_block(std::uint32_t size) noexcept;
  [[nodiscard]] FreeList::iterator best_fit(std::uint32_t size) noexcept;
  void give_back(FreeBlock block) noexcept;
  void check_slot(ByteSlot slot) const noexcept {
    CAD_CHECK(slot.owner == owner_, "a slot is used with its own slab, and not after clear()");
    CAD_CHECK(slot.len <= slot.block, "a slot's data fits its block");
    CAD_CHECK(slot.block >= kSlabMinBlock, "a slot that is not empty has a block");
    CAD_CHECK(std::uint64_t{slot.offset} + slot.block <= bump_, "a slot's block is in use");
  }
  void fill_unused(Block block) noexcept;
  void check_unused(Block block) const noexcept;

  // Constant after construction.
  const std::uint32_t capacity_;
  const std::uint32_t max_live_;
  // NOLINTNEXTLINE(modernize-avoid-c-arrays): a vector would write to all of it first.
  const std::unique_ptr<std::byte[]> buffer_;

  std::uint32_t owner_;
  std::uint32_t bump_ = 0;
  std::uint32_t live_bytes_ = 0;
  std::uint32_t live_count_ = 0;
  std::uint32_t free_bytes_ = 0;
  FreeList free_;  // Has room for max_live_ blocks from the start, so it never allocates again.
  // Largest bump so far. With slow checks, every byte below it that is not live is `de`.
  std::uint32_t touched_ = 0;
};

extern template class BasicByteSlab<RoundPow2>;
extern template class BasicByteSlab<Round16>;

using ByteSlab = BasicByteSlab<RoundPow2>;

}  // namespace cadastre::base
