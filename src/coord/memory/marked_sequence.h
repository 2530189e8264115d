// MarkedSequence: an ordered list of numbers, each with a mark, that finds the k-th marked one fast.
//
// The numbers name records that the owner keeps; their order is the owner's, given as a comparison
// where it is needed. The list is cut into blocks of at most kBlockItems. Each record remembers its
// block (`Links`), so that marking, the frequent operation, touches one block: a scan of a kilobyte.
// Finding the k-th marked one adds up the blocks' counts: n/256 additions.
//
// Nothing is allocated by mark, erase and select; blocks that become empty are kept for later.
//
// `Links` is callable with a number and returns a reference to the 32 bits where that record's
// block is kept.

#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/check.h"

namespace cadastre::coord::memory {

enum class Mark : std::uint8_t {
  kClear,
  kSet,
};

template <class Links>
class MarkedSequence {
 public:
  using Number = std::uint32_t;

  explicit MarkedSequence(Links links) noexcept : links_(links) {}

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t marked() const noexcept { return marked_; }

  // `before` orders the numbers strictly; no two are equal.
  template <class Before>
  void insert(Number number, Mark mark, const Before& before) {
    const std::size_t place = block_place_for(number, before);
    std::uint32_t id = order_[place];
    if (blocks_[id].size == kBlockItems) {
      const std::uint32_t upper = split(place);
      if (!before(number, blocks_[upper].items[0])) id = upper;
    }
    Block& block = blocks_[id];
    const auto* const at =
        std::lower_bound(block.items.data(), block.items.data() + block.size, number, before);
    const auto index = static_cast<std::size_t>(at - block.items.data());
    open_gap(block, index);
    block.items[index] = number;
    links_(number) = id;
    ++size_;
    if (mark == Mark::kSet) set_mark(id, index);
  }

  void erase(Number number) noexcept {
    const std::uint32_t id = links_(number);
    const std::size_t index = index_in(blocks_[id], number);
    clear_mark(id, index);
    Block& block = blocks_[id];
    close_gap(block, index);
    --size_;
    if (block.size == 0) retire(id);
  }

  void mark(Number number, Mark mark) noexcept {
    const std::uint32_t id = links_(number);
    const std::size_t index = index_in(blocks_[id], number);
    if (mark == Mark::kSet) {
      set_mark(id, index);
    } else {
      clear_mark(id, index);
    }
  }

  [[nodiscard]] bool is_marked(Number number) const noexcept {
    const Block& block = blocks_[links_(number)];
    return is_set(block, index_in(block, number));
  }

  // The marked number before which there are `rank` marked ones; rank < marked().
  [[nodiscard]] Number select(std::size_t rank) const noexcept {
    CAD_CHECK(rank < marked_, "there are more marked ones than the rank");
    std::size_t place = 0;
    while (rank >= marks_by_place_[place])
      rank -= marks_by_place_[place++];
    const Block& block = blocks_[order_[place]];
    for (std::size_t word = 0;; ++word) {
      const auto set = static_cast<std::size_t>(std::popcount(block.marks[word]));
      if (rank < set) return block.items[word * kWordBits + nth_bit(block.marks[word], rank)];
      rank -= set;
    }
  }

  // In order; `visit` returns false to stop.
  template <class Visit>
  void visit(const Visit& visit) const {
    for (const std::uint32_t id : order_) {
      if (!visit_block(blocks_[id], 0, visit)) return;
    }
  }

  // The same, from behind `number` on.
  template <class Visit>
  void visit_after(Number number, const Visit& visit) const {
    const std::uint32_t first = links_(number);
    if (!visit_block(blocks_[first], index_in(blocks_[first], number) + 1, visit)) return;
    for (std::size_t place = blocks_[first].place + 1; place < order_.size(); ++place) {
      if (!visit_block(blocks_[order_[place]], 0, visit)) return;
    }
  }

