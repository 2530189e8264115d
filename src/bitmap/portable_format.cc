#include "bitmap/portable_format.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/bytes.h"
#include "base/endian.h"
#include "base/result.h"
#include "bitmap/container.h"
#include "bitmap/faults.h"

namespace cadastre::bitmap {
namespace {

using base::ByteView;
using base::load_le;
using base::store_le;

constexpr std::uint32_t kCookiePlain = 12346;
constexpr std::uint32_t kCookieRuns = 12347;
constexpr std::uint32_t kCookieMask = 0xffff;
constexpr unsigned kCookieCountShift = 16;
constexpr std::size_t kCookieBytes = sizeof(std::uint32_t);
constexpr std::size_t kPlainCountBytes = sizeof(std::uint32_t);
constexpr std::size_t kHeaderBytes = 2 * sizeof(std::uint16_t);  // key, cardinality - 1
constexpr std::size_t kOffsetBytes = sizeof(std::uint32_t);
constexpr std::size_t kOffsetsFrom = 4;  // With runs, fewer containers have no offsets.
constexpr std::size_t kMapContainersMax = 65536;
constexpr unsigned kKeyBits = 16;
constexpr std::size_t kFlagsPerByte = 8;

constexpr std::size_t flag_bytes(std::size_t count) noexcept {
  return (count + kFlagsPerByte - 1) / kFlagsPerByte;
}

// Bytes of a bitmap before its containers, from the cookie on.
constexpr std::size_t front_bytes(std::size_t count, bool has_runs) noexcept {
  const std::size_t fixed =
      kCookieBytes + (has_runs ? flag_bytes(count) : kPlainCountBytes) + count * kHeaderBytes;
  const bool has_offsets = !has_runs || count >= kOffsetsFrom;
  return fixed + (has_offsets ? count * kOffsetBytes : 0);
}

std::uint64_t high_of(std::uint64_t chunk) noexcept {
  return chunk >> kKeyBits;
}

}  // namespace

Result<void, ValueFault> PortableMap::read_front(ByteView from) {
  if (from.size() < kCookieBytes) return base::fail(ValueFault::kTruncated);
  const auto cookie = load_le<std::uint32_t>(from.data());
  if ((cookie & kCookieMask) == kCookieRuns) {
    has_runs_ = true;
    count_ = std::size_t{cookie >> kCookieCountShift} + 1;
    has_offsets_ = count_ >= kOffsetsFrom;
    headers_at_ = kCookieBytes + flag_bytes(count_);
  } else if (cookie == kCookiePlain) {
    if (from.size() < kCookieBytes + kPlainCountBytes) return base::fail(ValueFault::kTruncated);
    count_ = load_le<std::uint32_t>(from.data() + kCookieBytes);
    if (count_ > kMapContainersMax) return base::fail(ValueFault::kBadCount);
    has_offsets_ = true;
    headers_at_ = kCookieBytes + kPlainCountBytes;
  } else {
    return base::fail(ValueFault::kBadCookie);
  }
  containers_at_ = front_bytes(count_, has_runs_);
  if (from.size() < containers_at_) return base::fail(ValueFault::kTruncated);
  bytes_ = from;
  return {};
}

Result<std::size_t, ValueFault> PortableMap::check_containers() const {
  std::size_t at = containers_at_;
  for (std::size_t i = 0; i < count_; ++i) {
    if (i > 0 && key(i) <= key(i - 1)) return base::fail(ValueFault::kUnorderedKey);
    if (has_offsets_ && offset(i) != at) return base::fail(ValueFault::kBadOffset);
    std::size_t size = 0;
    if (is_run(i)) {
      if (bytes_.size() - at < kRunHeaderBytes) return base::fail(ValueFault::kTruncated);
      const std::size_t runs = run_count(bytes_.subspan(at));
      if (runs == 0) return base::fail(ValueFault::kEmptyContainer);
      size = run_bytes(runs);
    } else {
      size = plain_bytes(cardinality(i));
    }
    if (bytes_.size() - at < size) return base::fail(ValueFault::kTruncated);
    at += size;
  }
  return at;
}

Result<PortableMap, ValueFault> PortableMap::parse(ByteView from,
                                                   std::uint32_t high,
                                                   EmptyMaps empty_maps) {
  PortableMap map;
  map.high_ = high;
  CAD_TRY(map.read_front(from));
  if (map.count_ == 0 && empty_maps == EmptyMaps::kRefused)
    return base::fail(ValueFault::kBadCount);
  const std::size_t size = CAD_TRY(map.check_containers());
  map.bytes_ = from.first(size);
  return map;
}

PortableMap PortableMap::parsed(ByteView from, std::uint32_t high) noexcept {
  PortableMap map;
  map.high_ = high;
  (void)map.read_front(from);
  if (map.count_ == 0) {
    map.bytes_ = from.first(map.containers_at_);
    return map;
  }
  const std::size_t last_at = map.container_at(map.count_ - 1);
  map.bytes_ = from.first(last_at + map.container(map.count_ - 1, last_at).bytes.size());
  return map;
}

bool PortableMap::is_run(std::size_t index) const noexcept {
  if (!has_runs_) return false;
  const auto flags = std::to_integer<unsigned>(bytes_[kCookieBytes + index / kFlagsPerByte]);
  return (flags >> (index % kFlagsPerByte) & 1) != 0;
}

std::uint16_t PortableMap::key(std::size_t index) const noexcept {
  return load_le<std::uint16_t>(bytes_.data() + headers_at_ + index * kHeaderBytes);
}

std::uint64_t PortableMap::chunk(std::size_t index) const noexcept {
  return std::uint64_t{high_} << kKeyBits | key(index);
}

std::size_t PortableMap::cardinality_at(std::size_t index) const noexcept {
  return headers_at_ + index * kHeaderBytes + sizeof(std::uint16_t);
}

std::size_t PortableMap::offset_at(std::size_t index) const noexcept {
  return headers_at_ + count_ * kHeaderBytes + index * kOffsetBytes;
}

std::uint32_t PortableMap::cardinality(std::size_t index) const noexcept {
  return std::uint32_t{load_le<std::uint16_t>(bytes_.data() + cardinality_at(index))} + 1;
}

std::uint32_t PortableMap::offset(std::size_t index) const noexcept {
  return load_le<std::uint32_t>(bytes_.data() + offset_at(index));
}

std::size_t PortableMap::lower_bound(std::uint16_t wanted) const noexcept {
  std::size_t first = 0;
  std::size_t left = count_;
  while (left > 0) {
    const std::size_t half = left / 2;
    const bool is_less = key(first + half) < wanted;
    first += is_less ? half + 1 : 0;
    left = is_less ? left - half - 1 : half;
  }
  return first;
}

std::size_t PortableMap::container_at(std::size_t index) const noexcept {
  if (has_offsets_) return offset(index);
  std::size_t at = containers_at_;
  for (std::size_t i = 0; i < index; ++i)
    at += container(i, at).bytes.size();
  return at;
}

ContainerView PortableMap::container(std::size_t index) const noexcept {
  return container(index, container_at(index));
}

ContainerView PortableMap::container(std::size_t index, std::size_t at) const noexcept {
  const std::uint32_t members = cardinality(index);
  const ByteView rest = bytes_.subspan(at);
  if (is_run(index)) {
    return {chunk(index), members, ContainerKind::kRun, rest.first(run_bytes(run_count(rest)))};
  }
  return {chunk(index), members, plain_kind(members), rest.first(plain_bytes(members))};
}

std::uint64_t PortableMap::cardinality() const noexcept {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < count_; ++i)
    sum += cardinality(i);
  return sum;
}

