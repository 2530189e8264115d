#include "bitmap/bitmap.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <vector>

#include <roaring/roaring.h>

#include "base/bytes.h"
#include "base/check.h"
#include "base/result.h"
#include "bitmap/container.h"
#include "bitmap/container_arena.h"
#include "bitmap/container_convert.h"
#include "bitmap/faults.h"
#include "bitmap/ids.h"
#include "bitmap/portable_format.h"

namespace cadastre::bitmap {
namespace {

constexpr unsigned kLowBits = 32;

std::uint32_t high_of(Id id) noexcept {
  return static_cast<std::uint32_t>(id.value() >> kLowBits);
}

std::uint32_t low_of(Id id) noexcept {
  return static_cast<std::uint32_t>(id.value());
}

base::Bytes serialised(const roaring_bitmap_t* inner) {
  base::Bytes bytes(roaring_bitmap_portable_size_in_bytes(inner));
  roaring_bitmap_portable_serialize(inner, reinterpret_cast<char*>(bytes.data()));
  return bytes;
}

}  // namespace

void Bitmap::InnerDelete::operator()(roaring_bitmap_t* inner) const noexcept {
  roaring_bitmap_free(inner);
}

Bitmap::Bitmap() noexcept = default;
Bitmap::~Bitmap() = default;
Bitmap::Bitmap(Bitmap&& other) noexcept = default;
Bitmap& Bitmap::operator=(Bitmap&& other) noexcept = default;

Bitmap::Bitmap(std::span<const Id> ids) {
  for (const Id id : ids)
    add(id);
}

Bitmap::Bitmap(const Bitmap& other) {
  for (const auto& [high, inner] : other.inner_)
    inner_.emplace_hint(inner_.end(), high, copy_of(inner));
}

Bitmap& Bitmap::operator=(const Bitmap& other) {
  if (this != &other) *this = Bitmap(other);
  return *this;
}

Bitmap::Inner Bitmap::copy_of(const Inner& inner) {
  Inner copy(roaring_bitmap_copy(inner.get()));
  CAD_CHECK(copy != nullptr, "there is memory for a copy");
  return copy;
}

Bitmap::Inner Bitmap::read_inner(base::ByteView bytes) {
  const base::Bytes owned = base::to_owned(bytes);  // Aligned as CRoaring likes it.
  Inner inner(roaring_bitmap_portable_deserialize_safe(reinterpret_cast<const char*>(owned.data()),
                                                       owned.size()));
  CAD_CHECK(inner != nullptr, "CRoaring reads what was validated");
  return inner;
}

base::Result<Bitmap, ValueFault> Bitmap::from_portable(base::ByteView bytes) {
  const auto maps = CAD_TRY(PortableMaps::parse(bytes, EmptyMaps::kAccepted));
  Bitmap bitmap;
  for (std::size_t at = PortableMaps::first_at(); at < maps.end_at();) {
    const PortableMap map = maps.map_at(at);
    at = PortableMaps::next_at(at, map);
    if (map.count() == 0) continue;
    std::size_t container_at = map.container_at(0);
    for (std::size_t i = 0; i < map.count(); ++i) {
      const ContainerView container = map.container(i, container_at);
      CAD_TRY(validate(container));
      container_at += container.bytes.size();
    }
    bitmap.inner_.emplace_hint(bitmap.inner_.end(), map.high(), read_inner(map.bytes()));
  }
  return bitmap;
}

base::Bytes Bitmap::to_portable(Runs runs) const {
  std::vector<base::Bytes> parts;  // Containers point into them and into the arena.
  std::vector<ContainerView> containers;
  ContainerArena arena;
  ContainerBuffer buffer;
  PortableSize size;
  for (const auto& [high, inner] : inner_) {
    const base::Bytes& bytes = parts.emplace_back(serialised(inner.get()));
    const PortableMap map = PortableMap::parsed(bytes, high);
    for (std::size_t i = 0; i < map.count(); ++i) {
      ContainerView container = map.container(i);
      const bool has_runs = container.kind == ContainerKind::kRun;
      const ContainerView wanted = runs == Runs::kAllowed ? canonical(container, buffer)
                                   : has_runs             ? to_plain(container, buffer)
                                                          : container;
      if (wanted.bytes.data() != container.bytes.data()) container = arena.keep(wanted);
      size.add(container.chunk, container.bytes.size(), container.kind == ContainerKind::kRun);
      containers.push_back(container);
    }
  }
  base::Bytes out(size.bytes());
  write_portable(out.data(), containers);
  return out;
}

bool Bitmap::contains(Id id) const noexcept {
  const auto at = inner_.find(high_of(id));
  return at != inner_.end() && roaring_bitmap_contains(at->second.get(), low_of(id));
}

bool Bitmap::add(Id id) {
  Inner& inner = inner_[high_of(id)];
  if (inner == nullptr) {
    inner.reset(roaring_bitmap_create());
    CAD_CHECK(inner != nullptr, "there is memory for a bitmap");
  }
  return roaring_bitmap_add_checked(inner.get(), low_of(id));
}

bool Bitmap::remove(Id id) {
  const auto at = inner_.find(high_of(id));
  if (at == inner_.end()) return false;
  const bool was_there = roaring_bitmap_remove_checked(at->second.get(), low_of(id));
  drop_if_empty(at);
  return was_there;
}

void Bitmap::drop_if_empty(std::map<std::uint32_t, Inner>::iterator at) noexcept {
  if (roaring_bitmap_is_empty(at->second.get())) inner_.erase(at);
}

std::uint64_t Bitmap::cardinality() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& [high, inner] : inner_)
    sum += roaring_bitmap_get_cardinality(inner.get());
  return sum;
}

