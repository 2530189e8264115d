// Both byte slabs under any sequence of operations, against fuzz/slab_model.h and copies of the data.
//
// Input: the rounding, the capacity, the number of live strings, then operations until the end.

#include "base/byte_slab.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "base/bytes.h"
#include "base/check.h"
#include "fuzz/input.h"
#include "fuzz/slab_model.h"
#include "fuzz/target.h"

namespace cadastre::fuzz {
namespace {

using base::Bytes;
using base::ByteSlot;
using base::ByteView;

constexpr std::size_t kCapacityMax = 4096;
constexpr std::size_t kLiveMax = 40;
constexpr std::size_t kDataMax = 600;

template <class Rounding>
class Run {
 public:
  Run(std::uint32_t capacity, std::uint32_t max_live)
      : slab_(capacity, max_live), model_(capacity, max_live) {}
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  ~Run() { slab_.clear(); }

  void step(Input& in) {
    switch (in.below(8)) {
      case 0:
        if (in.one_in(8)) clear();
        break;
      case 1:
      case 2: free_one(in); break;
      case 3: copy_own(in); break;
      default: {
        const std::size_t size = in.below(in.one_in(4) ? kDataMax : 48);
        allocate(Bytes(size, static_cast<std::byte>(in.byte())));
        break;
      }
    }
    check();
  }

 private:
  struct Entry {
    ByteSlot slot;
    Bytes data;
  };

  void allocate(ByteView data) {
    const Bytes copy = base::to_owned(data);
    const auto slot = slab_.allocate(data);
    if (copy.empty()) {
      CAD_CHECK(slot && slot->is_empty(), "empty data takes no block");
      return;
    }
    const auto size = Rounding::round_up(static_cast<std::uint32_t>(copy.size()));
    CAD_CHECK(size && *size >= copy.size() && *size >= 16 && *size % 16 == 0,
              "a block holds its data");
    const auto place = model_.allocate(*size);
    CAD_CHECK(slot.has_value() == place.has_value(), "data is taken exactly when there is room");
    if (!place) {
      CAD_CHECK(slot.error() == place.error(), "a full slab says what it lacks");
      return;
    }
    CAD_CHECK(slot->offset == *place && slot->block == *size && slot->len == copy.size(),
              "a block is the best fit");
    live_[*place] = {*slot, copy};
  }

  // Any live entry, or nothing.
  [[nodiscard]] std::optional<std::uint32_t> pick(Input& in) const {
    if (live_.empty()) return std::nullopt;
    auto chosen = live_.begin();
    for (std::size_t left = in.below(live_.size()); left > 0; --left)
      ++chosen;
    return chosen->first;
  }

  void free_one(Input& in) {
    const auto offset = pick(in);
    if (!offset) return slab_.deallocate(ByteSlot::empty());
    slab_.deallocate(live_.at(*offset).slot);
    model_.free(*offset);
    live_.erase(*offset);
  }

  // The data may lie in the slab itself.
  void copy_own(Input& in) {
    const auto offset = pick(in);
    if (offset) allocate(slab_.get(live_.at(*offset).slot));
  }

  void clear() {
    slab_.clear();
    model_.clear();
    live_.clear();
  }

  void check() const {
    slab_.check_invariants();
    CAD_CHECK(slab_.stats() == model_.stats(), "what is live determines the layout");
    CAD_CHECK(slab_.get(ByteSlot::empty()).empty(), "the empty slot has no bytes");
    for (const auto& [offset, entry] : live_)
      CAD_CHECK(base::equal(slab_.get(entry.slot), entry.data), "live data stays as it is");
  }

  base::BasicByteSlab<Rounding> slab_;
  SlabModel model_;
  std::map<std::uint32_t, Entry> live_;  // by offset
};

template <class Rounding>
void run(Input& in) {
  const auto capacity = static_cast<std::uint32_t>(in.below(kCapacityMax));
  Run<Rounding> run(capacity, static_cast<std::uint32_t>(in.below(kLiveMax)));
  for (int steps = 0; steps < 400 && !in.done(); ++steps)
    run.step(in);
}

}  // namespace

void run_one(ByteView input) {
  Input in(input);
  if (in.below(2) == 0) {
    run<base::RoundPow2>(in);
  } else {
    run<base::Round16>(in);
  }
}

}  // namespace cadastre::fuzz
