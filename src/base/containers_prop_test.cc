// The containers against models that are too simple to be wrong: std::vector, std::deque, and a map
// of the slab's live blocks from which the whole layout follows.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "base/byte_slab.h"
#include "base/bytes.h"
#include "base/inline_vec.h"
#include "base/ring_buffer.h"

namespace cadastre::base {
namespace {

constexpr int kSteps = 64;
constexpr std::size_t kVecCapacity = 8;  // Small, so that runs cross it often.

int dice(int sides) {
  return *rc::gen::inRange(0, sides);
}

// Strings of both kinds: inside std::string and on the heap.
std::string any_text() {
  return std::string(*rc::gen::element<std::size_t>(0, 1, 40), static_cast<char>('a' + dice(3)));
}

template <class Vec>
void change(Vec& vec, std::vector<std::string>& model) {
  constexpr bool kSpills =
      std::is_same_v<Vec, InlineVec<std::string, kVecCapacity, overflow::Spill>>;
  switch (dice(8)) {
    case 0:
    case 1:
    case 2: {
      const auto text = any_text();
      const bool fits = kSpills || model.size() < kVecCapacity;
      RC_ASSERT(vec.try_push_back(text) == fits);
      if (fits) model.push_back(text);
      break;
    }
    case 3:
      if (model.empty()) break;
      vec.pop_back();
      model.pop_back();
      break;
    case 4: {
      const auto count = static_cast<std::size_t>(dice(12));
      vec.truncate(count);
      if (count < model.size()) model.resize(count);
      break;
    }
    case 5: {
      const std::vector<std::string> more(static_cast<std::size_t>(dice(4)), any_text());
      if (!kSpills && model.size() + more.size() > kVecCapacity) break;
      vec.append(more);
      model.insert(model.end(), more.begin(), more.end());
      break;
    }
    case 6: {
      Vec copy = vec;
      RC_ASSERT(copy == vec);
      vec = std::move(copy);
      break;
    }
    default: {
      Vec moved = std::move(vec);
      RC_ASSERT(vec.empty());  // NOLINT(bugprone-use-after-move): this is the promise.
      vec = moved;
      break;
    }
  }
}

template <class Vec>
void behaves_like_a_vector() {
  Vec vec;
  std::vector<std::string> model;
  for (int step = 0; step < kSteps; ++step) {
    change(vec, model);
    RC_ASSERT(vec.size() == model.size());
    RC_ASSERT(vec.capacity() >= model.size());
    RC_ASSERT(std::equal(vec.begin(), vec.end(), model.begin(), model.end()));
  }
}

RC_GTEST_PROP(InlineVecProperty, BehavesLikeAVectorUpToItsCapacity, ()) {
  behaves_like_a_vector<InlineVec<std::string, kVecCapacity>>();
}

RC_GTEST_PROP(InlineVecProperty, BehavesLikeAVectorBeyondItsCapacityWhenItSpills, ()) {
  behaves_like_a_vector<InlineVec<std::string, kVecCapacity, overflow::Spill>>();
}

constexpr std::size_t kRingCapacity = 4;
using Ring = RingBuffer<std::string, kRingCapacity>;

void change(Ring& ring, std::deque<std::string>& model, const std::string& text) {
  const bool full = model.size() == kRingCapacity;
  const auto oldest = model.empty() ? std::nullopt : std::optional(model.front());
  switch (dice(5)) {
    case 0:
      RC_ASSERT(ring.push_back(text) == !full);
      if (!full) model.push_back(text);
      break;
    case 1:
    case 2:
      RC_ASSERT(ring.push_back_overwrite(text) == (full ? oldest : std::nullopt));
      if (full) model.pop_front();
      model.push_back(text);
      break;
    case 3:
      RC_ASSERT(ring.pop_front() == oldest);
      if (oldest) model.pop_front();
      break;
    default:
      if (dice(8) != 0) break;
      ring.clear();
      model.clear();
      break;
  }
}

RC_GTEST_PROP(RingBufferProperty, BehavesLikeABoundedDeque, ()) {
  Ring ring;
  std::deque<std::string> model;
  for (int step = 0; step < kSteps; ++step) {
    const auto text = any_text();
    change(ring, model, text);
    RC_ASSERT(std::equal(ring.begin(), ring.end(), model.begin(), model.end()));
    const auto expected = std::ranges::find(model, text);
    const auto* const found = ring.find_if([&](const auto& held) { return held == text; });
    RC_ASSERT(found == ring.get(static_cast<std::size_t>(expected - model.begin())));
  }
}

// What lives in a slab, by offset. A fully merged slab has no other state: bump is the end of the
// last live block, and the holes are the gaps below it.
struct SlabModel {
  struct Live {
    ByteSlot slot;
    Bytes data;
  };
  std::uint32_t capacity;
  std::uint32_t max_live;
  std::map<std::uint32_t, Live> live;