Bitmap& Bitmap::operator|=(const Bitmap& other) {
  if (this == &other) return *this;
  for (const auto& [high, inner] : other.inner_) {
    const auto at = inner_.find(high);
    if (at == inner_.end()) {
      inner_.emplace(high, copy_of(inner));
    } else {
      roaring_bitmap_or_inplace(at->second.get(), inner.get());
    }
  }
  return *this;
}

Bitmap& Bitmap::operator&=(const Bitmap& other) {
  if (this == &other) return *this;
  for (auto at = inner_.begin(); at != inner_.end();) {
    const auto here = at++;
    const auto with = other.inner_.find(here->first);
    if (with == other.inner_.end()) {
      inner_.erase(here);
    } else {
      roaring_bitmap_and_inplace(here->second.get(), with->second.get());
      drop_if_empty(here);
    }
  }
  return *this;
}

Bitmap& Bitmap::operator-=(const Bitmap& other) {
  if (this == &other) {
    inner_.clear();
    return *this;
  }
  for (const auto& [high, inner] : other.inner_) {
    const auto at = inner_.find(high);
    if (at == inner_.end()) continue;
    roaring_bitmap_andnot_inplace(at->second.get(), inner.get());
    drop_if_empty(at);
  }
  return *this;
}

Bitmap& Bitmap::operator^=(const Bitmap& other) {
  if (this == &other) {
    inner_.clear();
    return *this;
  }
  for (const auto& [high, inner] : other.inner_) {
    const auto at = inner_.find(high);
    if (at == inner_.end()) {
      inner_.emplace(high, copy_of(inner));
    } else {
      roaring_bitmap_xor_inplace(at->second.get(), inner.get());
      drop_if_empty(at);
    }
  }
  return *this;
}

bool operator==(const Bitmap& a, const Bitmap& b) noexcept {
  return std::ranges::equal(a.inner_, b.inner_, [](const auto& left, const auto& right) {
    return left.first == right.first &&
           roaring_bitmap_equals(left.second.get(), right.second.get());
  });
}

Bitmap::Iterator Bitmap::begin() const {
  return {inner_.begin(), inner_.end()};
}

Bitmap::Iterator Bitmap::end() const {
  return {inner_.end(), inner_.end()};
}

Bitmap::Iterator::Iterator(Place at, Place end) : at_(at), end_(end) {
  read_from(0);
}

Id Bitmap::Iterator::operator*() const noexcept {
  return Id{std::uint64_t{at_->first} << kLowBits | block_[next_]};
}

Bitmap::Iterator& Bitmap::Iterator::operator++() {
  const std::uint32_t here = block_[next_++];
  if (next_ < count_) return *this;
  if (here == std::numeric_limits<std::uint32_t>::max()) {
    next_inner();
  } else {
    read_from(here + 1);
  }
  return *this;
}

void Bitmap::Iterator::next_inner() {
  ++at_;
  read_from(0);
}

void Bitmap::Iterator::read_from(std::uint32_t low) {
  next_ = 0;
  count_ = 0;
  for (; at_ != end_; ++at_, low = 0) {
    roaring_uint32_iterator_t inner;
    roaring_init_iterator(at_->second.get(), &inner);
    if (!roaring_move_uint32_iterator_equalorlarger(&inner, low)) continue;
    count_ = roaring_read_uint32_iterator(&inner, block_.data(), kBlockIds);
    if (count_ > 0) return;
  }
}

}  // namespace cadastre::bitmap
