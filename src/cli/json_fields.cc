#include "cli/json_fields.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>

#include "base/bytes.h"
#include "base/result.h"
#include "cli/command_error.h"
#include "cli/key_text.h"
#include "cli/limits.h"
#include "cli/options.h"

namespace cadastre::cli {
namespace {

using nlohmann::json;

Result<const json*, CommandError> find(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) {
    return base::fail(bad_request(fmt::format("the field \"{}\" is missing", name)));
  }
  return &*found;
}

std::string field_name(const char* name) {
  return fmt::format("the field \"{}\"", name);
}

// The field as an array, which it is.
Result<const json::array_t*, CommandError> find_list(const json& object, const char* name) {
  const json* const field = CAD_TRY(find(object, name));
  const auto* const list = field->get_ptr<const json::array_t*>();
  if (list == nullptr) return base::fail(bad_request(field_name(name) + " is not an array"));
  return list;
}

// A number, or its digits.
std::optional<std::uint64_t> read_u64(const json& value) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  if (const auto* const digits = value.get_ptr<const json::string_t*>()) return parse_u64(*digits);
  return std::nullopt;
}

// The line as a tree of at most kJsonDepthMax levels. What is deeper is checked and dropped.
Result<std::unique_ptr<json>, CommandError> parse_bounded(std::string_view line) {
  bool too_deep = false;
  const auto keep = [&](int depth, json::parse_event_t event, json& /*parsed*/) {
    const bool opens =
        event == json::parse_event_t::object_start || event == json::parse_event_t::array_start;
    if (!opens || depth < kJsonDepthMax) return true;
    too_deep = true;
    return false;
  };
  auto value = std::make_unique<json>();
  try {
    *value = json::parse(line, keep);
  } catch (const json::out_of_range&) {
    return base::fail(bad_request("a number is out of range"));
  } catch (const json::exception&) {
    return base::fail(not_json("the line"));
  }
  if (too_deep) {
    return base::fail(
        bad_request(fmt::format("the request nests deeper than {} levels", kJsonDepthMax)));
  }
  return value;
}

}  // namespace

Result<std::string_view, CommandError> JsonFields::text(const char* name) const {
  const json* const field = CAD_TRY(find(*object_, name));
  const auto* const text = field->get_ptr<const json::string_t*>();
  if (text == nullptr) return base::fail(bad_request(field_name(name) + " is not a string"));
  return *text;
}

Result<std::uint64_t, CommandError> JsonFields::u64(const char* name) const {
  const json* const field = CAD_TRY(find(*object_, name));
  if (const auto value = read_u64(*field)) return *value;
  return base::fail(
      bad_request(field_name(name) + " is not a whole number from 0 to 2^64 - 1, or its digits"));
}

Result<std::vector<std::uint64_t>, CommandError> JsonFields::u64s(const char* name) const {
  const json::array_t* const list = CAD_TRY(find_list(*object_, name));
  std::vector<std::uint64_t> values;
  values.reserve(list->size());
  for (const json& element : *list) {
    const auto value = read_u64(element);
    if (!value) {
      return base::fail(bad_request(
          field_name(name) +
          " has an element that is not a whole number from 0 to 2^64 - 1, or its digits"));
    }
    values.push_back(*value);
  }
  return values;
}

Result<base::Bytes, CommandError> JsonFields::hex(const char* name) const {
  return parse_hex(CAD_TRY(text(name)), field_name(name));
}

Result<base::Bytes, CommandError> JsonFields::key(const char* name, KeyForm form) const {
  return parse_key(CAD_TRY(text(name)), form, field_name(name));
}

Result<JsonFields, CommandError> JsonFields::object(const char* name) const {
  const json* const field = CAD_TRY(find(*object_, name));
  if (!field->is_object()) return base::fail(bad_request(field_name(name) + " is not an object"));
  return JsonFields(*field);
}

Result<bool, CommandError> JsonFields::flag(const char* name) const {
  const json* const field = CAD_TRY(find(*object_, name));
  if (!field->is_boolean()) {
    return base::fail(bad_request(field_name(name) + " is neither true nor false"));
  }
  return field->get<bool>();
}

Result<std::vector<JsonFields>, CommandError> JsonFields::objects(const char* name) const {
  const json::array_t* const list = CAD_TRY(find_list(*object_, name));
  std::vector<JsonFields> objects;
  objects.reserve(list->size());
  for (const json& element : *list) {
    if (!element.is_object()) {
      return base::fail(bad_request(field_name(name) + " has an element that is not an object"));
    }
    objects.emplace_back(element);
  }
  return objects;
}

Result<std::vector<base::Bytes>, CommandError> JsonFields::keys(const char* name,
                                                                KeyForm form) const {
  const json::array_t* const list = CAD_TRY(find_list(*object_, name));
  std::vector<base::Bytes> keys;
  keys.reserve(list->size());
  for (const json& element : *list) {
    const auto* const text = element.get_ptr<const json::string_t*>();
    if (text == nullptr) {
      return base::fail(bad_request(field_name(name) + " has an element that is not a string"));
    }
    keys.push_back(CAD_TRY(parse_key(*text, form, field_name(name))));
  }
  return keys;
}

bool JsonFields::has(const char* name) const {
  const auto found = object_->find(name);
  return found != object_->end() && !found->is_null();
}

JsonLine::JsonLine(std::unique_ptr<nlohmann::json> value) noexcept : value_(std::move(value)) {}
JsonLine::JsonLine(JsonLine&&) noexcept = default;
JsonLine& JsonLine::operator=(JsonLine&&) noexcept = default;
JsonLine::~JsonLine() = default;

Result<JsonLine, CommandError> JsonLine::parse(std::string_view line) {
  std::unique_ptr<json> value = CAD_TRY(parse_bounded(line));
  if (!value->is_object()) return base::fail(bad_request("the request is not a JSON object"));
  return JsonLine(std::move(value));
}

}  // namespace cadastre::cli
