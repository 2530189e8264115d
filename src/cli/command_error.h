// CommandError: why a command did not do what was asked, for programs and for people.
//
// The algebra's errors keep their own names; the names that this room adds are made by the
// functions below and listed in docs/cli.md. Details name arguments, sizes and counts, never a
// key's bytes: keys may be secrets.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "cli/limits.h"
#include "cli/options.h"

namespace cadastre::cli {

enum class Retry : std::uint8_t {
  kNever,  // the same request fails again
  kNow,
  kLater,
};

// What a program may want to know beyond the code: an epoch, a deadline, a status.
struct ErrorField {
  std::string_view name;                                // with static lifetime
  std::variant<std::uint64_t, std::string_view> value;  // a text has static lifetime

  friend bool operator==(const ErrorField&, const ErrorField&) = default;
};

struct CommandError {
  std::string code;    // snake case
  std::string detail;  // one sentence
  Retry retry = Retry::kNever;
  // For JSON; the detail says the same to people.
  // NOLINTNEXTLINE(readability-redundant-member-init): most errors are made without
  std::vector<ErrorField> fields = {};

  friend bool operator==(const CommandError&, const CommandError&) = default;
};

// Of a line that is no JSON at all; it ends a batch.
inline constexpr std::string_view kNotJsonCode = "not_json";

[[nodiscard]] CommandError usage_error(std::string detail);   // exit status 2
[[nodiscard]] CommandError bad_request(std::string detail);   // a field is wrong
[[nodiscard]] CommandError bad_hex(std::string_view what);    // `what` is no hexadecimal
[[nodiscard]] CommandError not_utf8(std::string_view what);   // asks for --hex
[[nodiscard]] CommandError not_json(std::string_view where);  // the line at `where`
[[nodiscard]] CommandError line_too_long(std::size_t bytes_max);
[[nodiscard]] CommandError cannot_read(std::string_view what, int error);  // error: of errno
[[nodiscard]] CommandError cannot_write(std::string_view what, int error);
[[nodiscard]] CommandError cannot_write(int error);  // the answer

// The same error, told of a place: "line 3: ...".
[[nodiscard]] CommandError at(std::string_view where, CommandError error);

// An error of the algebra under its own name.
template <class E>
[[nodiscard]] CommandError from_algebra(const E& error) {
  std::string text(kErrorTextBytesMax, ' ');
  const char* const end = format_to(text.data(), text.data() + text.size(), error);
  text.resize(static_cast<std::size_t>(end - text.data()));
  return {std::string(code_name(error)), std::move(text)};
}

[[nodiscard]] int exit_status(const CommandError& error) noexcept;

// One line without its end: `{"error":{...}}`, or a sentence.
[[nodiscard]] std::string error_line(const CommandError& error, Format format);

}  // namespace cadastre::cli