Result<PortableMaps, ValueFault> PortableMaps::parse(ByteView payload, EmptyMaps empty_maps) {
  if (payload.size() < kMapCountBytes) return base::fail(ValueFault::kTruncated);
  auto left = load_le<std::uint64_t>(payload.data());
  if (left == 0 && empty_maps == EmptyMaps::kRefused) return base::fail(ValueFault::kBadCount);
  PortableMaps maps;
  maps.payload_ = payload;
  std::size_t at = kMapCountBytes;
  for (; left > 0; --left) {  // A count that is too large ends where the bytes do.
    if (payload.size() - at < kMapHighBytes) return base::fail(ValueFault::kTruncated);
    const auto high = load_le<std::uint32_t>(payload.data() + at);
    if (at > kMapCountBytes && high <= maps.high_at(maps.last_at_)) {
      return base::fail(ValueFault::kUnorderedHigh);
    }
    const auto map =
        CAD_TRY(PortableMap::parse(payload.subspan(at + kMapHighBytes), high, empty_maps));
    maps.cardinality_ += map.cardinality();
    maps.container_count_ += map.count();
    maps.last_at_ = at;
    at = next_at(at, map);
  }
  if (at != payload.size()) return base::fail(ValueFault::kTrailingBytes);
  return maps;
}

