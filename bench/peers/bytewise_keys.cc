#include "bench/peers/bytewise_keys.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/bytes.h"

namespace cadastre::bench {
namespace {

unsigned byte_or_zero(base::ByteView key, std::size_t at) {
  return at < key.size() ? std::to_integer<unsigned>(key[at]) : 0;
}

bool inside(base::ByteView a, base::ByteView key, base::ByteView b) {
  return base::less(a, key) && base::less(key, b);
}

}  // namespace

bool bytewise_midpoint(base::ByteView a, base::ByteView b, PeerKey& out) {
  if (!base::less(a, b)) return false;
  const std::size_t width = std::max(a.size(), b.size());
  if (width > kPeerKeyMax) return false;
  std::array<std::byte, kPeerKeyMax + 1> sum{};  // One byte more than the keys, for the carry.
  unsigned carry = 0;
  for (std::size_t i = width; i > 0; --i) {
    const unsigned total = byte_or_zero(a, i - 1) + byte_or_zero(b, i - 1) + carry;
    sum[i] = static_cast<std::byte>(total & 0xff);
    carry = total >> 8;
  }
  sum[0] = static_cast<std::byte>(carry);
  unsigned remainder = 0;
  for (std::size_t i = 0; i <= width; ++i) {
    const unsigned value = remainder << 8 | std::to_integer<unsigned>(sum[i]);
    sum[i] = static_cast<std::byte>(value / 2);
    remainder = value % 2;
  }
  std::copy_n(sum.begin() + 1, width, out.bytes.begin());
  out.size = width;
  if (inside(a, out.view(), b)) return true;
  if (a.size() >= kPeerKeyMax) return bytewise_prefix_successor(a, out) && inside(a, out.view(), b);
  std::ranges::copy(a, out.bytes.begin());
  out.bytes[a.size()] = std::byte{0};
  out.size = a.size() + 1;
  return inside(a, out.view(), b);
}

bool bytewise_prefix_successor(base::ByteView prefix, PeerKey& out) {
  std::size_t size = prefix.size();
  while (size > 0 && prefix[size - 1] == std::byte{0xff})
    --size;
  if (size == 0 || prefix.size() > kPeerKeyMax) return false;
  for (std::size_t i = 0; i < size; ++i)
    out.bytes[i] = prefix[i];
  out.bytes[size - 1] = static_cast<std::byte>(std::to_integer<unsigned>(out.bytes[size - 1]) + 1);
  out.size = size;
  return true;
}

}  // namespace cadastre::bench
