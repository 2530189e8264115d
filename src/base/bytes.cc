#include "base/bytes.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cadastre::base {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";
constexpr std::uint8_t kNoDigit = 0xff;

constexpr std::array<std::uint8_t, 256> kDigitValues = [] {
  std::array<std::uint8_t, 256> values{};
  values.fill(kNoDigit);
  for (std::size_t i = 0; i < 10; ++i)
    values[static_cast<std::size_t>('0') + i] = static_cast<std::uint8_t>(i);
  for (std::size_t i = 0; i < 6; ++i) {
    values[static_cast<std::size_t>('a') + i] = static_cast<std::uint8_t>(10 + i);
    values[static_cast<std::size_t>('A') + i] = static_cast<std::uint8_t>(10 + i);
  }
  return values;
}();

std::uint8_t digit_value(char digit) noexcept {
  return kDigitValues[static_cast<unsigned char>(digit)];
}

// What the first byte of a UTF-8 sequence asks of the bytes behind it.
struct SequenceRule {
  std::size_t continuation_bytes;
  std::uint8_t second_min;  // Narrower than 80..bf where a wider one would be overlong,
  std::uint8_t second_max;  // a surrogate, or above U+10FFFF.
};

std::optional<SequenceRule> rule_for(std::uint8_t lead) noexcept {
  if (lead < 0x80) return SequenceRule{0, 0, 0};
  if (lead >= 0xc2 && lead <= 0xdf) return SequenceRule{1, 0x80, 0xbf};
  if (lead == 0xe0) return SequenceRule{2, 0xa0, 0xbf};
  if (lead == 0xed) return SequenceRule{2, 0x80, 0x9f};
  if (lead >= 0xe1 && lead <= 0xef) return SequenceRule{2, 0x80, 0xbf};
  if (lead == 0xf0) return SequenceRule{3, 0x90, 0xbf};
  if (lead >= 0xf1 && lead <= 0xf3) return SequenceRule{3, 0x80, 0xbf};
  if (lead == 0xf4) return SequenceRule{3, 0x80, 0x8f};
  return std::nullopt;
}

bool continues(ByteView text, std::size_t at, const SequenceRule& rule) noexcept {
  if (text.size() - at <= rule.continuation_bytes) return false;
  for (std::size_t i = 1; i <= rule.continuation_bytes; ++i) {
    const auto byte = std::to_integer<std::uint8_t>(text[at + i]);
    const std::uint8_t least = i == 1 ? rule.second_min : 0x80;
    const std::uint8_t most = i == 1 ? rule.second_max : 0xbf;
    if (byte < least || byte > most) return false;
  }
  return true;
}

}  // namespace

void append_hex(std::string& out, ByteView bytes) {
  const std::size_t before = out.size();
  out.resize(before + 2 * bytes.size());
  char* next = out.data() + before;
  for (const std::byte byte : bytes) {
    const auto value = std::to_integer<unsigned>(byte);
    *next++ = kDigits[value >> 4];
    *next++ = kDigits[value & 15];
  }
}

std::string to_hex(ByteView bytes) {
  std::string out;
  append_hex(out, bytes);
  return out;
}

std::optional<Bytes> from_hex(std::string_view digits) {
  if (digits.size() % 2 != 0) return std::nullopt;
  Bytes out(digits.size() / 2);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::uint8_t high = digit_value(digits[2 * i]);
    const std::uint8_t low = digit_value(digits[2 * i + 1]);
    if (high == kNoDigit || low == kNoDigit) return std::nullopt;
    out[i] = static_cast<std::byte>(high << 4 | low);
  }
  return out;
}

std::optional<std::size_t> find_invalid_utf8(ByteView text) noexcept {
  std::size_t at = 0;
  while (at < text.size()) {
    const auto rule = rule_for(std::to_integer<std::uint8_t>(text[at]));
    if (!rule || !continues(text, at, *rule)) return at;
    at += 1 + rule->continuation_bytes;
  }
  return std::nullopt;
}

}  // namespace cadastre::base
