#include "bitmap/key_codec.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "base/bytes.h"
#include "base/check.h"
#include "base/endian.h"
#include "base/result.h"
#include "base/xxh3.h"
#include "bitmap/faults.h"
#include "bitmap/ids.h"
#include "bitmap/limits.h"

namespace cadastre::bitmap {
namespace {

constexpr std::uint32_t kDescriptorMarker = std::numeric_limits<std::uint32_t>::max();
static_assert(kBaseKeyBytesMax < kDescriptorMarker, "the marker is no length");

template <class T>
void append_be(StoredKey& key, T value) noexcept {
  std::array<std::byte, sizeof(T)> bytes{};
  base::store_be(bytes.data(), value);
  key.append(bytes);
}

// Reads integers from the front of a key.
template <class T>
T take_be(ByteView& rest) noexcept {
  const auto value = base::load_be<T>(rest.data());
  rest = rest.subspan(sizeof(T));
  return value;
}

}  // namespace

void StoredKey::append(ByteView bytes) noexcept {
  CAD_CHECK(bytes.size() <= bytes_.size() - size_, "base keys are checked before keys are built");
  std::ranges::copy(bytes, bytes_.begin() + static_cast<std::ptrdiff_t>(size_));
  size_ += bytes.size();
}

Result<void, KeyFault> check_base_key(ByteView base_key) {
  if (base_key.size() > kBaseKeyBytesMax) return base::fail(KeyFault::kTooLong);
  return {};
}

StoredKey listing_prefix(std::size_t base_key_bytes, ByteView start) noexcept {
  CAD_CHECK(base_key_bytes <= kBaseKeyBytesMax, "base keys are checked before keys are built");
  CAD_CHECK(start.size() <= base_key_bytes, "a key is not shorter than its beginning");
  StoredKey key;
  append_be(key, static_cast<std::uint32_t>(base_key_bytes));
  key.append(start);
  return key;
}

StoredKey key_prefix(ByteView base_key) noexcept {
  return listing_prefix(base_key.size(), base_key);
}

StoredKey stats_key(ByteView base_key, Shard shard) noexcept {
  StoredKey key = key_prefix(base_key);
  append_be(key, shard.value());
  return key;
}

StoredKey segment_key(ByteView base_key, Shard shard, Id fence) noexcept {
  StoredKey key = stats_key(base_key, shard);
  append_be(key, fence.value());
  return key;
}

StoredKey rolled_segment_key(ByteView base_key, Shard shard, std::uint16_t segment) noexcept {
  StoredKey key = stats_key(base_key, shard);
  append_be(key, segment);
  return key;
}

StoredKey descriptor_key() noexcept {
  StoredKey key;
  append_be(key, kDescriptorMarker);
  key.append(base::as_bytes("descriptor"));
  return key;
}

std::optional<StoredKey> prefix_end(ByteView prefix) noexcept {
  constexpr std::byte kTop{0xff};
  while (!prefix.empty() && prefix.back() == kTop)
    prefix = prefix.first(prefix.size() - 1);
  if (prefix.empty()) return std::nullopt;
  const auto next = static_cast<std::byte>(std::to_integer<unsigned>(prefix.back()) + 1);
  StoredKey end;
  end.append(prefix.first(prefix.size() - 1));
  end.append(ByteView(&next, 1));
  return end;
}

Result<DecodedKey, KeyFault> decode_key(ByteView key) {
  if (key.size() < sizeof(std::uint32_t)) return base::fail(KeyFault::kTruncated);
  ByteView rest = key;
  const auto base_key_bytes = take_be<std::uint32_t>(rest);
  if (base_key_bytes == kDescriptorMarker) {
    if (!base::equal(key, descriptor_key())) return base::fail(KeyFault::kBadDescriptor);
    return DescriptorKey{};
  }
  if (base_key_bytes > kBaseKeyBytesMax) return base::fail(KeyFault::kTooLong);
  if (rest.size() < base_key_bytes) return base::fail(KeyFault::kTruncated);
  const ByteView base_key = rest.first(base_key_bytes);
  rest = rest.subspan(base_key_bytes);
  if (rest.size() < sizeof(std::uint16_t)) return base::fail(KeyFault::kBadLength);
  const Shard shard{take_be<std::uint16_t>(rest)};
  switch (rest.size()) {
    case 0: return StatsKey{base_key, shard};
    case sizeof(std::uint16_t):
      return RolledSegmentKey{base_key, shard, take_be<std::uint16_t>(rest)};
    case sizeof(std::uint64_t):
      return SegmentKey{base_key, shard, Id{take_be<std::uint64_t>(rest)}};
    default: return base::fail(KeyFault::kBadLength);
  }
}

std::uint64_t shard_hash(ByteView base_key, Id id, std::uint8_t grain_bits) noexcept {
  CAD_CHECK(base_key.size() <= kBaseKeyBytesMax, "base keys are checked before they are hashed");
  CAD_CHECK(grain_bits <= kShardGrainBitsMax, "settings are checked when a table is opened");
  std::array<std::byte, kBaseKeyBytesMax + sizeof(std::uint64_t)>
      bytes;  // NOLINT(cppcoreguidelines-pro-type-member-init): hashed as far as it is filled
  std::ranges::copy(base_key, bytes.begin());
  base::store_be(bytes.data() + base_key.size(), id.value() >> grain_bits);
  return base::xxh3_64(ByteView(bytes).first(base_key.size() + sizeof(std::uint64_t)));
}

Shard choose_shard(ByteView base_key, Id id, ShardRule rule) noexcept {
  if (rule.count == 1) return Shard{0};
  CAD_CHECK(rule.count != 0, "settings are checked when a table is opened");
  const std::uint64_t hash = shard_hash(base_key, id, rule.grain_bits);
  return Shard{static_cast<std::uint16_t>(hash % rule.count)};
}

}  // namespace cadastre::bitmap
