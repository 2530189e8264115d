// Roaring64: a set of 64-bit ids in memory, one CRoaring bitmap for each upper half, and its portable
// bytes. What a user of CRoaring writes by hand, since its own 64-bit map cannot be trusted with stored
// bytes; the value of the peers that keep blobs, and the bound for reads.
//
//   u64 number of halves, then for each, ascending: u32 upper half, portable 32-bit bitmap

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include <roaring/roaring.h>

#include "base/bytes.h"
#include "base/function_ref.h"
#include "bench/peers/set_store.h"
#include "bitmap/ids.h"

namespace cadastre::bench {

class Roaring64 {
 public:
  void add(bitmap::Id id);
  // Any order; fast if they ascend.
  void add_many(std::span<const bitmap::Id> ids);
  void remove(bitmap::Id id);
  void unite(const Roaring64& other);
  // Containers of runs where those are smaller.
  void optimise();

  [[nodiscard]] bool contains(bitmap::Id id) const;
  [[nodiscard]] std::uint64_t cardinality() const;
  [[nodiscard]] bool is_empty() const { return halves_.empty(); }
  // In order, in blocks; the range is closed.
  void visit(bitmap::IdRange range,
             base::FunctionRef<void(std::span<const bitmap::Id>)> visit) const;

  [[nodiscard]] std::size_t portable_bytes() const;
  // Appends to `out`.
  void write_portable(base::Bytes& out) const;
  // All of `bytes`, which were written by write_portable.
  [[nodiscard]] static Roaring64 read_portable(base::ByteView bytes);

  // One after the other in place: of many sparse sets half as slow as CRoaring's union by a heap.
  [[nodiscard]] static Roaring64 united(std::span<const Roaring64> sets);
  [[nodiscard]] static std::uint64_t intersection_count(const Roaring64& a, const Roaring64& b);
  // The others follow from the intersection, which is what CRoaring does too.
  [[nodiscard]] static std::uint64_t count_of(SetOperation operation,
                                              const Roaring64& a,
                                              const Roaring64& b);

 private:
  struct Free {
    void operator()(roaring_bitmap_t* bitmap) const noexcept { roaring_bitmap_free(bitmap); }
  };
  using Half = std::unique_ptr<roaring_bitmap_t, Free>;

  [[nodiscard]] roaring_bitmap_t* half_for(std::uint32_t upper);

  std::map<std::uint32_t, Half> halves_;  // None is empty.
  std::vector<std::uint32_t> lower_;      // Of one add_many.
};

}  // namespace cadastre::bench
