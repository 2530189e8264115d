#include "coord/memory/shard_table.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "coord/identity.h"
#include "coord/memory/record_pool.h"
#include "coord/shard_record.h"

namespace cadastre::coord::memory {
namespace {

constexpr std::size_t kSlotsMin = 16;

__extension__ using Wide = unsigned __int128;

// Both halves of a product, folded: every bit of either factor reaches every bit of the result.
constexpr std::uint64_t fold(std::uint64_t a, std::uint64_t b) noexcept {
  const Wide product = Wide{a} * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// At most three quarters full.
constexpr std::size_t slots_for(std::size_t entries) noexcept {
  return std::max(kSlotsMin, std::bit_ceil(entries + entries / 3 + 1));
}

}  // namespace

std::uint64_t ShardTable::hash(const TenantId& tenant, const ShardKey& key) const noexcept {
  // Odd numbers without a pattern (digits of pi), so that no input of zeros folds to zero.
  constexpr std::array<std::uint64_t, 4> kDigits{0x243f6a8885a308d3, 0x13198a2e03707345,
                                                 0xa4093822299f31d1, 0x082efa98ec4e6c89};
  const TenantId::Words words = tenant.words();
  const std::uint64_t first = fold(words[0] ^ kDigits[0] ^ seed_, words[1] ^ kDigits[1]);
  const std::uint64_t second = fold(words[2] ^ kDigits[2] ^ seed_, words[3] ^ kDigits[3]);
  const std::uint64_t third =
      fold(key.run.raw() ^ kDigits[1] ^ seed_, key.shard.raw() ^ kDigits[2]);
  return fold(first ^ third ^ kDigits[3], second ^ kDigits[0] ^ std::rotl(seed_, 32));
}

std::uint64_t ShardTable::hash(Number number) const noexcept {
  const ShardState& state = (*pool_)[number].state;
  return hash(state.tenant, state.key());
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
    put(hash(number), number);
  }
}

void ShardTable::put(std::uint64_t hash, Number number) noexcept {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  while (slots_[at].number_plus_one != 0)
    at = (at + 1) & mask;
  slots_[at] = {static_cast<std::uint32_t>(hash >> 32), number + 1};
}

std::optional<Number> ShardTable::find(const TenantId& tenant, const ShardKey& key) const noexcept {
  if (slots_.empty()) return std::nullopt;
  const std::uint64_t wanted = hash(tenant, key);
  const auto tag = static_cast<std::uint32_t>(wanted >> 32);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = wanted & mask; slots_[at].number_plus_one != 0; at = (at + 1) & mask) {
    if (slots_[at].tag != tag) continue;
    const Number number = slots_[at].number_plus_one - 1;
    const ShardState& state = (*pool_)[number].state;
    if (state.key() == key && state.tenant == tenant) return number;
  }
  return std::nullopt;
}

void ShardTable::insert(Number number) {
  reserve(1);
  put(hash(number), number);
  ++size_;
}

void ShardTable::erase(Number number) noexcept {
  const std::size_t mask = slots_.size() - 1;
  std::size_t hole = hash(number) & mask;
  while (slots_[hole].number_plus_one != number + 1) {
    CAD_CHECK(slots_[hole].number_plus_one != 0, "a shard that is erased is in the table");
    hole = (hole + 1) & mask;
  }
  // Whoever could have stood in the hole moves into it, so that no search ends early.
  for (std::size_t at = (hole + 1) & mask; slots_[at].number_plus_one != 0; at = (at + 1) & mask) {
    const std::size_t home = hash(slots_[at].number_plus_one - 1) & mask;
    if (((at - home) & mask) < ((at - hole) & mask)) continue;
    slots_[hole] = slots_[at];
    hole = at;
  }
  slots_[hole] = {};
  --size_;
}

}  // namespace cadastre::coord::memory
