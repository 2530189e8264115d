// The midpoint by its definition: three candidates, the first one strictly inside wins. Too slow and
// too plain to be wrong; byte_midpoint computes the same by cases.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace cadastre::shard {

enum class MidpointPath : std::uint8_t {
  kNone,
  kNormalized,  // the quotient in as many bytes as the longer key
  kFixed,       // the quotient with one leading zero byte
  kSuccessor,   // the key right behind the lower one
};

[[nodiscard]] constexpr std::string_view path_name(MidpointPath path) noexcept {
  switch (path) {
    case MidpointPath::kNone: return "none";
    case MidpointPath::kNormalized: return "normalized";
    case MidpointPath::kFixed: return "fixed";
    case MidpointPath::kSuccessor: return "successor";
  }
  return "unknown";
}

struct ReferenceMidpoint {
  MidpointPath path = MidpointPath::kNone;
  base::Bytes key;  // empty where there is none

  [[nodiscard]] std::optional<base::ByteView> view() const noexcept {
    if (path == MidpointPath::kNone) return std::nullopt;
    return key;
  }
};

// floor((A + B) / 2) in width + 1 bytes, where A and B are the keys padded with zeros to `width`.
[[nodiscard]] inline base::Bytes reference_half_sum(base::ByteView a,
                                                    base::ByteView b,
                                                    std::size_t width) {
  std::vector<unsigned> sum(width + 1, 0);
  unsigned carry = 0;
  for (std::size_t i = width; i > 0; --i) {
    const unsigned a_digit = i <= a.size() ? std::to_integer<unsigned>(a[i - 1]) : 0;
    const unsigned b_digit = i <= b.size() ? std::to_integer<unsigned>(b[i - 1]) : 0;
    const unsigned digit = a_digit + b_digit + carry;
    sum[i] = digit % 256;
    carry = digit / 256;
  }
  sum[0] = carry;
  base::Bytes half;
  unsigned remainder = 0;
  for (const unsigned digit : sum) {
    const unsigned value = remainder * 256 + digit;
    half.push_back(static_cast<std::byte>(value / 2));
    remainder = value % 2;
  }
  return half;
}

// The next key of at most `key_bytes_max` bytes.
[[nodiscard]] inline std::optional<base::Bytes> reference_successor(base::ByteView key,
                                                                    std::size_t key_bytes_max) {
  base::Bytes next = base::to_owned(key);
  if (next.size() < key_bytes_max) {
    next.push_back(std::byte{0});
    return next;
  }
  while (!next.empty() && next.back() == std::byte{0xff})
    next.pop_back();
  if (next.empty()) return std::nullopt;
  next.back() = static_cast<std::byte>(std::to_integer<unsigned>(next.back()) + 1);
  return next;
}

[[nodiscard]] inline ReferenceMidpoint reference_midpoint(base::ByteView a,
                                                          base::ByteView b,
                                                          std::size_t key_bytes_max) {
  const std::size_t width = std::max(a.size(), b.size());
  if (!base::less(a, b) || width > key_bytes_max) return {};
  const auto inside = [&](base::ByteView key) {
    return base::less(a, key) && base::less(key, b);
  };

  const base::Bytes fixed = reference_half_sum(a, b, width);
  const base::Bytes normalized(fixed.begin() + 1, fixed.end());
  if (fixed.front() == std::byte{0} && inside(normalized)) {
    return {MidpointPath::kNormalized, normalized};
  }
  if (width + 1 <= key_bytes_max && inside(fixed)) return {MidpointPath::kFixed, fixed};
  const auto successor = reference_successor(a, key_bytes_max);
  if (successor && inside(*successor)) return {MidpointPath::kSuccessor, *successor};
  return {};
}

}  // namespace cadastre::shard
