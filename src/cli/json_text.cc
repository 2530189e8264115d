#include "cli/json_text.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "cli/limits.h"

namespace cadastre::cli {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";

bool needs_escape(char letter) noexcept {
  return static_cast<unsigned char>(letter) < 0x20 || letter == '"' || letter == '\\';
}

void append_escape(std::string& out, char letter) {
  out += '\\';
  switch (letter) {
    case '"':
    case '\\': out += letter; return;
    case '\b': out += 'b'; return;
    case '\f': out += 'f'; return;
    case '\n': out += 'n'; return;
    case '\r': out += 'r'; return;
    case '\t': out += 't'; return;
    default: break;
  }
  const auto value = static_cast<unsigned char>(letter);
  out += "u00";
  out += kHexDigits[value >> 4U];
  out += kHexDigits[value & 0x0fU];
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  std::size_t plain_from = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!needs_escape(text[i])) continue;
    out.append(text, plain_from, i - plain_from);
    append_escape(out, text[i]);
    plain_from = i + 1;
  }
  out.append(text, plain_from);
  out += '"';
}

void append_decimal(std::string& out, std::uint64_t value) {
  std::array<char, 20> digits{};
  const char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out.append(digits.data(), static_cast<std::size_t>(end - digits.data()));
}

void append_json_u64(std::string& out, std::uint64_t value) {
  if (value <= kJsonIntegerMax) return append_decimal(out, value);
  out += '"';
  append_decimal(out, value);
  out += '"';
}

}  // namespace cadastre::cli
