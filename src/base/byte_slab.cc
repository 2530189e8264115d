#include "base/byte_slab.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>

#include "base/bytes.h"
#include "base/check.h"
#include "base/result.h"

namespace cadastre::base {
namespace {

constexpr std::byte kUnusedByte{0xde};

// Identifies one slab between two clears. Comes round after 2^32 of them; 0 is the empty slot's.
std::uint32_t next_owner() noexcept {
  static std::atomic<std::uint32_t> next{1};
  std::uint32_t owner = 0;
  while (owner == 0)
    owner = next.fetch_add(1, std::memory_order_relaxed);
  return owner;
}

}  // namespace

template <class Rounding>
BasicByteSlab<Rounding>::BasicByteSlab(std::uint32_t capacity, std::uint32_t max_live)
    : capacity_(capacity),
      max_live_(max_live),
      // NOLINTNEXTLINE(modernize-avoid-c-arrays): as in the header.
      buffer_(std::make_unique_for_overwrite<std::byte[]>(capacity)),
      owner_(next_owner()) {
  free_.reserve(max_live);
}

template <class Rounding>
BasicByteSlab<Rounding>::~BasicByteSlab() {
  CAD_CHECK_SLOW(live_count_ == 0, "a slab is empty when it is destroyed");
}

template <class Rounding>
Result<ByteSlot, SlabFull> BasicByteSlab<Rounding>::allocate(ByteView data) noexcept {
  constexpr std::uint32_t kMax = std::numeric_limits<std::uint32_t>::max();
  if (data.empty()) return ByteSlot::empty();

  const auto rounded = data.size() > kMax
                           ? std::nullopt
                           : Rounding::round_up(static_cast<std::uint32_t>(data.size()));
  if (!rounded) return fail(SlabFull{SlabResource::kBytes, kMax, capacity_ - bump_});
  if (live_count_ == max_live_) return fail(SlabFull{SlabResource::kLiveEntries, 1, 0});
  const auto block = take_block(*rounded);
  if (!block) return fail(SlabFull{SlabResource::kBytes, *rounded, capacity_ - bump_});

  if constexpr (kSlowChecks) check_unused(*block);
  std::memcpy(buffer_.get() + block->offset, data.data(), data.size());
  live_bytes_ += block->size;
  ++live_count_;
  touched_ = std::max(touched_, bump_);
  if constexpr (kSlowChecks) check_invariants();
  return ByteSlot{block->offset, static_cast<std::uint32_t>(data.size()), block->size, owner_};
}

template <class Rounding>
bool BasicByteSlab<Rounding>::fits_in_place(ByteSlot slot, ByteView data) const noexcept {
  if (data.size() > slot.block) return false;
  return Rounding::round_up(static_cast<std::uint32_t>(data.size())) == slot.block;
}

template <class Rounding>
ByteSlot BasicByteSlab<Rounding>::overwrite(ByteSlot slot, ByteView data) noexcept {
  CAD_CHECK(fits_in_place(slot, data), "what is written over a slot fits its block");
  if (slot.is_empty()) return slot;
  check_slot(slot);
  std::memmove(buffer_.get() + slot.offset, data.data(), data.size());
  slot.len = static_cast<std::uint32_t>(data.size());
  return slot;
}

template <class Rounding>
void BasicByteSlab<Rounding>::deallocate(ByteSlot slot) noexcept {
  if (slot.is_empty()) return;
  check_slot(slot);
  give_back(FreeBlock{slot.offset, slot.block});
  live_bytes_ -= slot.block;
  --live_count_;
  if constexpr (kSlowChecks) fill_unused(Block{slot.offset, slot.block});
  if constexpr (kSlowChecks) check_invariants();
}

template <class Rounding>
void BasicByteSlab<Rounding>::clear() noexcept {
  if constexpr (kSlowChecks) fill_unused(Block{0, bump_});
  bump_ = 0;
  live_bytes_ = 0;
  live_count_ = 0;
  free_bytes_ = 0;
  free_.clear();
  owner_ = next_owner();
  if constexpr (kSlowChecks) check_invariants();
}

template <class Rounding>
SlabStats BasicByteSlab<Rounding>::stats() const noexcept {
  return SlabStats{.capacity = capacity_,
                   .live_bytes = live_bytes_,
                   .live_count = live_count_,
                   .bump_offset = bump_,
                   .free_bytes = free_bytes_,
                   .available_bytes = free_bytes_ + (capacity_ - bump_)};
}

template <class Rounding>
void BasicByteSlab<Rounding>::check_invariants() const noexcept {
  CAD_CHECK(bump_ <= capacity_, "invariant 1");
  std::uint64_t sum = 0;
  // One past the end of the block before; the first block may start at 0.
  std::uint64_t least_offset = 0;
  for (const FreeBlock& block : free_) {
    CAD_CHECK(block.size >= kSlabMinBlock, "a free block can be handed out");
    CAD_CHECK(block.offset >= least_offset, "invariant 2: sorted, disjoint, not touching");
    sum += block.size;
    least_offset = std::uint64_t{block.offset} + block.size + 1;
  }
  CAD_CHECK(least_offset <= bump_, "invariant 2: no free block touches bump");
  CAD_CHECK(free_bytes_ == sum, "invariant 3");
  CAD_CHECK(std::uint64_t{live_bytes_} + free_bytes_ == bump_, "invariant 4");
  CAD_CHECK(free_.size() <= live_count_, "invariant 5");
  CAD_CHECK(live_count_ <= max_live_, "live entries are bounded");
}

// Best fit in the free list, else from behind bump.
template <class Rounding>
auto BasicByteSlab<Rounding>::take_block(std::uint32_t size) noexcept -> std::optional<Block> {
  if (const auto hole = best_fit(size); hole != free_.end()) {
    const std::uint32_t rest = hole->size - size;
    const Block taken{hole->offset, rest >= kSlabMinBlock ? size : hole->size};
    free_bytes_ -= taken.size;
    if (rest >= kSlabMinBlock) {
      *hole = FreeBlock{hole->offset + size, rest};
    } else {
      free_.erase(hole);
    }
    return taken;
  }
  if (size > capacity_ - bump_) return std::nullopt;
  const Block taken{bump_, size};
  bump_ += size;
  return taken;
}

// The smallest hole that holds `size` bytes, the first of them if several are equal; or the end.
template <class Rounding>
auto BasicByteSlab<Rounding>::best_fit(std::uint32_t size) noexcept -> FreeList::iterator {
  auto best = free_.end();
  if (size > free_bytes_) return best;
  for (auto hole = free_.begin(); hole != free_.end(); ++hole) {
    if (hole->size == size) return hole;
    if (hole->size > size && (best == free_.end() || hole->size < best->size)) best = hole;
  }
  return best;
}

// Puts a block that is no longer live into the free list, or behind bump if it reaches it.
template <class Rounding>
void BasicByteSlab<Rounding>::give_back(FreeBlock block) noexcept {
  const auto right = std::ranges::lower_bound(free_, block.offset, {}, &FreeBlock::offset);
  const bool has_left = right != free_.begin();
  const bool has_right = right != free_.end();
  const auto left = has_left ? std::prev(right) : free_.end();
  CAD_CHECK(!has_right || block.end() <= right->offset, "double free");
  CAD_CHECK(!has_left || left->end() <= block.offset, "double free");

  free_bytes_ += block.size;
  const bool joins_right = has_right && block.end() == right->offset;
  const bool joins_left = has_left && left->end() == block.offset;
  if (joins_right) block.size += right->size;
  if (joins_left) block = FreeBlock{left->offset, left->size + block.size};

  if (block.end() == bump_) {
    // No free block touches bump, so what reaches it has no right neighbour.
    if (joins_left) free_.erase(left);
    bump_ = block.offset;
    free_bytes_ -= block.size;
  } else if (joins_left) {
    *left = block;
    if (joins_right) free_.erase(right);
  } else if (joins_right) {
    *right = block;
  } else {
    CAD_CHECK(free_.size() < max_live_, "invariant 5 bounds the free list");
    free_.insert(right, block);
  }
}

template <class Rounding>
void BasicByteSlab<Rounding>::fill_unused(Block block) noexcept {
  std::fill_n(buffer_.get() + block.offset, block.size, kUnusedByte);
}

template <class Rounding>
void BasicByteSlab<Rounding>::check_unused(Block block) const noexcept {
  const std::uint32_t end = std::min(block.offset + block.size, touched_);
  for (std::uint32_t at = block.offset; at < end; ++at) {
    CAD_CHECK(buffer_[at] == kUnusedByte, "nobody wrote to bytes after they were freed");
  }
}

template class BasicByteSlab<RoundPow2>;
template class BasicByteSlab<Round16>;

}  // namespace cadastre::base
