// JsonAnswer: writes one JSON object, field by field, with commas where they belong.
//
//   JsonAnswer answer(KeyForm::kText);
//   answer.open("lease").number("run", 1).close();      // {"lease":{"run":1}}
//   return std::move(answer).finish();
//
// Integers above 2^53 - 1 become decimal strings. A key that the form cannot print makes the whole
// answer the error `not_utf8`.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "cli/command_error.h"
#include "cli/options.h"

namespace cadastre::cli {

using base::Result;

class JsonAnswer {
 public:
  explicit JsonAnswer(KeyForm keys) : keys_(keys), out_("{") {}

  JsonAnswer& number(std::string_view name, std::uint64_t value);
  JsonAnswer& text(std::string_view name, std::string_view value);  // valid UTF-8
  JsonAnswer& key(std::string_view name, base::ByteView value);
  JsonAnswer& hex(std::string_view name, base::ByteView bytes);
  JsonAnswer& flag(std::string_view name, bool value);
  JsonAnswer& fraction(std::string_view name, double value);  // to four places, 0 or more
  JsonAnswer& null(std::string_view name);

  // Null where there is nothing.
  JsonAnswer& number_or_null(std::string_view name, std::optional<std::uint64_t> value);
  JsonAnswer& text_or_null(std::string_view name, std::optional<std::string_view> value);
  JsonAnswer& key_or_null(std::string_view name, std::optional<base::ByteView> value);
  JsonAnswer& hex_or_null(std::string_view name, std::optional<base::ByteView> bytes);

  // An object as a field, an array as a field, and an object in an array; each is closed.
  JsonAnswer& open(std::string_view name);
  JsonAnswer& open_list(std::string_view name);
  JsonAnswer& open_element();
  JsonAnswer& close();
  JsonAnswer& close_list();
  // In an array: a finished object, a number, a key.
  JsonAnswer& element(std::string_view json);
  JsonAnswer& number_element(std::uint64_t value);
  JsonAnswer& key_element(base::ByteView value);

  [[nodiscard]] Result<std::string, CommandError> finish() &&;

 private:
  void separate();
  void begin(std::string_view name);
  void append_key_text(base::ByteView value);

  KeyForm keys_;
  std::string out_;
  bool unprintable_ = false;
};

}  // namespace cadastre::cli