  // Aborts unless links, counts and order agree with the items.
  template <class Before>
  void verify(const Before& before) const {
    std::size_t items = 0;
    std::size_t marks = 0;
    const Number* last = nullptr;
    for (std::size_t place = 0; place < order_.size(); ++place) {
      const Block& block = blocks_[order_[place]];
      CAD_CHECK(block.place == place, "a block knows its place");
      CAD_CHECK(block.size > 0, "a block in the order has items");
      CAD_CHECK(last == nullptr || before(*last, block.items[0]), "blocks are in order");
      verify_block(order_[place], before);
      last = &block.items[block.size - 1];
      items += block.size;
      marks += marks_by_place_[place];
    }
    CAD_CHECK(items == size_, "items are counted");
    CAD_CHECK(marks == marked_, "marks are counted");
  }

 private:
  static constexpr std::size_t kBlockItems = 256;
  static constexpr std::size_t kWordBits = 64;
  static constexpr std::size_t kScanItems = 16;  // compared at once
  static_assert(kBlockItems % kWordBits == 0 && kBlockItems % kScanItems == 0);

  struct Block {
    std::uint32_t size = 0;
    std::uint32_t place = 0;  // in order_
    std::array<std::uint64_t, kBlockItems / kWordBits> marks{};
    std::array<Number, kBlockItems> items{};
  };

  [[nodiscard]] static bool is_set(const Block& block, std::size_t index) noexcept {
    return ((block.marks[index / kWordBits] >> (index % kWordBits)) & 1U) != 0;
  }

  [[nodiscard]] static std::size_t nth_bit(std::uint64_t word, std::size_t rank) noexcept {
    for (; rank > 0; --rank)
      word &= word - 1;
    return static_cast<std::size_t>(std::countr_zero(word));
  }

  [[nodiscard]] static std::size_t index_in(const Block& block, Number number) noexcept {
    for (std::size_t first = 0; first < block.size; first += kScanItems) {
      bool found = false;
      for (std::size_t i = 0; i < kScanItems; ++i)
        found |= block.items[first + i] == number;
      if (!found) continue;
      for (std::size_t i = first; i < block.size; ++i) {
        if (block.items[i] == number) return i;
      }
    }
    CAD_CHECK(false, "a number is in the block that its link names");
    return 0;
  }

  void set_mark(std::uint32_t id, std::size_t index) noexcept {
    Block& block = blocks_[id];
    if (is_set(block, index)) return;
    block.marks[index / kWordBits] |= std::uint64_t{1} << (index % kWordBits);
    ++marks_by_place_[block.place];
    ++marked_;
  }

  void clear_mark(std::uint32_t id, std::size_t index) noexcept {
    Block& block = blocks_[id];
    if (!is_set(block, index)) return;
    block.marks[index / kWordBits] &= ~(std::uint64_t{1} << (index % kWordBits));
    --marks_by_place_[block.place];
    --marked_;
  }

  // The last block whose first item is not behind `number`, or the first block.
  template <class Before>
  [[nodiscard]] std::size_t block_place_for(Number number, const Before& before) {
    if (order_.empty()) add_block(0);
    const auto behind = std::partition_point(order_.begin(), order_.end(), [&](std::uint32_t id) {
      return !before(number, blocks_[id].items[0]);
    });
    const auto place = static_cast<std::size_t>(behind - order_.begin());
    return place == 0 ? 0 : place - 1;
  }

  // Makes an empty block at `place`.
  std::uint32_t add_block(std::size_t place) {
    std::uint32_t id = 0;
    if (spare_.empty()) {
      id = static_cast<std::uint32_t>(blocks_.size());
      blocks_.emplace_back();
      spare_.reserve(blocks_.capacity());
    } else {
      id = spare_.back();
      spare_.pop_back();
      blocks_[id] = Block{};
    }
    const auto offset = static_cast<std::ptrdiff_t>(place);
    order_.insert(order_.begin() + offset, id);
    marks_by_place_.insert(marks_by_place_.begin() + offset, 0);
    renumber(place);
    return id;
  }

  void retire(std::uint32_t id) noexcept {
    const std::size_t place = blocks_[id].place;
    const auto offset = static_cast<std::ptrdiff_t>(place);
    order_.erase(order_.begin() + offset);
    marks_by_place_.erase(marks_by_place_.begin() + offset);
    spare_.push_back(id);  // Has room for every block.
    renumber(place);
  }

