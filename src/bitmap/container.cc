#include "bitmap/container.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/bytes.h"
#include "base/result.h"
#include "bitmap/faults.h"
#include "bitmap/limits.h"
#include "bitmap/slot_kernels.h"

namespace cadastre::bitmap {
namespace {

constexpr std::uint64_t kAllBits = ~std::uint64_t{0};

// Index of the first slot that is not less. Halves without branching on what it finds.
std::size_t array_lower_bound(ByteView array, std::size_t count, std::uint16_t slot) noexcept {
  std::size_t first = 0;
  std::size_t left = count;
  while (left > 1) {
    const std::size_t half = left / 2;
    first += slot_at(array, first + half - 1) < slot ? half : 0;
    left -= half;
  }
  return first + (left == 1 && slot_at(array, first) < slot ? 1 : 0);
}

// Runs that begin at or before the slot.
std::size_t runs_from_below(ByteView runs, std::uint16_t slot) noexcept {
  std::size_t first = 0;
  std::size_t left = run_count(runs);
  while (left > 0) {
    const std::size_t half = left / 2;
    if (run_at(runs, first + half).first <= slot) {
      first += half + 1;
      left -= half + 1;
    } else {
      left = half;
    }
  }
  return first;
}

// Bits of eight words as eight sums of at most 8 in the bytes of one; no instruction beyond the
// oldest machine's is needed, and the compiler does several words at once.
std::uint64_t byte_sums(std::uint64_t word) noexcept {
  word -= (word >> 1) & 0x5555555555555555U;
  word = (word & 0x3333333333333333U) + ((word >> 2) & 0x3333333333333333U);
  return (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fU;
}

std::uint32_t sum_of_bytes(std::uint64_t sums) noexcept {
  constexpr std::uint64_t kEvenBytes = 0x00ff00ff00ff00ffU;
  const std::uint64_t pairs = (sums & kEvenBytes) + ((sums >> 8) & kEvenBytes);
  return static_cast<std::uint32_t>((pairs * 0x0001000100010001U) >> 48);
}

// A byte of a sum holds what 31 words add to it; 16 divide the bitset.
constexpr std::size_t kWordsPerSum = 16;
static_assert(kWordsPerSum * 8 < 256 && kBitsetWords % kWordsPerSum == 0);

std::uint32_t bits_below(ByteView bitset, std::size_t words) noexcept {
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < words; ++i)
    count += sum_of_bytes(byte_sums(word_at(bitset, i)));
  return count;
}

std::uint32_t rank_of_runs(ByteView runs, std::uint16_t slot) noexcept {
  std::uint32_t count = 0;
  const std::size_t total = run_count(runs);
  for (std::size_t i = 0; i < total; ++i) {
    const Run run = run_at(runs, i);
    if (run.first > slot) break;
    count += std::uint32_t{std::min(run.last, slot)} - run.first + 1;
  }
  return count;
}

std::optional<std::uint16_t> select_bit(ByteView bitset, std::uint32_t index) noexcept {
  for (std::size_t i = 0; i < kBitsetWords; ++i) {
    std::uint64_t word = word_at(bitset, i);
    const std::uint32_t here = sum_of_bytes(byte_sums(word));
    if (index >= here) {
      index -= here;
      continue;
    }
    for (; index > 0; --index)
      word &= word - 1;
    return static_cast<std::uint16_t>(i * kWordBits +
                                      static_cast<unsigned>(std::countr_zero(word)));
  }
  return std::nullopt;
}

std::optional<std::uint16_t> select_in_runs(ByteView runs, std::uint32_t index) noexcept {
  const std::size_t total = run_count(runs);
  for (std::size_t i = 0; i < total; ++i) {
    const Run run = run_at(runs, i);
    const std::uint32_t length = std::uint32_t{run.last} - run.first + 1;
    if (index < length) return static_cast<std::uint16_t>(run.first + index);
    index -= length;
  }
  return std::nullopt;
}

std::uint32_t count_array_runs(ByteView array, std::size_t count) noexcept {
  std::uint32_t breaks = 0;
  for (std::size_t i = 1; i < count; ++i)
    breaks += slot_at(array, i) != static_cast<std::uint16_t>(slot_at(array, i - 1) + 1) ? 1 : 0;
  return breaks + 1;
}

Result<void, ValueFault> validate_runs(const ContainerView& container) {
  const std::size_t total = run_count(container.bytes);
  if (total == 0) return base::fail(ValueFault::kEmptyContainer);
  std::uint32_t cardinality = 0;
  std::uint32_t next = 0;  // Where the next run may begin: a slot behind the last one's end.
  for (std::size_t i = 0; i < total; ++i) {
    const std::byte* const at = container.bytes.data() + run_bytes(i);
    const std::uint32_t first = base::load_le<std::uint16_t>(at);
    const std::uint32_t length = std::uint32_t{base::load_le<std::uint16_t>(at + kSlotBytes)} + 1;
    if (first < next || first + length > kSlotsPerChunk) return base::fail(ValueFault::kBadRuns);
    next = first + length + 1;
    cardinality += length;
  }
  if (cardinality != container.cardinality) return base::fail(ValueFault::kCardinalityDiffers);
  return {};
}

}  // namespace

std::uint32_t count_bits(ByteView bitset) noexcept {
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < kBitsetWords; i += kWordsPerSum) {
    std::uint64_t sums = 0;
    for (std::size_t j = 0; j < kWordsPerSum; ++j)
      sums += byte_sums(word_at(bitset, i + j));
    count += sum_of_bytes(sums);
  }
  return count;
}

