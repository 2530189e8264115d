// JsonFields: reads the fields of one JSON object by name and type.
//
// Every wrong type, missing field, sign, fraction and overflow is the error `bad_request` that
// names the field; fields that nobody asks for are ignored, and of two with one name the last
// counts.
//
// Parsing takes hostile lines: no depth, number or byte in them does more than give an error.

#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/attributes.h"
#include "base/bytes.h"
#include "base/result.h"
#include "cli/command_error.h"
#include "cli/options.h"

namespace cadastre::cli {

using base::Result;

// A view of an object that someone else keeps.
class JsonFields {
 public:
  explicit JsonFields(const nlohmann::json& object CAD_LIFETIMEBOUND) noexcept : object_(&object) {}

  [[nodiscard]] Result<std::string_view, CommandError> text(const char* name) const;
  [[nodiscard]] Result<std::uint64_t, CommandError> u64(const char* name) const;
  [[nodiscard]] Result<std::vector<std::uint64_t>, CommandError> u64s(const char* name) const;
  [[nodiscard]] Result<base::Bytes, CommandError> hex(const char* name) const;
  [[nodiscard]] Result<base::Bytes, CommandError> key(const char* name, KeyForm form) const;
  [[nodiscard]] Result<bool, CommandError> flag(const char* name) const;
  [[nodiscard]] Result<JsonFields, CommandError> object(const char* name) const;
  [[nodiscard]] Result<std::vector<JsonFields>, CommandError> objects(const char* name) const;
  [[nodiscard]] Result<std::vector<base::Bytes>, CommandError> keys(const char* name,
                                                                    KeyForm form) const;

  // An absent field and a null one are alike for those that may be absent.
  [[nodiscard]] bool has(const char* name) const;

 private:
  const nlohmann::json* object_;
};

// One line as an object. `not_json` for what is no JSON at all, `bad_request` for JSON that is no
// object or exceeds a bound.
class JsonLine {
 public:
  [[nodiscard]] static Result<JsonLine, CommandError> parse(std::string_view line);

  JsonLine(const JsonLine&) = delete;
  JsonLine& operator=(const JsonLine&) = delete;
  JsonLine(JsonLine&&) noexcept;
  JsonLine& operator=(JsonLine&&) noexcept;
  ~JsonLine();

  [[nodiscard]] JsonFields fields() const noexcept CAD_LIFETIMEBOUND { return JsonFields(*value_); }

 private:
  explicit JsonLine(std::unique_ptr<nlohmann::json> value) noexcept;

  std::unique_ptr<nlohmann::json> value_;
};

}  // namespace cadastre::cli
