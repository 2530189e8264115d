#include "coord/memory/shard_table.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "coord/identity.h"
#include "coord/memory/record_pool.h"

namespace cadastre::coord::memory {
namespace {

constexpr std::size_t kSlotsMin = 16;

constexpr std::uint64_t mix(std::uint64_t value) noexcept {  // the finalizer of splitmix64
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

// At most three quarters full.
constexpr std::size_t slots_for(std::size_t entries) noexcept {
  return std::max(kSlotsMin, std::bit_ceil(entries + entries / 3 + 1));
}

}  // namespace

std::uint64_t ShardTable::hash(const ShardKey& key) const noexcept {
  return mix(mix(key.run.raw() ^ seed_) + key.shard.raw());
}

void ShardTable::reserve(std::size_t additional) {
  const std::size_t wanted = slots_for(size_ + additional);
  if (wanted > slots_.size()) rebuild(wanted);
}

void ShardTable::rebuild(std::size_t slots) {
  const std::vector<Slot> before = std::exchange(slots_, std::vector<Slot>(slots));
  for (const Slot& slot : before) {
    if (slot.number_plus_one == 0) continue;
    const Number number = slot.number_plus_one - 1;
    put(hash((*pool_)[number].state.key()), number);
  }
}

void ShardTable::put(std::uint64_t hash, Number number) noexcept {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  while (slots_[at].number_plus_one != 0)
    at = (at + 1) & mask;
  slots_[at] = {static_cast<std::uint32_t>(hash >> 32), number + 1};
}

std::optional<Number> ShardTable::find(const ShardKey& key) const noexcept {
  if (slots_.empty()) return std::nullopt;
  const std::uint64_t wanted = hash(key);
  const auto tag = static_cast<std::uint32_t>(wanted >> 32);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = wanted & mask; slots_[at].number_plus_one != 0; at = (at + 1) & mask) {
    if (slots_[at].tag != tag) continue;
    const Number number = slots_[at].number_plus_one - 1;
    if ((*pool_)[number].state.key() == key) return number;
  }
  return std::nullopt;
}

void ShardTable::insert(const ShardKey& key, Number number) {
  reserve(1);
  put(hash(key), number);
  ++size_;
}

void ShardTable::erase(const ShardKey& key) noexcept {
  const std::size_t mask = slots_.size() - 1;
  std::size_t hole = hash(key) & mask;
  while (slots_[hole].number_plus_one == 0 ||
         (*pool_)[slots_[hole].number_plus_one - 1].state.key() != key) {
    CAD_CHECK(slots_[hole].number_plus_one != 0, "a shard that is erased is in the table");
    hole = (hole + 1) & mask;
  }
  // Whoever could have stood in the hole moves into it, so that no search ends early.
  for (std::size_t at = (hole + 1) & mask; slots_[at].number_plus_one != 0; at = (at + 1) & mask) {
    const std::size_t home = hash((*pool_)[slots_[at].number_plus_one - 1].state.key()) & mask;
    if (((at - home) & mask) < ((at - hole) & mask)) continue;
    slots_[hole] = slots_[at];
    hole = at;
  }
  slots_[hole] = {};
  --size_;
}

}  // namespace cadastre::coord::memory
