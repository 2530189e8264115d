#include "cli/json_answer.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/result.h"
#include "cli/command_error.h"
#include "cli/json_text.h"
#include "cli/key_text.h"
#include "cli/options.h"

namespace cadastre::cli {

void JsonAnswer::separate() {
  if (out_.back() != '{' && out_.back() != '[') out_ += ',';
}

void JsonAnswer::begin(std::string_view name) {
  separate();
  append_json_string(out_, name);
  out_ += ':';
}

void JsonAnswer::append_key_text(base::ByteView value) {
  if (!is_printable(value, keys_)) {
    unprintable_ = true;
    return;
  }
  std::string text;
  append_key(text, value, keys_);
  append_json_string(out_, text);
}

JsonAnswer& JsonAnswer::number(std::string_view name, std::uint64_t value) {
  begin(name);
  append_json_u64(out_, value);
  return *this;
}

JsonAnswer& JsonAnswer::text(std::string_view name, std::string_view value) {
  begin(name);
  append_json_string(out_, value);
  return *this;
}

JsonAnswer& JsonAnswer::key(std::string_view name, base::ByteView value) {
  begin(name);
  append_key_text(value);
  return *this;
}

JsonAnswer& JsonAnswer::hex(std::string_view name, base::ByteView bytes) {
  begin(name);
  out_ += '"';
  base::append_hex(out_, bytes);
  out_ += '"';
  return *this;
}

JsonAnswer& JsonAnswer::flag(std::string_view name, bool value) {
  begin(name);
  out_ += value ? "true" : "false";
  return *this;
}

JsonAnswer& JsonAnswer::fraction(std::string_view name, double value) {
  begin(name);
  out_ += fmt::format("{:.4f}", value);
  return *this;
}

JsonAnswer& JsonAnswer::null(std::string_view name) {
  begin(name);
  out_ += "null";
  return *this;
}

JsonAnswer& JsonAnswer::number_or_null(std::string_view name, std::optional<std::uint64_t> value) {
  return value ? number(name, *value) : null(name);
}

JsonAnswer& JsonAnswer::text_or_null(std::string_view name, std::optional<std::string_view> value) {
  return value ? text(name, *value) : null(name);
}

JsonAnswer& JsonAnswer::key_or_null(std::string_view name, std::optional<base::ByteView> value) {
  return value ? key(name, *value) : null(name);
}

JsonAnswer& JsonAnswer::hex_or_null(std::string_view name, std::optional<base::ByteView> bytes) {
  return bytes ? hex(name, *bytes) : null(name);
}

JsonAnswer& JsonAnswer::open(std::string_view name) {
  begin(name);
  out_ += '{';
  return *this;
}

JsonAnswer& JsonAnswer::open_list(std::string_view name) {
  begin(name);
  out_ += '[';
  return *this;
}

JsonAnswer& JsonAnswer::open_element() {
  return element("{");
}

JsonAnswer& JsonAnswer::close() {
  out_ += '}';
  return *this;
}

JsonAnswer& JsonAnswer::close_list() {
  out_ += ']';
  return *this;
}

JsonAnswer& JsonAnswer::element(std::string_view json) {
  separate();
  out_ += json;
  return *this;
}

JsonAnswer& JsonAnswer::number_element(std::uint64_t value) {
  separate();
  append_json_u64(out_, value);
  return *this;
}

JsonAnswer& JsonAnswer::key_element(base::ByteView value) {
  separate();
  append_key_text(value);
  return *this;
}

Result<std::string, CommandError> JsonAnswer::finish() && {
  if (unprintable_) return base::fail(not_utf8("a key of the answer"));
  out_ += '}';
  return std::move(out_);
}

}  // namespace cadastre::cli
