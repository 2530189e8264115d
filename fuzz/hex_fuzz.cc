// base/bytes.h on any bytes: hexadecimal both ways, and UTF-8 against a decoder that does
// arithmetic where the original has a table.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/check.h"
#include "fuzz/target.h"

namespace cadastre::fuzz {
namespace {

using base::ByteView;

bool is_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

std::string lower(std::string_view digits) {
  std::string out(digits);
  for (char& c : out) {
    if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

void check_hex(ByteView input) {
  const std::string digits = base::to_hex(input);
  const auto back = base::from_hex(digits);
  CAD_CHECK(back && base::equal(*back, input), "what was encoded decodes to itself");

  const std::string_view text = base::as_text(input);
  bool well_formed = text.size() % 2 == 0;
  for (const char c : text)
    well_formed = well_formed && is_digit(c);
  const auto bytes = base::from_hex(text);
  CAD_CHECK(bytes.has_value() == well_formed, "exactly pairs of digits decode");
  if (bytes) CAD_CHECK(base::to_hex(*bytes) == lower(text), "a decoded text encodes to itself");
}

// Bytes of a sequence by the leading ones of its first byte; 0 if there are one, or five or more.
std::size_t sequence_bytes(std::uint8_t lead) {
  if ((lead & 0x80U) == 0) return 1;
  if ((lead & 0xe0U) == 0xc0) return 2;
  if ((lead & 0xf0U) == 0xe0) return 3;
  if ((lead & 0xf8U) == 0xf0) return 4;
  return 0;
}

std::size_t shortest_bytes(std::uint32_t point) {
  if (point < 0x80) return 1;
  if (point < 0x800) return 2;
  return point < 0x10000 ? 3 : 4;
}

// Bytes of the well-formed sequence at the front of `text`, or 0.
std::size_t well_formed_front(ByteView text) {
  const auto lead = std::to_integer<std::uint8_t>(text[0]);
  const std::size_t size = sequence_bytes(lead);
  if (size == 0 || size > text.size()) return 0;
  std::uint32_t point = size == 1 ? lead : lead & (0x7fU >> size);
  for (const std::byte byte : text.subspan(1, size - 1)) {
    const auto value = std::to_integer<std::uint32_t>(byte);
    if ((value & 0xc0U) != 0x80) return 0;
    point = point << 6 | (value & 0x3fU);
  }
  const bool surrogate = point >= 0xd800 && point <= 0xdfff;
  return surrogate || point > 0x10ffff || shortest_bytes(point) != size ? 0 : size;
}

void check_utf8(ByteView input) {
  std::size_t at = 0;
  while (at < input.size()) {
    const std::size_t size = well_formed_front(input.subspan(at));
    if (size == 0) break;
    at += size;
  }
  const auto expected = at == input.size() ? std::nullopt : std::optional(at);
  CAD_CHECK(base::find_invalid_utf8(input) == expected,
            "the first bad byte is where decoding stops");
}

}  // namespace

void run_one(ByteView input) {
  check_hex(input);
  check_utf8(input);
}

}  // namespace cadastre::fuzz
