#include "cli/key_text.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/result.h"
#include "cli/command_error.h"
#include "cli/options.h"

namespace cadastre::cli {
namespace {

bool is_hidden(char letter) noexcept {
  const auto value = static_cast<unsigned char>(letter);
  return value < 0x20 || value == 0x7f || letter == '\\';
}

void append_byte_escape(std::string& out, char letter) {
  out += "\\x";
  base::append_hex(out, base::as_bytes(std::string_view(&letter, 1)));
}

void append_visible(std::string& out, char letter) {
  if (is_hidden(letter)) {
    append_byte_escape(out, letter);
  } else {
    out += letter;
  }
}

}  // namespace

Result<base::Bytes, CommandError> parse_key(std::string_view typed,
                                            KeyForm form,
                                            std::string_view what) {
  if (form == KeyForm::kHex) return parse_hex(typed, what);
  if (!is_printable(base::as_bytes(typed), form)) return base::fail(not_utf8(what));
  return base::to_owned(base::as_bytes(typed));
}

Result<base::Bytes, CommandError> parse_hex(std::string_view typed, std::string_view what) {
  auto bytes = base::from_hex(typed);
  if (!bytes) return base::fail(bad_hex(what));
  return *std::move(bytes);
}

bool is_printable(base::ByteView key, KeyForm form) noexcept {
  return form == KeyForm::kHex || !base::find_invalid_utf8(key);
}

void append_key(std::string& out, base::ByteView key, KeyForm form) {
  if (form == KeyForm::kHex) {
    base::append_hex(out, key);
  } else {
    out += base::as_text(key);
  }
}

std::optional<std::uint64_t> parse_u64(std::string_view digits) noexcept {
  std::uint64_t value = 0;
  const char* const end = digits.data() + digits.size();
  // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): `end` says where it stops
  const auto [stopped_at, error] = std::from_chars(digits.data(), end, value);
  if (error != std::errc{} || stopped_at != end) return std::nullopt;
  return value;
}

Result<std::uint64_t, CommandError> parse_argument_u64(std::string_view typed,
                                                       std::string_view what) {
  if (const auto value = parse_u64(typed)) return *value;
  return base::fail(usage_error(fmt::format("{} is not a whole number from 0 to 2^64 - 1", what)));
}

std::string visible_text(std::string_view text) {
  std::string visible;
  visible.reserve(text.size());
  while (!text.empty()) {
    const std::size_t valid = base::find_invalid_utf8(base::as_bytes(text)).value_or(text.size());
    for (const char letter : text.substr(0, valid))
      append_visible(visible, letter);
    text.remove_prefix(valid);
    if (text.empty()) break;
    append_byte_escape(visible, text.front());
    text.remove_prefix(1);
  }
  return visible;
}

std::string bound_text(base::ByteView key, KeyForm form) {
  if (key.empty()) return "-";
  if (form == KeyForm::kHex) return base::to_hex(key);
  return visible_text(base::as_text(key));
}

std::size_t column_count(std::string_view text) noexcept {
  const auto starts_code_point = [](char letter) {
    return (static_cast<unsigned char>(letter) & 0xc0U) != 0x80U;
  };
  return static_cast<std::size_t>(std::ranges::count_if(text, starts_code_point));
}

}  // namespace cadastre::cli
