#include "shard/shard_arena.h"

#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "base/byte_slab.h"
#include "base/check.h"
#include "base/result.h"
#include "shard/shard_spec.h"
#include "shard/text_writer.h"
#include "shard/view_guard.h"

namespace cadastre::shard::inline CAD_SHARD_FLAVOUR {
namespace {

constexpr std::uint32_t kFieldsPerSpec = 3;
constexpr std::uint32_t kRetiredGeneration = std::numeric_limits<std::uint32_t>::max();

// Process-wide and never 0, which a default handle carries.
std::uint32_t next_arena_id() noexcept {
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): ids differ in one process
  static std::atomic<std::uint32_t> last{0};
  std::uint32_t id = 0;
  while (id == 0)
    id = last.fetch_add(1, std::memory_order_relaxed) + 1;
  return id;
}

ArenaFull to_arena_full(const base::SlabFull& full) noexcept {
  const auto resource = full.resource == base::SlabResource::kBytes
                            ? ArenaFull::Resource::kBytes
                            : ArenaFull::Resource::kLiveEntries;
  return {resource, full.requested, full.available};
}

std::uint32_t slab_entries(std::uint32_t spec_slots) noexcept {
  CAD_CHECK(spec_slots <= std::numeric_limits<std::uint32_t>::max() / kFieldsPerSpec,
            "three byte strings for each slot are counted in 32 bits");
  return spec_slots * kFieldsPerSpec;
}

}  // namespace

std::string_view code_name(const ArenaFull& /*error*/) noexcept {
  return "arena_full";
}

char* format_to(char* first, char* last, const ArenaFull& error) noexcept {
  TextWriter out(first, last);
  out.text("the arena is out of ");
  switch (error.resource) {
    case ArenaFull::Resource::kSlots: out.text("slots"); break;
    case ArenaFull::Resource::kBytes: out.text("bytes"); break;
    case ArenaFull::Resource::kLiveEntries: out.text("entries"); break;
  }
  return out.text(": ")
      .number(error.requested)
      .text(" requested, ")
      .number(error.available)
      .text(" available")
      .end();
}

ShardArena::ShardArena(std::uint32_t spec_slots,
                       std::uint32_t byte_capacity,
                       std::uint32_t first_generation)
    : id_(next_arena_id()), slab_(byte_capacity, slab_entries(spec_slots)), slots_(spec_slots) {
  for (Slot& slot : slots_)
    slot.generation = first_generation;
  free_stack_.reserve(spec_slots);
  rebuild_free_stack();
}

ShardArena::~ShardArena() {
  clear();
}

Result<ShardSpecHandle, ArenaFull> ShardArena::alloc(const ShardSpecRef& spec) noexcept {
  CAD_CHECK(validate(spec).has_value(), "an arena stores valid specs");
  if (free_stack_.empty()) return base::fail(ArenaFull{ArenaFull::Resource::kSlots, 1, 0});
  Slot& slot = slots_[free_stack_.back()];

  const auto start = slab_.allocate(spec.start());
  if (!start) return base::fail(to_arena_full(start.error()));
  const auto end = slab_.allocate(spec.end());
  if (!end) {
    slab_.deallocate(*start);
    return base::fail(to_arena_full(end.error()));
  }
  const auto metadata = slab_.allocate(spec.metadata());
  if (!metadata) {
    slab_.deallocate(*end);
    slab_.deallocate(*start);
    return base::fail(to_arena_full(metadata.error()));
  }

  slot.start = *start;
  slot.end = *end;
  slot.metadata = *metadata;
  slot.live = true;
  const std::uint32_t index = free_stack_.back();
  free_stack_.pop_back();
  ++live_specs_;
  return ShardSpecHandle{index, slot.generation, id_};
}

const ShardArena::Slot* ShardArena::find(ShardSpecHandle handle) const noexcept {
  if (handle.arena_id != id_ || handle.slot >= slots_.size()) return nullptr;
  const Slot& slot = slots_[handle.slot];
  return slot.live && slot.generation == handle.generation ? &slot : nullptr;
}

std::optional<ShardSpecRef> ShardArena::try_view(ShardSpecHandle handle) const noexcept {
  const Slot* slot = find(handle);
  if (slot == nullptr) return std::nullopt;
  const ViewGuard guard(&slot->generation, ViewOwner::kArena);
  return ShardSpecRef::unchecked(slab_.get(slot->start), slab_.get(slot->end),
                                 slab_.get(slot->metadata), SpecGuards(guard, guard, guard));
}

ShardSpecRef ShardArena::view(ShardSpecHandle handle) const noexcept {
  const auto spec = try_view(handle);
  CAD_CHECK(spec.has_value(), "the handle names a live spec of this arena");
  return *spec;
}

void ShardArena::release_bytes(Slot& slot) noexcept {
  slab_.deallocate(slot.metadata);
  slab_.deallocate(slot.end);
  slab_.deallocate(slot.start);
  slot.start = slot.end = slot.metadata = base::ByteSlot::empty();
}

bool ShardArena::free(ShardSpecHandle handle) noexcept {
  if (handle.arena_id == id_) {
    CAD_CHECK(handle.slot < slots_.size(), "a handle of this arena names one of its slots");
  }
  if (find(handle) == nullptr) return false;
  Slot& slot = slots_[handle.slot];
  release_bytes(slot);
  slot.live = false;
  --live_specs_;
  ++slot.generation;
  if (slot.generation != kRetiredGeneration) free_stack_.push_back(handle.slot);
  return true;
}

void ShardArena::clear() noexcept {
  slab_.clear();
  for (Slot& slot : slots_) {
    slot.start = slot.end = slot.metadata = base::ByteSlot::empty();
    slot.live = false;
    if (slot.generation != kRetiredGeneration) ++slot.generation;
  }
  live_specs_ = 0;
  rebuild_free_stack();
}

void ShardArena::rebuild_free_stack() noexcept {
  free_stack_.clear();
  for (auto index = static_cast<std::uint32_t>(slots_.size()); index > 0; --index) {
    if (slots_[index - 1].generation != kRetiredGeneration) free_stack_.push_back(index - 1);
  }
}

void ShardArena::begin_exclusive_use() noexcept {
  CAD_CHECK(!in_exclusive_use_, "one builder at a time uses an arena");
  in_exclusive_use_ = true;
}

void ShardArena::end_exclusive_use() noexcept {
  in_exclusive_use_ = false;
}

std::uint64_t arena_bytes_for(std::uint64_t entries,
                              std::uint32_t max_key,
                              std::uint32_t max_metadata) noexcept {
  const auto key = base::Round16::round_up(max_key);
  const auto metadata = base::Round16::round_up(max_metadata);
  CAD_CHECK(key.has_value() && metadata.has_value(), "keys and metadata are within their limits");
  return entries * (2 * std::uint64_t{*key} + *metadata);
}

}  // namespace cadastre::shard::inline CAD_SHARD_FLAVOUR
