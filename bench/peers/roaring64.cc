#include "bench/peers/roaring64.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <roaring/roaring.h>

#include "base/bytes.h"
#include "base/check.h"
#include "base/endian.h"
#include "base/function_ref.h"
#include "bench/peers/set_store.h"
#include "bitmap/ids.h"

namespace cadastre::bench {
namespace {

using bitmap::Id;
using bitmap::IdRange;

constexpr unsigned kHalfBits = 32;
constexpr std::size_t kBlockIds = 1024;

constexpr std::uint32_t upper_of(Id id) {
  return static_cast<std::uint32_t>(id.value() >> kHalfBits);
}
constexpr std::uint32_t lower_of(Id id) {
  return static_cast<std::uint32_t>(id.value());
}

struct IteratorFree {
  void operator()(roaring_uint32_iterator_t* at) const noexcept {
    roaring_free_uint32_iterator(at);
  }
};

void visit_half(std::uint32_t upper,
                const roaring_bitmap_t* half,
                IdRange range,
                base::FunctionRef<void(std::span<const Id>)> visit) {
  const std::unique_ptr<roaring_uint32_iterator_t, IteratorFree> at(roaring_create_iterator(half));
  if (upper == upper_of(range.first)) {
    roaring_move_uint32_iterator_equalorlarger(at.get(), lower_of(range.first));
  }
  std::array<std::uint32_t, kBlockIds> lower;
  std::array<Id, kBlockIds> ids;
  while (const std::size_t read = roaring_read_uint32_iterator(at.get(), lower.data(), kBlockIds)) {
    std::size_t kept = 0;
    while (kept < read) {
      const Id id{std::uint64_t{upper} << kHalfBits | lower[kept]};
      if (id > range.last) break;
      ids[kept++] = id;
    }
    if (kept != 0) visit({ids.data(), kept});
    if (kept < read) return;
  }
}

}  // namespace

roaring_bitmap_t* Roaring64::half_for(std::uint32_t upper) {
  Half& half = halves_[upper];
  if (half == nullptr) half.reset(roaring_bitmap_create());
  return half.get();
}

void Roaring64::add(Id id) {
  roaring_bitmap_add(half_for(upper_of(id)), lower_of(id));
}

void Roaring64::add_many(std::span<const Id> ids) {
  while (!ids.empty()) {
    const std::uint32_t upper = upper_of(ids.front());
    const auto end =
        std::ranges::find_if(ids, [&](Id id) { return upper_of(id) != upper; }) - ids.begin();
    lower_.clear();
    for (const Id id : ids.first(static_cast<std::size_t>(end)))
      lower_.push_back(lower_of(id));
    roaring_bitmap_add_many(half_for(upper), lower_.size(), lower_.data());
    ids = ids.subspan(static_cast<std::size_t>(end));
  }
}

void Roaring64::remove(Id id) {
  const auto at = halves_.find(upper_of(id));
  if (at == halves_.end()) return;
  roaring_bitmap_remove(at->second.get(), lower_of(id));
  if (roaring_bitmap_is_empty(at->second.get())) halves_.erase(at);
}

void Roaring64::unite(const Roaring64& other) {
  for (const auto& [upper, half] : other.halves_)
    roaring_bitmap_or_inplace(half_for(upper), half.get());
}

void Roaring64::optimise() {
  for (auto& [upper, half] : halves_)
    roaring_bitmap_run_optimize(half.get());
}

bool Roaring64::contains(Id id) const {
  const auto at = halves_.find(upper_of(id));
  return at != halves_.end() && roaring_bitmap_contains(at->second.get(), lower_of(id));
}

std::uint64_t Roaring64::cardinality() const {
  std::uint64_t total = 0;
  for (const auto& [upper, half] : halves_)
    total += roaring_bitmap_get_cardinality(half.get());
  return total;
}

void Roaring64::visit(IdRange range, base::FunctionRef<void(std::span<const Id>)> visit) const {
  for (auto at = halves_.lower_bound(upper_of(range.first));
       at != halves_.end() && at->first <= upper_of(range.last); ++at) {
    visit_half(at->first, at->second.get(), range, visit);
  }
}

std::size_t Roaring64::portable_bytes() const {
  std::size_t total = sizeof(std::uint64_t);
  for (const auto& [upper, half] : halves_)
    total += sizeof upper + roaring_bitmap_portable_size_in_bytes(half.get());
  return total;
}

void Roaring64::write_portable(base::Bytes& out) const {
  std::size_t at = out.size();
  out.resize(at + portable_bytes());
  base::store_le<std::uint64_t>(out.data() + at, halves_.size());
  at += sizeof(std::uint64_t);
  for (const auto& [upper, half] : halves_) {
    base::store_le<std::uint32_t>(out.data() + at, upper);
    at += sizeof upper;
    at += roaring_bitmap_portable_serialize(half.get(), reinterpret_cast<char*>(out.data() + at));
  }
  CAD_CHECK(at == out.size(), "the size was foretold");
}

Roaring64 Roaring64::read_portable(base::ByteView bytes) {
  CAD_CHECK(bytes.size() >= sizeof(std::uint64_t), "a stored set has its count");
  Roaring64 out;
  const auto count = base::load_le<std::uint64_t>(bytes.data());
  bytes = bytes.subspan(sizeof(std::uint64_t));
  for (std::uint64_t i = 0; i < count; ++i) {
    CAD_CHECK(bytes.size() >= sizeof(std::uint32_t), "every half has its number");
    const auto upper = base::load_le<std::uint32_t>(bytes.data());
    bytes = bytes.subspan(sizeof(std::uint32_t));
    const char* const from = reinterpret_cast<const char*>(bytes.data());
    const std::size_t size = roaring_bitmap_portable_deserialize_size(from, bytes.size());
    CAD_CHECK(size != 0, "every half is a bitmap");
    out.halves_.emplace_hint(out.halves_.end(), upper,
                             Half(roaring_bitmap_portable_deserialize_safe(from, size)));
    bytes = bytes.subspan(size);
  }
  CAD_CHECK(bytes.empty(), "and nothing follows");
  return out;
}

Roaring64 Roaring64::united(std::span<const Roaring64> sets) {
  Roaring64 out;
  for (const Roaring64& set : sets)
    out.unite(set);
  return out;
}

std::uint64_t Roaring64::count_of(SetOperation operation, const Roaring64& a, const Roaring64& b) {
  const std::uint64_t both = intersection_count(a, b);
  switch (operation) {
    case SetOperation::kIntersection: return both;
    case SetOperation::kUnion: return a.cardinality() + b.cardinality() - both;
    case SetOperation::kDifference: return a.cardinality() - both;
  }
  CAD_CHECK(false, "there are three operations");
}

std::uint64_t Roaring64::intersection_count(const Roaring64& a, const Roaring64& b) {
  std::uint64_t total = 0;
  for (const auto& [upper, half] : a.halves_) {
    const auto other = b.halves_.find(upper);
    if (other == b.halves_.end()) continue;
    total += roaring_bitmap_and_cardinality(half.get(), other->second.get());
  }
  return total;
}

}  // namespace cadastre::bench
