// A shard arena without memory management: which slot comes next, which generation it has, where its
// bytes go, and what a handle may see.

#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "base/byte_slab.h"
#include "base/bytes.h"
#include "base/check.h"
#include "base/result.h"
#include "fuzz/slab_model.h"
#include "shard/shard_arena.h"
#include "shard/shard_spec.h"

namespace cadastre::fuzz {

struct SpecBytes {
  base::Bytes start;
  base::Bytes end;
  base::Bytes metadata;

  [[nodiscard]] shard::ShardSpecRef view() const {
    return shard::ShardSpecRef::unchecked(start, end, metadata);
  }
};

struct ArenaSize {
  std::uint32_t slots = 0;
  std::uint32_t bytes = 0;
  std::uint32_t first_generation = 0;
};

class ArenaModel {
 public:
  // Of a fresh arena of this size. Learns the arena's id by storing and freeing one empty spec, so
  // slot 0 has then one generation less.
  ArenaModel(ArenaSize size, shard::ShardArena& arena)
      : slab_(size.bytes, size.slots * 3), slots_(size.slots) {
    for (Slot& slot : slots_)
      slot.generation = size.first_generation;
    rebuild_free_stack();
    const auto handle = arena.alloc(shard::ShardSpecRef::unbounded());
    CAD_CHECK(handle.has_value() == !free_.empty(), "a fresh arena has all its slots");
    if (!handle) return;
    arena_id_ = handle->arena_id;
    CAD_CHECK(arena_id_ != 0, "a default handle names no arena");
    CAD_CHECK(alloc({}) == *handle, "the first slot is handed out first");
    CAD_CHECK(arena.free(*handle) && free(*handle), "a fresh handle frees");
  }

  // The handle that the arena gives, or why it gives none.
  [[nodiscard]] base::Result<shard::ShardSpecHandle, shard::ArenaFull> alloc(SpecBytes spec) {
    using shard::ArenaFull;
    if (free_.empty()) return base::fail(ArenaFull{ArenaFull::Resource::kSlots, 1, 0});
    auto offsets = alloc_bytes(spec);
    if (!offsets) {
      CAD_CHECK(offsets.error().resource == base::SlabResource::kBytes, "three strings a slot");
      return base::fail(ArenaFull{ArenaFull::Resource::kBytes, offsets.error().requested,
                                  offsets.error().available});
    }
    const std::uint32_t index = free_.back();
    free_.pop_back();
    Slot& slot = slots_[index];
    slot.spec = std::move(spec);
    slot.offsets = std::move(*offsets);
    return shard::ShardSpecHandle{index, slot.generation, arena_id_};
  }

  // Whether there was something to free.
  [[nodiscard]] bool free(shard::ShardSpecHandle handle) {
    if (find(handle) == nullptr) return false;
    Slot& slot = slots_[handle.slot];
    for (const std::uint32_t offset : slot.offsets)
      slab_.free(offset);
    slot.spec.reset();
    ++slot.generation;
    if (slot.generation != kRetired) free_.push_back(handle.slot);
    return true;
  }

  void clear() {
    slab_.clear();
    for (Slot& slot : slots_) {
      slot.spec.reset();
      if (slot.generation != kRetired) ++slot.generation;
    }
    rebuild_free_stack();
  }

  // What a handle sees, or null.
  [[nodiscard]] const SpecBytes* find(shard::ShardSpecHandle handle) const {
    if (handle.arena_id != arena_id_ || handle.slot >= slots_.size()) return nullptr;
    const Slot& slot = slots_[handle.slot];
    return slot.spec && slot.generation == handle.generation ? &*slot.spec : nullptr;
  }

  [[nodiscard]] std::uint32_t arena_id() const { return arena_id_; }
  [[nodiscard]] std::uint32_t generation(std::uint32_t slot) const {
    return slots_[slot].generation;
  }
  [[nodiscard]] std::uint32_t slot_count() const {
    return static_cast<std::uint32_t>(slots_.size());
  }

  // Counters, bytes, and for every slot the handles of this generation, the one before and the next.
  void check(const shard::ShardArena& arena) const {
    std::uint32_t live = 0;
    for (const Slot& slot : slots_)
      live += slot.spec ? 1 : 0;
    CAD_CHECK(arena.live_specs() == live, "live specs are counted");
    CAD_CHECK(arena.free_slots() == free_.size(), "free slots are counted");
    CAD_CHECK(arena.slab_stats() == slab_.stats(), "what is live determines the bytes in use");
    for (std::uint32_t index = 0; index < slots_.size(); ++index) {
      for (const std::uint32_t step : {std::uint32_t{0}, std::uint32_t{1}, kRetired})
        check_handle(arena, {index, slots_[index].generation + step, arena_id_});
    }
  }

  void check_handle(const shard::ShardArena& arena, shard::ShardSpecHandle handle) const {
    const auto seen = arena.try_view(handle);
    const SpecBytes* const expected = find(handle);
    CAD_CHECK(seen.has_value() == (expected != nullptr), "only a live handle views anything");
    if (expected != nullptr) CAD_CHECK(*seen == expected->view(), "and what it views is its own");
  }

  // Takes every free slot and puts it back, to see that they come in the order of the model. An
  // empty spec needs no bytes. Moves the generations of the free slots, here and there.
  void check_free_order(shard::ShardArena& arena) {
    std::vector<shard::ShardSpecHandle> taken;
    while (!free_.empty()) {
      const auto handle = arena.alloc(shard::ShardSpecRef::unbounded());
      CAD_CHECK(handle && alloc({}) == *handle, "free slots come in the order that is due");
      taken.push_back(*handle);
    }
    for (; !taken.empty(); taken.pop_back())
      CAD_CHECK(arena.free(taken.back()) && free(taken.back()), "a fresh handle frees");
  }

 private:
  static constexpr std::uint32_t kRetired = std::numeric_limits<std::uint32_t>::max();

  struct Slot {
    std::uint32_t generation = 0;
    std::optional<SpecBytes> spec;
    std::vector<std::uint32_t> offsets;
  };

  // Where the three fields go, those that are not empty; all of them or none.
  [[nodiscard]] base::Result<std::vector<std::uint32_t>, base::SlabFull> alloc_bytes(
      const SpecBytes& spec) {
    std::vector<std::uint32_t> offsets;
    for (const auto* const field : {&spec.start, &spec.end, &spec.metadata}) {
      if (field->empty()) continue;
      const auto offset =
          slab_.allocate(static_cast<std::uint32_t>((field->size() + 15) / 16 * 16));
      if (offset) {
        offsets.push_back(*offset);
        continue;
      }
      for (const std::uint32_t taken : offsets)
        slab_.free(taken);
      return base::fail(offset.error());
    }
    return offsets;
  }

  void rebuild_free_stack() {
    free_.clear();
    for (std::uint32_t index = slot_count(); index > 0; --index) {
      if (slots_[index - 1].generation != kRetired) free_.push_back(index - 1);
    }
  }

  SlabModel slab_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;  // the next one is at the back
  std::uint32_t arena_id_ = 0;
};

}  // namespace cadastre::fuzz
