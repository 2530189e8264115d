// ShardTable: tenant, run and shard to record number. Open addressing; the hash is seeded, so that
// nobody who chooses ids can choose collisions. Looking up allocates nothing.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "coord/identity.h"
#include "coord/memory/record_pool.h"

namespace cadastre::coord::memory {

class ShardTable {
 public:
  ShardTable(const RecordPool& pool, std::uint64_t seed) noexcept : pool_(&pool), seed_(seed) {}

  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  // Makes room, so that `additional` insertions allocate nothing.
  void reserve(std::size_t additional);

  [[nodiscard]] std::optional<Number> find(const TenantId& tenant,
                                           const ShardKey& key) const noexcept;
  void insert(Number number);          // a record that is not there yet
  void erase(Number number) noexcept;  // a record that is there

 private:
  struct Slot {
    std::uint32_t tag = 0;
    std::uint32_t number_plus_one = 0;  // 0: empty
  };

  [[nodiscard]] std::uint64_t hash(const TenantId& tenant, const ShardKey& key) const noexcept;
  [[nodiscard]] std::uint64_t hash(Number number) const noexcept;
  void put(std::uint64_t hash, Number number) noexcept;
  void rebuild(std::size_t slots);

  const RecordPool* pool_;
  std::uint64_t seed_;
  std::vector<Slot> slots_;  // a power of two, or none
  std::size_t size_ = 0;
};

}  // namespace cadastre::coord::memory
