#include "bitmap/container_convert.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/bytes.h"
#include "base/endian.h"
#include "bitmap/container.h"
#include "bitmap/container_bytes.h"
#include "bitmap/ids.h"
#include "bitmap/limits.h"

namespace cadastre::bitmap {
namespace {

constexpr std::uint64_t kAllBits = ~std::uint64_t{0};

void set_run(ContainerBuffer& bitset, Run run) noexcept {
  const std::size_t first_word = run.first / kWordBits;
  const std::size_t last_word = run.last / kWordBits;
  const std::uint64_t from = kAllBits << (run.first % kWordBits);
  const std::uint64_t upto = kAllBits >> (kWordBits - 1 - run.last % kWordBits);
  const auto set = [&bitset](std::size_t word, std::uint64_t bits) {
    put_word(bitset, word, word_at(bitset.bytes, word) | bits);
  };
  if (first_word == last_word) return set(first_word, from & upto);
  set(first_word, from);
  for (std::size_t word = first_word + 1; word < last_word; ++word)
    put_word(bitset, word, kAllBits);
  set(last_word, upto);
}

// The slots of a run container; what does not fit an array is left out. Valid ones fit.
ContainerView runs_to_array(const ContainerView& container, ContainerBuffer& out) noexcept {
  const std::size_t total = run_count(container.bytes);
  std::size_t count = 0;
  for (std::size_t i = 0; i < total && count < kArrayCardinalityMax; ++i) {
    const Run run = run_at(container.bytes, i);
    const std::size_t length =
        std::min<std::size_t>(std::size_t{run.last} - run.first + 1, kArrayCardinalityMax - count);
    for (std::size_t slot = 0; slot < length; ++slot)
      put_slot(out, count++, static_cast<std::uint16_t>(run.first + slot));
  }
  return array_in(out, container.chunk, count);
}

// Writes runs one after the other and keeps to the buffer.
class RunWriter {
 public:
  explicit RunWriter(ContainerBuffer& out) noexcept : out_(out) {}

  void add(std::uint32_t first, std::uint32_t last) noexcept {
    if (run_bytes(count_ + 1) > kContainerBytesMax) return;
    std::byte* const at = out_.bytes.data() + run_bytes(count_++);
    base::store_le(at, static_cast<std::uint16_t>(first));
    base::store_le(at + kSlotBytes, static_cast<std::uint16_t>(last - first));
  }

  [[nodiscard]] ContainerView finish(const ContainerView& source) noexcept {
    base::store_le(out_.bytes.data(), static_cast<std::uint16_t>(count_));
    return {source.chunk, source.cardinality, ContainerKind::kRun,
            ByteView(out_.bytes).first(run_bytes(count_))};
  }