  [[nodiscard]] std::uint32_t bump() const {
    return live.empty() ? 0 : live.rbegin()->first + live.rbegin()->second.slot.block;
  }
  [[nodiscard]] std::uint32_t live_bytes() const {
    std::uint32_t sum = 0;
    for (const auto& [offset, entry] : live)
      sum += entry.slot.block;
    return sum;
  }
  // Sizes by offset.
  [[nodiscard]] std::map<std::uint32_t, std::uint32_t> holes() const {
    std::map<std::uint32_t, std::uint32_t> out;
    std::uint32_t at = 0;
    for (const auto& [offset, entry] : live) {
      if (offset > at) out[at] = offset - at;
      at = offset + entry.slot.block;
    }
    return out;
  }
  // Where best fit puts a block, lowest offset first; nothing if it fits nowhere.
  [[nodiscard]] std::optional<std::uint32_t> place(std::uint32_t size) const {
    std::optional<std::uint32_t> best;
    const auto gaps = holes();
    for (const auto& [offset, room] : gaps) {
      if (room >= size && (!best || room < gaps.at(*best))) best = offset;
    }
    if (best) return best;
    return capacity - bump() >= size ? std::optional(bump()) : std::nullopt;
  }
};

template <class Rounding>
void allocate_some(BasicByteSlab<Rounding>& slab, SlabModel& model) {
  const Bytes data(static_cast<std::size_t>(dice(100)), static_cast<std::byte>(dice(256)));
  const auto slot = slab.allocate(data);
  if (data.empty()) {
    RC_ASSERT(slot.value() == ByteSlot::empty());
    return;
  }
  const auto size = Rounding::round_up(static_cast<std::uint32_t>(data.size())).value();
  if (model.live.size() == model.max_live) {
    RC_ASSERT(slot.error() == (SlabFull{SlabResource::kLiveEntries, 1, 0}));
    return;
  }
  const auto place = model.place(size);
  if (!place) {
    RC_ASSERT(slot.error() ==
              (SlabFull{SlabResource::kBytes, size, model.capacity - model.bump()}));
    return;
  }
  RC_ASSERT(slot.value().offset == *place);
  RC_ASSERT(slot->block == size);
  model.live[*place] = SlabModel::Live{*slot, data};
}

template <class Rounding>
void deallocate_one(BasicByteSlab<Rounding>& slab, SlabModel& model) {
  if (model.live.empty()) return;
  const auto victim = std::next(model.live.begin(), dice(static_cast<int>(model.live.size())));
  slab.deallocate(victim->second.slot);
  model.live.erase(victim);
}

template <class Rounding>
void agree(const BasicByteSlab<Rounding>& slab, const SlabModel& model) {
  slab.check_invariants();
  const std::uint32_t free_bytes = model.bump() - model.live_bytes();
  RC_ASSERT(slab.stats() ==
            (SlabStats{.capacity = model.capacity,
                       .live_bytes = model.live_bytes(),
                       .live_count = static_cast<std::uint32_t>(model.live.size()),
                       .bump_offset = model.bump(),
                       .free_bytes = free_bytes,
                       .available_bytes = free_bytes + model.capacity - model.bump()}));
  RC_ASSERT(model.holes().size() <= model.live.size());
  for (const auto& [offset, entry] : model.live) {
    RC_ASSERT(equal(slab.get(entry.slot), entry.data));
  }
}

template <class Rounding>
void lays_out_as_the_model_says() {
  SlabModel model{.capacity = static_cast<std::uint32_t>(dice(2048)),
                  .max_live = static_cast<std::uint32_t>(dice(32)),
                  .live = {}};
  BasicByteSlab<Rounding> slab(model.capacity, model.max_live);
  for (int step = 0; step < kSteps; ++step) {
    const int choice = dice(32);
    if (choice == 0) {
      slab.clear();
      model.live.clear();
    } else if (choice < 18) {
      allocate_some(slab, model);
    } else {
      deallocate_one(slab, model);
    }
    agree(slab, model);
  }
  slab.clear();
}

// 9.1 #69
RC_GTEST_PROP(ByteSlabProperty, LaysOutAsTheModelSaysWithPowersOfTwo, ()) {
  lays_out_as_the_model_says<RoundPow2>();
}

// 9.1 #69
RC_GTEST_PROP(ByteSlabProperty, LaysOutAsTheModelSaysWithMultiplesOf16, ()) {
  lays_out_as_the_model_says<Round16>();
}

// Whoever undoes a burst of allocations, in any order, finds the slab as it was.
RC_GTEST_PROP(ByteSlabProperty, UndoingABurstRestoresTheLayout, ()) {
  SlabModel model{.capacity = 2048, .max_live = 64, .live = {}};
  BasicByteSlab<Round16> slab(model.capacity, model.max_live);
  for (int step = 0; step < kSteps; ++step) {
    dice(3) == 0 ? deallocate_one(slab, model) : allocate_some(slab, model);
  }
  const auto before = slab.stats();
  SlabModel burst = model;
  for (int i = 0; i < 8; ++i)
    allocate_some(slab, burst);
  for (const auto& [offset, entry] : burst.live) {
    if (!model.live.contains(offset)) slab.deallocate(entry.slot);
  }
  RC_ASSERT(slab.stats() == before);
  agree(slab, model);
  slab.clear();
}

}  // namespace
}  // namespace cadastre::base
