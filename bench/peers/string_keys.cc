#include "bench/peers/string_keys.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cadastre::bench {
namespace {

__extension__ using Wide = unsigned __int128;

unsigned byte_or_zero(std::string_view key, std::size_t at) {
  return at < key.size() ? static_cast<unsigned char>(key[at]) : 0U;
}

Wide as_number(std::string_view key, std::size_t width) {
  Wide value = 0;
  for (std::size_t i = 0; i < width; ++i)
    value = value << 8 | byte_or_zero(key, i);
  return value;
}

}  // namespace

bool string_midpoint(std::string_view a, std::string_view b, std::string& out) {
  if (a >= b) return false;
  const std::size_t width = std::max(a.size(), b.size());
  out.assign(width, '\0');
  unsigned carry = 0;
  for (std::size_t i = width; i > 0; --i) {
    const unsigned total = byte_or_zero(a, i - 1) + byte_or_zero(b, i - 1) + carry;
    out[i - 1] = static_cast<char>(total & 0xff);
    carry = total >> 8;
  }
  unsigned remainder = carry;
  for (char& digit : out) {
    const unsigned value = remainder << 8 | static_cast<unsigned char>(digit);
    digit = static_cast<char>(value >> 1);
    remainder = value & 1;
  }
  if (a < out && out < b) return true;
  out.assign(a);
  out.push_back('\0');
  return out < b;
}

bool string_prefix_successor(std::string_view prefix, std::string& out) {
  out.assign(prefix);
  while (!out.empty() && out.back() == '\xff')
    out.pop_back();
  if (out.empty()) return false;
  out.back() = static_cast<char>(out.back() + 1);
  return true;
}

void string_key_successor(std::string_view key, std::string& out) {
  out.assign(key);
  out.push_back('\0');
}

void append_u64(std::string& out, std::uint64_t value) {
  for (int shift = 56; shift >= 0; shift -= 8)
    out.push_back(static_cast<char>(value >> shift & 0xff));
}

std::vector<std::string> string_split_points(std::string_view a,
                                             std::string_view b,
                                             std::uint64_t count) {
  constexpr std::size_t kWidth = 8;
  const Wide low = as_number(a, kWidth);
  const Wide gap = as_number(b, kWidth) - low;
  std::vector<std::string> points;
  points.reserve(count - 1);
  for (std::uint64_t i = 1; i < count; ++i) {
    std::string key;
    append_u64(key, static_cast<std::uint64_t>(low + gap * i / count));
    points.push_back(std::move(key));
  }
  return points;
}

}  // namespace cadastre::bench
