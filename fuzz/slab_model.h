// A byte slab without a free list. What is live determines the whole layout of a slab that merges all
// its holes: bump is the end of the last live block, and the holes are the gaps below it.

#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "base/byte_slab.h"
#include "base/check.h"
#include "base/result.h"

namespace cadastre::fuzz {

class SlabModel {
 public:
  SlabModel(std::uint32_t capacity, std::uint32_t max_live)
      : capacity_(capacity), max_live_(max_live) {}

  // Where a block of `size` bytes, rounded already, goes: best fit, the lowest of equal holes.
  [[nodiscard]] base::Result<std::uint32_t, base::SlabFull> allocate(std::uint32_t size) {
    if (live_.size() == max_live_)
      return base::fail(base::SlabFull{base::SlabResource::kLiveEntries, 1, 0});
    auto place = best_hole(size);
    if (!place && capacity_ - bump() >= size) place = bump();
    if (!place) {
      return base::fail(base::SlabFull{base::SlabResource::kBytes, size, capacity_ - bump()});
    }
    live_[*place] = size;
    return *place;
  }

  void free(std::uint32_t offset) {
    CAD_CHECK(live_.erase(offset) == 1, "the model frees what it has");
  }
  void clear() { live_.clear(); }

  [[nodiscard]] base::SlabStats stats() const {
    std::uint32_t live_bytes = 0;
    for (const auto& [offset, size] : live_)
      live_bytes += size;
    const std::uint32_t free_bytes = bump() - live_bytes;
    return {.capacity = capacity_,
            .live_bytes = live_bytes,
            .live_count = static_cast<std::uint32_t>(live_.size()),
            .bump_offset = bump(),
            .free_bytes = free_bytes,
            .available_bytes = free_bytes + capacity_ - bump()};
  }

 private:
  [[nodiscard]] std::uint32_t bump() const {
    return live_.empty() ? 0 : live_.rbegin()->first + live_.rbegin()->second;
  }

  [[nodiscard]] std::optional<std::uint32_t> best_hole(std::uint32_t size) const {
    std::optional<std::uint32_t> best;
    std::uint32_t best_room = 0;
    std::uint32_t at = 0;
    for (const auto& [offset, block] : live_) {
      const std::uint32_t room = offset - at;
      if (room >= size && (!best || room < best_room)) {
        best = at;
        best_room = room;
      }
      at = offset + block;
    }
    return best;
  }

  std::uint32_t capacity_;
  std::uint32_t max_live_;
  std::map<std::uint32_t, std::uint32_t> live_;  // sizes by offset
};

}  // namespace cadastre::fuzz
