#include "cli/json_answer.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

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
  if (keys_ == KeyForm::kHex) return hex(name, value);
  unprintable_ = unprintable_ || !is_printable(value, keys_);
  return text(name, unprintable_ ? std::string_view() : base::as_text(value));
}

JsonAnswer& JsonAnswer::hex(std::string_view name, base::ByteView bytes) {
  begin(name);
  out_ += '"';
  base::append_hex(out_, bytes);
  out_ += '"';
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

Result<std::string, CommandError> JsonAnswer::finish() && {
  if (unprintable_) return base::fail(not_utf8("a key of the answer"));
  out_ += '}';
  return std::move(out_);
}

}  // namespace cadastre::cli