std::uint32_t count_bit_runs(ByteView bitset) noexcept {
  // A run begins at a bit whose lower neighbour is not set; the first word has none.
  std::uint32_t count = sum_of_bytes(byte_sums(word_at(bitset, 0) & ~(word_at(bitset, 0) << 1)));
  for (std::size_t i = 1; i < kBitsetWords; ++i) {
    const std::uint64_t word = word_at(bitset, i);
    const std::uint64_t before = word_at(bitset, i - 1) >> (kWordBits - 1);
    count += sum_of_bytes(byte_sums(word & ~(word << 1 | before)));
  }
  return count;
}

bool contains(const ContainerView& container, std::uint16_t slot) noexcept {
  switch (container.kind) {
    case ContainerKind::kArray: {
      const std::size_t at = array_lower_bound(container.bytes, container.cardinality, slot);
      return at < container.cardinality && slot_at(container.bytes, at) == slot;
    }
    case ContainerKind::kBitset:
      return (word_at(container.bytes, slot / kWordBits) >> (slot % kWordBits) & 1) != 0;
    case ContainerKind::kRun: {
      const std::size_t before = runs_from_below(container.bytes, slot);
      return before > 0 && slot <= run_at(container.bytes, before - 1).last;
    }
  }
  return false;
}

std::uint32_t rank(const ContainerView& container, std::uint16_t slot) noexcept {
  switch (container.kind) {
    case ContainerKind::kArray: {
      const std::size_t at = array_lower_bound(container.bytes, container.cardinality, slot);
      const bool is_here = at < container.cardinality && slot_at(container.bytes, at) == slot;
      return static_cast<std::uint32_t>(at) + (is_here ? 1 : 0);
    }
    case ContainerKind::kBitset: {
      const std::size_t words = slot / kWordBits;
      const std::uint64_t upto = kAllBits >> (kWordBits - 1 - slot % kWordBits);
      return bits_below(container.bytes, words) +
             sum_of_bytes(byte_sums(word_at(container.bytes, words) & upto));
    }
    case ContainerKind::kRun: return rank_of_runs(container.bytes, slot);
  }
  return 0;
}

std::optional<std::uint16_t> select(const ContainerView& container, std::uint32_t index) noexcept {
  switch (container.kind) {
    case ContainerKind::kArray:
      if (index >= container.cardinality) return std::nullopt;
      return slot_at(container.bytes, index);
    case ContainerKind::kBitset: return select_bit(container.bytes, index);
    case ContainerKind::kRun: return select_in_runs(container.bytes, index);
  }
  return std::nullopt;
}