  void renumber(std::size_t from) noexcept {
    for (std::size_t place = from; place < order_.size(); ++place)
      blocks_[order_[place]].place = static_cast<std::uint32_t>(place);
  }

  // Moves the upper half of a full block into a new one behind it.
  std::uint32_t split(std::size_t place) {
    const std::uint32_t upper_id = add_block(place + 1);
    Block& lower = blocks_[order_[place]];
    Block& upper = blocks_[upper_id];
    constexpr std::size_t kHalf = kBlockItems / 2;
    constexpr std::size_t kHalfWords = kHalf / kWordBits;
    static_assert(kHalf % kWordBits == 0, "marks move by whole words");
    std::copy(lower.items.begin() + kHalf, lower.items.end(), upper.items.begin());
    std::copy(lower.marks.begin() + kHalfWords, lower.marks.end(), upper.marks.begin());
    std::fill(lower.marks.begin() + kHalfWords, lower.marks.end(), 0);
    lower.size = kHalf;
    upper.size = kHalf;
    std::uint32_t moved = 0;
    for (const std::uint64_t word : upper.marks)
      moved += static_cast<std::uint32_t>(std::popcount(word));
    marks_by_place_[place] -= moved;
    marks_by_place_[place + 1] = moved;
    for (std::size_t i = 0; i < kHalf; ++i)
      links_(upper.items[i]) = upper_id;
    return upper_id;
  }

  // Shifts items and marks from `index` on by one place.
  static void open_gap(Block& block, std::size_t index) noexcept {
    std::copy_backward(block.items.begin() + index, block.items.begin() + block.size,
                       block.items.begin() + block.size + 1);
    for (std::size_t i = block.size; i > index; --i)
      copy_bit(block, i - 1, i);
    block.marks[index / kWordBits] &= ~(std::uint64_t{1} << (index % kWordBits));
    ++block.size;
  }

  static void close_gap(Block& block, std::size_t index) noexcept {
    std::copy(block.items.begin() + index + 1, block.items.begin() + block.size,
              block.items.begin() + index);
    // Word by word: each takes the lowest bit of the next one at its top.
    std::size_t word = index / kWordBits;
    const std::uint64_t below = (std::uint64_t{1} << (index % kWordBits)) - 1;
    block.marks[word] = (block.marks[word] & below) | ((block.marks[word] >> 1) & ~below);
    for (; word + 1 < block.marks.size(); ++word) {
      block.marks[word] |= block.marks[word + 1] << (kWordBits - 1);
      block.marks[word + 1] >>= 1;
    }
    --block.size;
  }

  static void copy_bit(Block& block, std::size_t from, std::size_t to) noexcept {
    const std::uint64_t bit = std::uint64_t{1} << (to % kWordBits);
    if (is_set(block, from)) {
      block.marks[to / kWordBits] |= bit;
    } else {
      block.marks[to / kWordBits] &= ~bit;
    }
  }

  // Links, marks and order inside one block.
  template <class Before>
  void verify_block(std::uint32_t id, const Before& before) const {
    const Block& block = blocks_[id];
    std::size_t marks = 0;
    for (std::size_t i = 0; i < block.size; ++i) {
      CAD_CHECK(links_(block.items[i]) == id, "an item knows its block");
      CAD_CHECK(i == 0 || before(block.items[i - 1], block.items[i]), "items are in order");
      marks += is_set(block, i) ? 1 : 0;
    }
    CAD_CHECK(marks == marks_by_place_[block.place], "a block's marks are counted");
  }

  template <class Visit>
  static bool visit_block(const Block& block, std::size_t from, const Visit& visit) {
    for (std::size_t i = from; i < block.size; ++i) {
      if (!visit(block.items[i])) return false;
    }
    return true;
  }

  Links links_;
  std::vector<Block> blocks_;
  std::vector<std::uint32_t> order_;           // blocks in order
  std::vector<std::uint32_t> marks_by_place_;  // beside order_
  std::vector<std::uint32_t> spare_;           // blocks without items; has room for all
  std::size_t size_ = 0;
  std::size_t marked_ = 0;
};

}  // namespace cadastre::coord::memory