std::uint32_t PortableMaps::high_at(std::size_t at) const noexcept {
  return load_le<std::uint32_t>(payload_.data() + at);
}

PortableMap PortableMaps::map_at(std::size_t at) const noexcept {
  return PortableMap::parsed(payload_.subspan(at + kMapHighBytes), high_at(at));
}

void PortableSize::add(std::uint64_t chunk, std::size_t container_bytes, bool is_run) noexcept {
  if (open_count_ > 0 && high_of(chunk) != high_) {
    closed_bytes_ = bytes();
    open_count_ = 0;
    open_container_bytes_ = 0;
    open_has_runs_ = false;
  }
  high_ = high_of(chunk);
  ++open_count_;
  open_container_bytes_ += container_bytes;
  open_has_runs_ |= is_run;
}

std::size_t PortableSize::bytes() const noexcept {
  if (open_count_ == 0) return closed_bytes_;
  return closed_bytes_ + kMapHighBytes + front_bytes(open_count_, open_has_runs_) +
         open_container_bytes_;
}

namespace {

// Containers [first, last) of one bitmap.
std::size_t map_end(std::span<const ContainerView> containers, std::size_t first) noexcept {
  std::size_t last = first + 1;
  while (last < containers.size() &&
         high_of(containers[last].chunk) == high_of(containers[first].chunk))
    ++last;
  return last;
}

bool any_run(std::span<const ContainerView> containers) noexcept {
  for (const ContainerView& container : containers) {
    if (container.kind == ContainerKind::kRun) return true;
  }
  return false;
}

// Neighbours that lie side by side, as those of a loaded value do, are copied in one piece.
std::byte* copy_containers(std::byte* to, std::span<const ContainerView> containers) noexcept {
  std::size_t i = 0;
  while (i < containers.size()) {
    const std::byte* const from = containers[i].bytes.data();
    std::size_t size = 0;
    do {
      size += containers[i++].bytes.size();
    } while (i < containers.size() && containers[i].bytes.data() == from + size);
    std::memcpy(to, from, size);
    to += size;
  }
  return to;
}

// Cookie, and the count or the flags; returns where headers begin.
std::byte* write_front(std::byte* to, std::span<const ContainerView> map, bool has_runs) noexcept {
  const auto count = static_cast<std::uint32_t>(map.size());
  if (!has_runs) {
    store_le(to, kCookiePlain);
    store_le(to + kCookieBytes, count);
    return to + kCookieBytes + kPlainCountBytes;
  }
  store_le(to, kCookieRuns | (count - 1) << kCookieCountShift);
  std::byte* const flags = to + kCookieBytes;
  std::memset(flags, 0, flag_bytes(count));
  for (std::size_t i = 0; i < count; ++i) {
    if (map[i].kind == ContainerKind::kRun) {
      flags[i / kFlagsPerByte] |= std::byte{1} << (i % kFlagsPerByte);
    }
  }
  return flags + flag_bytes(count);
}

std::byte* write_map(std::byte* to, std::span<const ContainerView> map) noexcept {
  store_le(to, static_cast<std::uint32_t>(high_of(map.front().chunk)));
  to += kMapHighBytes;
  const bool has_runs = any_run(map);
  std::byte* at = write_front(to, map, has_runs);
  for (const ContainerView& container : map) {
    store_le(at, static_cast<std::uint16_t>(container.chunk));
    store_le(at + sizeof(std::uint16_t), static_cast<std::uint16_t>(container.cardinality - 1));
    at += kHeaderBytes;
  }
  const std::size_t containers_at = front_bytes(map.size(), has_runs);
  if (!has_runs || map.size() >= kOffsetsFrom) {
    std::size_t offset = containers_at;
    for (const ContainerView& container : map) {
      store_le(at, static_cast<std::uint32_t>(offset));
      at += kOffsetBytes;
      offset += container.bytes.size();
    }
  }
  return copy_containers(to + containers_at, map);
}

}  // namespace

void write_portable(std::byte* to, std::span<const ContainerView> containers) noexcept {
  std::byte* const count_at = to;
  to += kMapCountBytes;
  std::uint64_t maps = 0;
  for (std::size_t first = 0; first < containers.size(); ++maps) {
    const std::size_t last = map_end(containers, first);
    to = write_map(to, containers.subspan(first, last - first));
    first = last;
  }
  store_le(count_at, maps);
}

}  // namespace cadastre::bitmap