std::uint16_t min_slot(const ContainerView& container) noexcept {
  switch (container.kind) {
    case ContainerKind::kArray: return slot_at(container.bytes, 0);
    case ContainerKind::kBitset: return select_bit(container.bytes, 0).value_or(0);
    case ContainerKind::kRun: return run_at(container.bytes, 0).first;
  }
  return 0;
}

std::uint16_t max_slot(const ContainerView& container) noexcept {
  switch (container.kind) {
    case ContainerKind::kArray: return slot_at(container.bytes, container.cardinality - 1);
    case ContainerKind::kBitset:
      for (std::size_t i = kBitsetWords; i > 0; --i) {
        const std::uint64_t word = word_at(container.bytes, i - 1);
        if (word == 0) continue;
        const auto bit = kWordBits - 1 - static_cast<unsigned>(std::countl_zero(word));
        return static_cast<std::uint16_t>((i - 1) * kWordBits + bit);
      }
      return 0;
    case ContainerKind::kRun: return run_at(container.bytes, run_count(container.bytes) - 1).last;
  }
  return 0;
}

std::uint32_t count_runs(const ContainerView& container) noexcept {
  switch (container.kind) {
    case ContainerKind::kArray: return count_array_runs(container.bytes, container.cardinality);
    case ContainerKind::kBitset: return count_bit_runs(container.bytes);
    case ContainerKind::kRun: return static_cast<std::uint32_t>(run_count(container.bytes));
  }
  return 0;
}

Result<void, ValueFault> validate(const ContainerView& container) {
  switch (container.kind) {
    case ContainerKind::kArray:
      if (!slot_kernels().ascends(container.bytes)) {
        return base::fail(ValueFault::kUnorderedSlots);
      }
      return {};
    case ContainerKind::kBitset:
      if (slot_kernels().count_common_bits(container.bytes, container.bytes) !=
          container.cardinality) {
        return base::fail(ValueFault::kCardinalityDiffers);
      }
      return {};
    case ContainerKind::kRun: return validate_runs(container);
  }
  return {};
}

SlotReader::SlotReader(const ContainerView& container) noexcept : container_(container) {}

std::size_t SlotReader::read(std::span<std::uint16_t> out) noexcept {
  switch (container_.kind) {
    case ContainerKind::kArray: return read_array(out);
    case ContainerKind::kBitset: return read_bitset(out);
    case ContainerKind::kRun: return read_runs(out);
  }
  return 0;
}

std::size_t SlotReader::read_array(std::span<std::uint16_t> out) noexcept {
  const std::size_t count = std::min(out.size(), container_.cardinality - next_);
  for (std::size_t i = 0; i < count; ++i)
    out[i] = slot_at(container_.bytes, next_ + i);
  next_ += count;
  return count;
}

std::size_t SlotReader::read_bitset(std::span<std::uint16_t> out) noexcept {
  std::size_t count = 0;
  while (count < out.size()) {
    if (word_ == 0) {
      if (next_ == kBitsetWords) break;
      word_ = word_at(container_.bytes, next_++);
      continue;
    }
    const auto bit = static_cast<unsigned>(std::countr_zero(word_));
    out[count++] = static_cast<std::uint16_t>((next_ - 1) * kWordBits + bit);
    word_ &= word_ - 1;
  }
  return count;
}

std::size_t SlotReader::read_runs(std::span<std::uint16_t> out) noexcept {
  const std::size_t total = run_count(container_.bytes);
  std::size_t count = 0;
  while (count < out.size() && next_ < total) {
    const Run run = run_at(container_.bytes, next_);
    const std::uint32_t left = std::uint32_t{run.last} - run.first + 1 - into_run_;
    const std::size_t taken = std::min<std::size_t>(out.size() - count, left);
    for (std::size_t i = 0; i < taken; ++i)
      out[count++] = static_cast<std::uint16_t>(run.first + into_run_ + i);
    into_run_ += static_cast<std::uint32_t>(taken);
    if (taken < left) break;
    ++next_;
    into_run_ = 0;
  }
  return count;
}

}  // namespace cadastre::bitmap
