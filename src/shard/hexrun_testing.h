// Byte strings as the tests write them: lower-case hexadecimal in which (XX*N) is N times the byte
// XX, so that keys at the size limit stay readable. "61(ff*4095)" is one byte 61 and 4095 bytes ff.

#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "base/bytes.h"
#include "base/check.h"

namespace cadastre::shard {

inline constexpr std::size_t kHexrunBytesMax = std::size_t{1} << 20;

// One run, without its parentheses: "XX*N".
[[nodiscard]] inline std::optional<base::Bytes> parse_run(std::string_view run) {
  const std::size_t star = run.find('*');
  if (star != 2) return std::nullopt;
  const auto byte = base::from_hex(run.substr(0, star));
  const std::string_view digits = run.substr(star + 1);
  std::size_t count = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
  if (!byte || error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  if (count == 0 || count > kHexrunBytesMax) return std::nullopt;
  return base::Bytes(count, byte->front());
}

// Nothing when `text` is not in the notation.
[[nodiscard]] inline std::optional<base::Bytes> parse_hexrun(std::string_view text) {
  if (text.find_first_of("ABCDEF") != std::string_view::npos) return std::nullopt;
  base::Bytes out;
  while (!text.empty()) {
    const std::size_t open = std::min(text.find('('), text.size());
    const auto plain = base::from_hex(text.substr(0, open));
    if (!plain) return std::nullopt;
    out.insert(out.end(), plain->begin(), plain->end());
    text.remove_prefix(open);
    if (text.empty()) break;
    const std::size_t close = text.find(')');
    if (close == std::string_view::npos) return std::nullopt;
    const auto run = parse_run(text.substr(1, close - 1));
    if (!run) return std::nullopt;
    out.insert(out.end(), run->begin(), run->end());
    text.remove_prefix(close + 1);
  }
  return out;
}

[[nodiscard]] inline base::Bytes hex(std::string_view text) {
  const auto bytes = parse_hexrun(text);
  CAD_CHECK(bytes.has_value(), "a test writes its bytes as lower-case hexadecimal with runs");
  return *bytes;
}

// For comparisons whose failure shows both sides.
[[nodiscard]] inline std::string shown(std::optional<base::ByteView> bytes) {
  return bytes ? base::to_hex(*bytes) : "none";
}

}  // namespace cadastre::shard
