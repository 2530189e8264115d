#include "bitmap/container_edit.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/bytes.h"
#include "base/endian.h"
#include "bitmap/container.h"
#include "bitmap/container_bytes.h"
#include "bitmap/container_convert.h"
#include "bitmap/limits.h"

namespace cadastre::bitmap {
namespace {

constexpr std::uint16_t kLastSlot = kSlotsPerChunk - 1;

struct Neighbours {
  bool left = false;
  bool right = false;
};

Neighbours neighbours_of(const ContainerView& container, std::uint16_t slot) noexcept {
  return {.left = slot > 0 && contains(container, static_cast<std::uint16_t>(slot - 1)),
          .right = slot < kLastSlot && contains(container, static_cast<std::uint16_t>(slot + 1))};
}

// The plain container that lies in `out`, or as runs if those are canonical.
ContainerView with_runs_counted(const ContainerView& plain, ContainerBuffer& out) noexcept {
  if (canonical_kind(plain.cardinality, count_runs(plain)) != ContainerKind::kRun) return plain;
  ContainerBuffer aside;
  std::memcpy(aside.bytes.data(), plain.bytes.data(), plain.bytes.size());
  ContainerView moved = plain;
  moved.bytes = ByteView(aside.bytes).first(plain.bytes.size());
  return to_runs(moved, out);
}

// An array or a bitset and one slot more.
ContainerView insert_plain(const ContainerView& plain,
                           std::uint16_t slot,
                           ContainerBuffer& out) noexcept {
  if (plain.cardinality >= kArrayCardinalityMax) {  // A full array turns into a bitset.
    ContainerView bitset = to_bitset(plain, out);
    put_bit(out, slot);
    ++bitset.cardinality;
    return bitset;
  }
  const std::size_t before = std::size_t{rank(plain, slot)} * kSlotBytes;
  std::memcpy(out.bytes.data(), plain.bytes.data(), before);
  base::store_le(out.bytes.data() + before, slot);
  std::memcpy(out.bytes.data() + before + kSlotBytes, plain.bytes.data() + before,
              plain.bytes.size() - before);
  return array_in(out, plain.chunk, std::size_t{plain.cardinality} + 1);
}

ContainerView remove_plain(const ContainerView& plain,
                           std::uint16_t slot,
                           ContainerBuffer& out) noexcept {
  if (plain.kind == ContainerKind::kBitset) {
    ContainerView bitset = to_bitset(plain, out);
    take_bit(out, slot);
    --bitset.cardinality;
    return plain_from_bitset(plain.chunk, out, bitset.cardinality);
  }
  const std::size_t before = (std::size_t{rank(plain, slot)} - 1) * kSlotBytes;
  const std::size_t behind = before + kSlotBytes;
  std::memcpy(out.bytes.data(), plain.bytes.data(), before);
  std::memcpy(out.bytes.data() + before, plain.bytes.data() + behind, plain.bytes.size() - behind);
  return array_in(out, plain.chunk, std::size_t{plain.cardinality} - 1);
}

// The runs of a container with those from `first` on, `taken` of them, replaced by `given`.
struct RunChange {
  std::size_t first = 0;
  std::size_t taken = 0;
  std::size_t given_count = 0;
  Run given_left{};
  Run given_right{};  // the second of two
};

void put_run(std::byte* at, Run run) noexcept {
  base::store_le(at, run.first);
  base::store_le(at + kSlotBytes, static_cast<std::uint16_t>(run.last - run.first));
}

ContainerView change_runs(const ContainerView& container,
                          const RunChange& change,
                          std::uint32_t cardinality,
                          ContainerBuffer& out) noexcept {
  const std::size_t runs = run_count(container.bytes) - change.taken + change.given_count;
  std::byte* const to = out.bytes.data();
  const std::byte* const from = container.bytes.data();
  const std::size_t kept_left = run_bytes(change.first);
  const std::size_t right_from = run_bytes(change.first + change.taken);
  const std::size_t right_to = run_bytes(change.first + change.given_count);
  std::memcpy(to, from, kept_left);
  if (change.given_count > 0) put_run(to + kept_left, change.given_left);
  if (change.given_count > 1) put_run(to + kept_left + kRunBytes, change.given_right);
  std::memcpy(to + right_to, from + right_from, container.bytes.size() - right_from);
  base::store_le(to, static_cast<std::uint16_t>(runs));
  return {container.chunk, cardinality, ContainerKind::kRun,
          ByteView(out.bytes).first(run_bytes(runs))};
}

// Runs that begin at or before the slot.
std::size_t runs_before(ByteView runs, std::uint16_t slot) noexcept {
  std::size_t first = 0;
  std::size_t end = run_count(runs);
  while (first < end) {
    const std::size_t middle = first + (end - first) / 2;
    if (run_at(runs, middle).first <= slot) {
      first = middle + 1;
    } else {
      end = middle;
    }
  }
  return first;
}

RunChange inserted_run(ByteView runs, std::uint16_t slot) noexcept {
  const std::size_t before = runs_before(runs, slot);
  RunChange change{.first = before, .given_count = 1, .given_left = {slot, slot}};
  if (before < run_count(runs) && run_at(runs, before).first == slot + 1) {
    change.taken = 1;
    change.given_left.last = run_at(runs, before).last;
  }
  if (before > 0 && run_at(runs, before - 1).last + 1 == slot) {
    --change.first;
    ++change.taken;
    change.given_left.first = run_at(runs, before - 1).first;
  }
  return change;
}

RunChange removed_run(ByteView runs, std::uint16_t slot) noexcept {
  const std::size_t at = runs_before(runs, slot) - 1;
  const Run run = run_at(runs, at);
  RunChange change{.first = at, .taken = 1};
  const Run left{run.first, static_cast<std::uint16_t>(slot - 1)};
  const Run right{static_cast<std::uint16_t>(slot + 1), run.last};
  if (run.first < slot) {
    change.given_left = left;
    ++change.given_count;
  }
  if (slot < run.last) {
    (change.given_count == 0 ? change.given_left : change.given_right) = right;
    ++change.given_count;
  }
  return change;
}

std::size_t runs_after(ByteView runs, const RunChange& change) noexcept {
  return run_count(runs) - change.taken + change.given_count;
}

}  // namespace

ContainerView insert_slot(const ContainerView& container,
                          std::uint16_t slot,
                          ContainerBuffer& out) noexcept {
  const std::uint32_t cardinality = container.cardinality + 1;
  if (container.kind == ContainerKind::kRun) {
    const RunChange change = inserted_run(container.bytes, slot);
    if (canonical_kind(cardinality, runs_after(container.bytes, change)) == ContainerKind::kRun) {
      return change_runs(container, change, cardinality, out);
    }
    ContainerBuffer aside;
    return insert_plain(to_plain(container, aside), slot, out);
  }
  const Neighbours near = neighbours_of(container, slot);
  // The number of runs falls only when two become one; an array also pays for the slot (B-14).
  const bool runs_may_win =
      container.kind == ContainerKind::kArray ? near.left || near.right : near.left && near.right;
  const ContainerView plain = insert_plain(container, slot, out);
  return runs_may_win ? with_runs_counted(plain, out) : plain;
}

ContainerView remove_slot(const ContainerView& container,
                          std::uint16_t slot,
                          ContainerBuffer& out) noexcept {
  const std::uint32_t cardinality = container.cardinality - 1;
  if (cardinality == 0) return {.chunk = container.chunk};
  if (container.kind == ContainerKind::kRun) {
    const RunChange change = removed_run(container.bytes, slot);
    if (canonical_kind(cardinality, runs_after(container.bytes, change)) == ContainerKind::kRun) {
      return change_runs(container, change, cardinality, out);
    }
    ContainerBuffer aside;
    return remove_plain(to_plain(container, aside), slot, out);
  }
  const Neighbours near = neighbours_of(container, slot);
  const bool runs_may_win = !near.left && !near.right;  // B-14: a run of one slot goes.
  const ContainerView plain = remove_plain(container, slot, out);
  return runs_may_win ? with_runs_counted(plain, out) : plain;
}

}  // namespace cadastre::bitmap
