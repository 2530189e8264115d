#include "cli/command_error.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "cli/json_text.h"
#include "cli/key_text.h"
#include "cli/options.h"

namespace cadastre::cli {
namespace {

constexpr std::string_view kUsageCode = "usage";
constexpr int kExitRefused = 1;
constexpr int kExitUsage = 2;

std::string_view retry_name(Retry retry) noexcept {
  switch (retry) {
    case Retry::kNever: return "never";
    case Retry::kNow: return "now";
    case Retry::kLater: return "later";
  }
  return "never";
}

std::string reason(int error) {
  return std::error_code(error, std::generic_category()).message();
}

void append_field(std::string& line, const ErrorField& field) {
  line += ',';
  append_json_string(line, field.name);
  line += ':';
  if (const auto* const number = std::get_if<std::uint64_t>(&field.value)) {
    append_json_u64(line, *number);
  } else {
    append_json_string(line, std::get<std::string_view>(field.value));
  }
}

}  // namespace

CommandError usage_error(std::string detail) {
  return {std::string(kUsageCode), std::move(detail)};
}

CommandError bad_request(std::string detail) {
  return {"bad_request", std::move(detail)};
}

CommandError bad_hex(std::string_view what) {
  return {"bad_hex", fmt::format("{} is not hexadecimal: two digits for each byte", what)};
}

CommandError not_utf8(std::string_view what) {
  return {"not_utf8", fmt::format("{} is not valid UTF-8: use --hex", what)};
}

CommandError not_json(std::string_view where) {
  return {std::string(kNotJsonCode), fmt::format("{} is not JSON", where)};
}

CommandError line_too_long(std::size_t bytes_max) {
  return {"line_too_long", fmt::format("the line exceeds {} bytes", bytes_max)};
}

CommandError cannot_read(std::string_view what, int error) {
  return {"cannot_read", fmt::format("cannot read {}: {}", what, reason(error))};
}

CommandError cannot_write(std::string_view what, int error) {
  return {"cannot_write", fmt::format("cannot write {}: {}", what, reason(error)), Retry::kLater};
}

CommandError cannot_write(int error) {
  return cannot_write("the answer", error);
}

CommandError at(std::string_view where, CommandError error) {
  error.detail = fmt::format("{}: {}", where, error.detail);
  return error;
}

int exit_status(const CommandError& error) noexcept {
  return error.code == kUsageCode ? kExitUsage : kExitRefused;
}

std::string error_line(const CommandError& error, Format format) {
  // A detail may quote what was typed: neither a terminal nor JSON gets its raw bytes.
  const std::string detail = visible_text(error.detail);
  if (format == Format::kHuman) return fmt::format("cadastre: {}: {}", error.code, detail);
  std::string line = R"({"error":{"code":)";
  append_json_string(line, error.code);
  line += R"(,"detail":)";
  append_json_string(line, detail);
  line += R"(,"retry":)";
  append_json_string(line, retry_name(error.retry));
  for (const ErrorField& field : error.fields)
    append_field(line, field);
  line += "}}";
  return line;
}

}  // namespace cadastre::cli
