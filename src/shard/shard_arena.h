// ShardArena: long-lived shard specs in two blocks of memory, named by handles.
//
// The constructor makes every allocation that the arena will ever make: slot table, free slots,
// bytes, free list. A handle carries its slot's generation and its arena's id, so a stale, foreign
// or default handle views nothing and frees nothing.
//
// Slots are handed out lowest first after construction and after clear(), and last freed first
// afterwards. A slot whose generation is used up is retired instead of wrapping.
//
// Neither copyable nor movable: views hold its addresses. Not thread-safe.

#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string_view>
#include <vector>

#include "base/attributes.h"
#include "base/byte_slab.h"
#include "base/result.h"
#include "shard/shard_spec.h"
#include "shard/view_guard.h"

namespace cadastre::shard::inline CAD_SHARD_FLAVOUR {

using base::Result;

// Nothing was stored. Free specs, or start with a larger arena.
struct ArenaFull {
  enum class Resource : std::uint8_t {
    kSlots,
    kBytes,        // `requested` is the rounded block, `available` the untouched tail
    kLiveEntries,  // of the byte slab; cannot happen while slots are three to one
  };

  Resource resource{};
  std::uint64_t requested = 0;
  std::uint64_t available = 0;

  friend constexpr bool operator==(const ArenaFull&, const ArenaFull&) noexcept = default;
};

[[nodiscard]] std::string_view code_name(const ArenaFull& error) noexcept;  // arena_full
char* format_to(char* first, char* last, const ArenaFull& error) noexcept;

// Names a spec inside an arena. A default handle is valid nowhere.
struct ShardSpecHandle {
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;
  std::uint32_t arena_id = 0;

  friend constexpr bool operator==(const ShardSpecHandle&,
                                   const ShardSpecHandle&) noexcept = default;
};

class ShardArena {
 public:
  using Slab = base::BasicByteSlab<base::Round16>;  // Specs are written once: waste little.

  // `first_generation` is for tests of slots that run out of generations.
  ShardArena(std::uint32_t spec_slots,
             std::uint32_t byte_capacity,
             std::uint32_t first_generation = 0);
  ~ShardArena();
  ShardArena(const ShardArena&) = delete;
  ShardArena& operator=(const ShardArena&) = delete;

  // Copies a valid spec. On an error everything is as before.
  [[nodiscard]] Result<ShardSpecHandle, ArenaFull> alloc(const ShardSpecRef& spec) noexcept;

  // Nothing for a foreign, stale or freed handle. The view lasts until the handle is freed.
  [[nodiscard]] std::optional<ShardSpecRef> try_view(ShardSpecHandle handle) const noexcept
      CAD_LIFETIMEBOUND;
  // Aborts for such a handle.
  [[nodiscard]] ShardSpecRef view(ShardSpecHandle handle) const noexcept CAD_LIFETIMEBOUND;

  // Whether anything was freed: foreign, stale and repeated handles are ignored.
  bool free(ShardSpecHandle handle) noexcept;

  // Frees everything and makes every handle stale.
  void clear() noexcept;

  [[nodiscard]] std::uint32_t live_specs() const noexcept { return live_specs_; }
  [[nodiscard]] std::uint32_t free_slots() const noexcept {
    return static_cast<std::uint32_t>(free_stack_.size());
  }
  [[nodiscard]] base::SlabStats slab_stats() const noexcept { return slab_.stats(); }

  // A builder's exclusive use; a second borrower aborts.
  void begin_exclusive_use() noexcept;
  void end_exclusive_use() noexcept;

 private:
  struct Slot {
    base::ByteSlot start;
    base::ByteSlot end;
    base::ByteSlot metadata;
    std::uint32_t generation = 0;
    bool live = false;
  };

  [[nodiscard]] const Slot* find(ShardSpecHandle handle) const noexcept;
  void release_bytes(Slot& slot) noexcept;
  void rebuild_free_stack() noexcept;

  // Constant after construction.
  const std::uint32_t id_;

  Slab slab_;
  std::vector<Slot> slots_;                // Never grows.
  std::vector<std::uint32_t> free_stack_;  // Reserved for all slots; the next one is at the back.
  std::uint32_t live_specs_ = 0;
  bool in_exclusive_use_ = false;
};

// Bytes that hold `entries` specs with keys and metadata of at most these sizes.
[[nodiscard]] std::uint64_t arena_bytes_for(std::uint64_t entries,
                                            std::uint32_t max_key,
                                            std::uint32_t max_metadata) noexcept;

// Why an `_into` constructor stored nothing: the spec could not be built, or the arena is full.
template <class E>
struct IntoError {
  enum class Stage : std::uint8_t {
    kBuild,
    kArena,
  };

  Stage stage{};
  E build{};
  ArenaFull arena{};

  [[nodiscard]] static constexpr IntoError of_build(E error) noexcept {
    return {Stage::kBuild, error, {}};
  }
  [[nodiscard]] static constexpr IntoError of_arena(ArenaFull full) noexcept {
    return {Stage::kArena, E{}, full};
  }

  friend constexpr bool operator==(const IntoError&, const IntoError&) noexcept = default;
  friend std::string_view code_name(const IntoError& error) noexcept {
    return error.stage == Stage::kBuild ? code_name(error.build) : code_name(error.arena);
  }
  friend char* format_to(char* first, char* last, const IntoError& error) noexcept {
    return error.stage == Stage::kBuild ? format_to(first, last, error.build)
                                        : format_to(first, last, error.arena);
  }
};

// The second half of every `_into` constructor.
template <class E>
[[nodiscard]] Result<ShardSpecHandle, IntoError<E>> store_into(
    ShardArena& arena, const std::expected<ShardSpecRef, E>& built) noexcept {
  if (!built) return base::fail(IntoError<E>::of_build(built.error()));
  const auto handle = arena.alloc(*built);
  if (!handle) return base::fail(IntoError<E>::of_arena(handle.error()));
  return *handle;
}

}  // namespace cadastre::shard::inline CAD_SHARD_FLAVOUR
