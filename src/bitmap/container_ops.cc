#include "bitmap/container_ops.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "base/bytes.h"
#include "bitmap/container.h"
#include "bitmap/container_bytes.h"
#include "bitmap/container_convert.h"
#include "bitmap/limits.h"
#include "bitmap/slot_kernels.h"

namespace cadastre::bitmap {
namespace {

// An array that is this many times longer than the other is searched instead of walked.
constexpr std::size_t kSearchRatio = 32;

bool is_full(const ContainerView& container) noexcept {
  if (container.kind != ContainerKind::kRun || run_count(container.bytes) != 1) return false;
  const Run run = run_at(container.bytes, 0);
  return run.first == 0 && run.last == kSlotsPerChunk - 1;
}

bool is_array(const ContainerView& container) noexcept {
  return container.kind == ContainerKind::kArray;
}

// An operand without runs: itself, or what they expand to.
class PlainOperand {
 public:
  explicit PlainOperand(const ContainerView& container) noexcept
      : view_(container.kind == ContainerKind::kRun ? to_plain(container, buffer_) : container) {}
  PlainOperand(const PlainOperand&) = delete;
  PlainOperand& operator=(const PlainOperand&) = delete;

  [[nodiscard]] const ContainerView& view() const noexcept { return view_; }

 private:
  ContainerBuffer buffer_;
  ContainerView view_;
};

// A container as it is; only runs that nobody should have stored as such do not fit.
ContainerView copy_of(const ContainerView& container, ContainerBuffer& out) noexcept {
  if (container.bytes.size() > out.bytes.size()) return to_plain(container, out);
  std::memcpy(out.bytes.data(), container.bytes.data(), container.bytes.size());
  ContainerView copy = container;
  copy.bytes = ByteView(out.bytes).first(container.bytes.size());
  return copy;
}

// ---- Two arrays ------------------------------------------------------------------------------

// What a walk over both arrays keeps.
struct Keep {
  bool left_only;
  bool right_only;
  bool both;
};

// Results of at most 4096 slots: an operand's length bounds them, or their sum does.
template <Keep kKeep>
ContainerView walk_arrays(const ContainerView& a,
                          const ContainerView& b,
                          ContainerBuffer& out) noexcept {
  std::size_t i = 0;
  std::size_t j = 0;
  std::size_t count = 0;
  while (i < a.cardinality && j < b.cardinality) {
    const std::uint16_t left = slot_at(a.bytes, i);
    const std::uint16_t right = slot_at(b.bytes, j);
    put_slot(out, count, std::min(left, right));
    count += (kKeep.left_only && left < right) || (kKeep.right_only && right < left) ||
                     (kKeep.both && left == right)
                 ? 1
                 : 0;
    i += left <= right ? 1 : 0;
    j += right <= left ? 1 : 0;
  }
  const auto copy_rest = [&out, &count](const ContainerView& from, std::size_t next) {
    const std::size_t left = from.cardinality - next;
    std::memcpy(out.bytes.data() + count * kSlotBytes, from.bytes.data() + next * kSlotBytes,
                left * kSlotBytes);
    count += left;
  };
  if (kKeep.left_only && i < a.cardinality) copy_rest(a, i);
  if (kKeep.right_only && j < b.cardinality) copy_rest(b, j);
  return array_in(out, a.chunk, count);
}

// Calls `found` for the slots of a short array that lie in a long one.
template <class Found>
void search_array(const ContainerView& few,
                  const ContainerView& many,
                  const Found& found) noexcept {
  for (std::size_t i = 0; i < few.cardinality; ++i) {
    const std::uint16_t slot = slot_at(few.bytes, i);
    if (contains(many, slot)) found(slot);
  }
}

bool is_much_longer(const ContainerView& many, const ContainerView& few) noexcept {
  return many.cardinality / kSearchRatio > few.cardinality;
}

// ---- Array and bitset ------------------------------------------------------------------------

bool has_bit(const ContainerView& bitset, std::uint16_t slot) noexcept {
  return (word_at(bitset.bytes, slot / kWordBits) >> (slot % kWordBits) & 1) != 0;
}

// The slots of an array that a bitset has, or has not.
ContainerView filter_array(const ContainerView& array,
                           const ContainerView& bitset,
                           bool wanted,
                           ContainerBuffer& out) noexcept {
  std::size_t count = 0;
  for (std::size_t i = 0; i < array.cardinality; ++i) {
    const std::uint16_t slot = slot_at(array.bytes, i);
    put_slot(out, count, slot);
    count += has_bit(bitset, slot) == wanted ? 1 : 0;
  }
  return array_in(out, array.chunk, count);
}

// ---- Two bitsets -----------------------------------------------------------------------------

template <class Combine>
ContainerView combine_words(const ContainerView& a,
                            const ContainerView& b,
                            ContainerBuffer& out,
                            const Combine& combine) noexcept {
  for (std::size_t i = 0; i < kBitsetWords; ++i)
    put_word(out, i, combine(word_at(a.bytes, i), word_at(b.bytes, i)));
  return plain_from_bitset(a.chunk, out, count_bits(out.bytes));
}

// A bitset changed at every slot of an array.
template <class Change>
ContainerView change_bits(const ContainerView& a,
                          const ContainerView& array,
                          ContainerBuffer& out,
                          const Change& change) noexcept {
  (void)to_bitset(a, out);
  for (std::size_t i = 0; i < array.cardinality; ++i)
    change(out, slot_at(array.bytes, i));
  return plain_from_bitset(a.chunk, out, count_bits(out.bytes));
}

void flip_bit(ContainerBuffer& bitset, std::uint16_t slot) noexcept {
  const std::uint64_t word = word_at(bitset.bytes, slot / kWordBits);
  put_word(bitset, slot / kWordBits, word ^ std::uint64_t{1} << (slot % kWordBits));
}

bool fit_one_array(const ContainerView& a, const ContainerView& b) noexcept {
  return is_array(a) && is_array(b) && a.cardinality + b.cardinality <= kArrayCardinalityMax;
}

}  // namespace

ContainerView unite(const ContainerView& a, const ContainerView& b, ContainerBuffer& out) noexcept {
  if (is_full(a)) return copy_of(a, out);
  if (is_full(b)) return copy_of(b, out);
  const PlainOperand left(a);
  const PlainOperand right(b);
  if (fit_one_array(left.view(), right.view())) {
    return walk_arrays<Keep{true, true, true}>(left.view(), right.view(), out);
  }
  if (is_array(right.view())) return change_bits(left.view(), right.view(), out, put_bit);
  if (is_array(left.view())) return change_bits(right.view(), left.view(), out, put_bit);
  return combine_words(left.view(), right.view(), out,
                       [](std::uint64_t x, std::uint64_t y) { return x | y; });
}

ContainerView intersect(const ContainerView& a,
                        const ContainerView& b,
                        ContainerBuffer& out) noexcept {
  if (is_full(a)) return copy_of(b, out);
  if (is_full(b)) return copy_of(a, out);
  const PlainOperand first(a);
  const PlainOperand second(b);
  const ContainerView* few = &first.view();
  const ContainerView* many = &second.view();
  if (many->cardinality < few->cardinality) std::swap(few, many);
  if (is_array(*few) && is_array(*many)) {
    if (!is_much_longer(*many, *few)) {
      return array_in(out, a.chunk, slot_kernels().keep_common(few->bytes, many->bytes, out));
    }
    std::size_t count = 0;
    search_array(*few, *many, [&](std::uint16_t slot) { put_slot(out, count++, slot); });
    return array_in(out, a.chunk, count);
  }
  if (is_array(*few)) return filter_array(*few, *many, true, out);
  if (is_array(*many)) return filter_array(*many, *few, true, out);
  return combine_words(*few, *many, out, [](std::uint64_t x, std::uint64_t y) { return x & y; });
}

ContainerView subtract(const ContainerView& a,
                       const ContainerView& b,
                       ContainerBuffer& out) noexcept {
  if (is_full(b)) return {.chunk = a.chunk};
  const PlainOperand left(a);
  const PlainOperand right(b);
  if (is_array(left.view())) {
    if (!is_array(right.view())) return filter_array(left.view(), right.view(), false, out);
    return walk_arrays<Keep{true, false, false}>(left.view(), right.view(), out);
  }
  if (is_array(right.view())) return change_bits(left.view(), right.view(), out, take_bit);
  return combine_words(left.view(), right.view(), out,
                       [](std::uint64_t x, std::uint64_t y) { return x & ~y; });
}

ContainerView symmetric_difference(const ContainerView& a,
                                   const ContainerView& b,
                                   ContainerBuffer& out) noexcept {
  const PlainOperand left(a);
  const PlainOperand right(b);
  if (fit_one_array(left.view(), right.view())) {
    return walk_arrays<Keep{true, true, false}>(left.view(), right.view(), out);
  }
  if (is_array(right.view())) return change_bits(left.view(), right.view(), out, flip_bit);
  if (is_array(left.view())) return change_bits(right.view(), left.view(), out, flip_bit);
  return combine_words(left.view(), right.view(), out,
                       [](std::uint64_t x, std::uint64_t y) { return x ^ y; });
}

std::uint32_t intersection_cardinality(const ContainerView& a, const ContainerView& b) noexcept {
  if (is_full(a)) return b.cardinality;
  if (is_full(b)) return a.cardinality;
  const PlainOperand first(a);
  const PlainOperand second(b);
  const ContainerView* few = &first.view();
  const ContainerView* many = &second.view();
  if (many->cardinality < few->cardinality) std::swap(few, many);
  if (!is_array(*few) && is_array(*many)) std::swap(few, many);  // Of damaged values only.
  if (!is_array(*few)) return slot_kernels().count_common_bits(few->bytes, many->bytes);
  std::uint32_t count = 0;
  if (!is_array(*many)) {
    for (std::size_t i = 0; i < few->cardinality; ++i)
      count += has_bit(*many, slot_at(few->bytes, i)) ? 1 : 0;
    return count;
  }
  if (is_much_longer(*many, *few)) {
    search_array(*few, *many, [&count](std::uint16_t) { ++count; });
    return count;
  }
  return slot_kernels().count_common(few->bytes, many->bytes);
}

bool intersects(const ContainerView& a, const ContainerView& b) noexcept {
  return intersection_cardinality(a, b) != 0;
}

}  // namespace cadastre::bitmap