 private:
  ContainerBuffer& out_;
  std::size_t count_ = 0;
};

void array_to_runs(const ContainerView& array, RunWriter& runs) noexcept {
  std::uint16_t first = slot_at(array.bytes, 0);
  std::uint16_t last = first;
  for (std::size_t i = 1; i < array.cardinality; ++i) {
    const std::uint16_t slot = slot_at(array.bytes, i);
    if (slot != last + 1) {
      runs.add(first, last);
      first = slot;
    }
    last = slot;
  }
  runs.add(first, last);
}

// The first bit from `from` on that is set (or, with `flip` all ones, that is not), or 65536.
std::uint32_t next_bit(ByteView bitset, std::uint32_t from, std::uint64_t flip) noexcept {
  if (from >= kSlotsPerChunk) return kSlotsPerChunk;
  std::size_t word = from / kWordBits;
  std::uint64_t bits = (word_at(bitset, word) ^ flip) & kAllBits << (from % kWordBits);
  while (bits == 0) {
    if (++word == kBitsetWords) return kSlotsPerChunk;
    bits = word_at(bitset, word) ^ flip;
  }
  return static_cast<std::uint32_t>(word * kWordBits) +
         static_cast<std::uint32_t>(std::countr_zero(bits));
}

void bitset_to_runs(ByteView bitset, RunWriter& runs) noexcept {
  std::uint32_t first = next_bit(bitset, 0, 0);
  while (first < kSlotsPerChunk) {
    const std::uint32_t end = next_bit(bitset, first, kAllBits);
    runs.add(first, end - 1);
    first = next_bit(bitset, end, 0);
  }
}

}  // namespace

ContainerView to_bitset(const ContainerView& container, ContainerBuffer& out) noexcept {
  switch (container.kind) {
    case ContainerKind::kArray:
      clear_words(out);
      for (std::size_t i = 0; i < container.cardinality; ++i)
        put_bit(out, slot_at(container.bytes, i));
      break;
    case ContainerKind::kBitset:
      std::memcpy(out.bytes.data(), container.bytes.data(), kContainerBytesMax);
      break;
    case ContainerKind::kRun: {
      clear_words(out);
      const std::size_t total = run_count(container.bytes);
      for (std::size_t i = 0; i < total; ++i)
        set_run(out, run_at(container.bytes, i));
      break;
    }
  }
  return {container.chunk, container.cardinality, ContainerKind::kBitset, ByteView(out.bytes)};
}

ContainerView plain_from_bitset(std::uint64_t chunk,
                                ContainerBuffer& bitset,
                                std::uint32_t cardinality) noexcept {
  if (cardinality > kArrayCardinalityMax) {
    return {chunk, cardinality, ContainerKind::kBitset, ByteView(bitset.bytes)};
  }
  // Slots take the place of the words they come from, so they are gathered aside.
  std::array<std::uint16_t, kArrayCardinalityMax>
      slots;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled as far as it is read
  SlotReader reader({chunk, cardinality, ContainerKind::kBitset, ByteView(bitset.bytes)});
  const std::size_t count = reader.read(std::span(slots));
  for (std::size_t i = 0; i < count; ++i)
    put_slot(bitset, i, slots[i]);
  return array_in(bitset, chunk, count);
}

ContainerView to_plain(const ContainerView& container, ContainerBuffer& out) noexcept {
  if (container.kind == ContainerKind::kRun && container.cardinality <= kArrayCardinalityMax) {
    return runs_to_array(container, out);
  }
  if (container.kind == ContainerKind::kArray) {
    std::memcpy(out.bytes.data(), container.bytes.data(), container.bytes.size());
    return array_in(out, container.chunk, container.cardinality);
  }
  (void)to_bitset(container, out);
  return plain_from_bitset(container.chunk, out, count_bits(out.bytes));
}

ContainerView to_runs(const ContainerView& container, ContainerBuffer& out) noexcept {
  RunWriter runs(out);
  switch (container.kind) {
    case ContainerKind::kArray: array_to_runs(container, runs); break;
    case ContainerKind::kBitset: bitset_to_runs(container.bytes, runs); break;
    case ContainerKind::kRun: {
      const std::size_t total = run_count(container.bytes);
      for (std::size_t i = 0; i < total; ++i) {
        const Run run = run_at(container.bytes, i);
        runs.add(run.first, run.last);
      }
      break;
    }
  }
  return runs.finish(container);
}

ContainerView canonical(const ContainerView& container, ContainerBuffer& out) noexcept {
  const ContainerKind kind = canonical_kind(container.cardinality, count_runs(container));
  if (kind == container.kind) return container;
  return kind == ContainerKind::kRun ? to_runs(container, out) : to_plain(container, out);
}

ContainerView from_ids(std::span<const Id> ids, ContainerBuffer& out) noexcept {
  const std::uint64_t chunk = chunk_of(ids.front());
  if (ids.size() <= kArrayCardinalityMax) {
    for (std::size_t i = 0; i < ids.size(); ++i)
      put_slot(out, i, slot_of(ids[i]));
    return array_in(out, chunk, ids.size());
  }
  clear_words(out);
  for (const Id id : ids)
    put_bit(out, slot_of(id));
  return {chunk, static_cast<std::uint32_t>(ids.size()), ContainerKind::kBitset,
          ByteView(out.bytes)};
}

ContainerView from_run(std::uint64_t chunk, Run run, ContainerBuffer& out) noexcept {
  RunWriter runs(out);
  runs.add(run.first, run.last);
  const std::uint32_t cardinality = std::uint32_t{run.last} - run.first + 1;
  return runs.finish({chunk, cardinality, ContainerKind::kRun, {}});
}

}  // namespace cadastre::bitmap
