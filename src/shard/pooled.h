// Pooled values: a spec, a cursor and a list of ids whose bytes live in a slab.
//
// For records that coordination keeps by the thousand. They cannot reach their slab, so they have no
// destructor: release(slab) gives the bytes back and may be called twice. update() allocates the new
// fields before it frees the old ones, so on an error the old value stands. Not copyable.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "base/attributes.h"
#include "base/byte_slab.h"
#include "base/bytes.h"
#include "base/result.h"
#include "shard/cursor.h"
#include "shard/limits.h"
#include "shard/shard_id.h"
#include "shard/shard_spec.h"
#include "shard/view_guard.h"

namespace cadastre::shard::inline CAD_SHARD_FLAVOUR {

using base::Result;

// Holds slots of one slab; moving leaves the source empty.
template <std::size_t N>
class PooledSlots {
 public:
  PooledSlots() noexcept = default;
  PooledSlots(const PooledSlots&) = delete;
  PooledSlots& operator=(const PooledSlots&) = delete;
  PooledSlots(PooledSlots&& other) noexcept : slots_(std::exchange(other.slots_, {})) {}
  PooledSlots& operator=(PooledSlots&& other) noexcept {
    std::swap(slots_, other.slots_);
    return *this;
  }
  ~PooledSlots() = default;

  [[nodiscard]] Result<void, base::SlabFull> update(
      base::ByteSlab& slab, const std::array<ByteView, N>& fields) noexcept {
    if (overwrite(slab, fields)) return {};
    std::array<base::ByteSlot, N> fresh{};
    for (std::size_t i = 0; i < N; ++i) {
      const auto slot = slab.allocate(fields[i]);
      if (!slot) {
        for (std::size_t j = i; j > 0; --j)
          slab.deallocate(fresh[j - 1]);
        return base::fail(slot.error());
      }
      fresh[i] = *slot;
    }
    release(slab);
    slots_ = fresh;
    return {};
  }

  void release(base::ByteSlab& slab) noexcept {
    for (base::ByteSlot& slot : slots_)
      slab.deallocate(std::exchange(slot, base::ByteSlot::empty()));
  }

  [[nodiscard]] ByteView get(const base::ByteSlab& slab CAD_LIFETIMEBOUND,
                             std::size_t index) const noexcept {
    return slab.get(slots_[index]);
  }
  [[nodiscard]] bool has(std::size_t index) const noexcept { return slots_[index].len != 0; }

 private:
  // Writes over the old fields if every new one takes a block of the same size; a frequent case,
  // which then neither frees nor allocates.
  [[nodiscard]] bool overwrite(base::ByteSlab& slab,
                               const std::array<ByteView, N>& fields) noexcept {
    for (std::size_t i = 0; i < N; ++i) {
      if (!slab.fits_in_place(slots_[i], fields[i])) return false;
      for (std::size_t j = 0; j < i; ++j) {  // A field may borrow another one's old bytes.
        if (base::overlaps(fields[i], slab.get(slots_[j]))) return false;
      }
    }
    for (std::size_t i = 0; i < N; ++i)
      slots_[i] = slab.overwrite(slots_[i], fields[i]);
    return true;
  }

  std::array<base::ByteSlot, N> slots_{};
};

class PooledSpec {
 public:
  // `spec` is valid.
  [[nodiscard]] Result<void, base::SlabFull> update(base::ByteSlab& slab,
                                                    const ShardSpecRef& spec) noexcept;
  void release(base::ByteSlab& slab) noexcept { slots_.release(slab); }
  [[nodiscard]] ShardSpecRef view(const base::ByteSlab& slab CAD_LIFETIMEBOUND) const noexcept {
    return ShardSpecRef::unchecked(slots_.get(slab, 0), slots_.get(slab, 1), slots_.get(slab, 2));
  }

 private:
  PooledSlots<3> slots_;  // start, end, metadata
};

class PooledCursor {
 public:
  [[nodiscard]] Result<void, base::SlabFull> update(base::ByteSlab& slab,
                                                    const CursorUpdate& cursor) noexcept;
  void release(base::ByteSlab& slab) noexcept { slots_.release(slab); }
  [[nodiscard]] CursorUpdate view(const base::ByteSlab& slab CAD_LIFETIMEBOUND) const noexcept {
    const ByteView key = slots_.get(slab, 0);
    if (key.empty()) return CursorUpdate::initial();
    return CursorUpdate::make(key, slots_.get(slab, 1));
  }
  [[nodiscard]] bool has_key() const noexcept { return slots_.has(0); }

 private:
  PooledSlots<2> slots_;  // last key, token; an empty one is absent, for neither is ever empty
};

// At most kMaxSpawnedPerShard ids, kept as little-endian 64-bit integers.
class PooledIdList {
 public:
  // Appends all of `ids`. There is room for them: current size plus ids is at most the limit.
  [[nodiscard]] Result<void, base::SlabFull> append(base::ByteSlab& slab,
                                                    std::span<const ShardId> ids) noexcept;
  void release(base::ByteSlab& slab) noexcept;

  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] ShardId at(const base::ByteSlab& slab, std::size_t index) const noexcept;
  // All ids, little-endian, one after the other.
  [[nodiscard]] ByteView packed(const base::ByteSlab& slab CAD_LIFETIMEBOUND) const noexcept {
    return slots_.get(slab, 0);
  }

 private:
  PooledSlots<1> slots_;
  std::uint16_t count_ = 0;
};

}  // namespace cadastre::shard::inline CAD_SHARD_FLAVOUR
