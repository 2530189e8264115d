// Keys as people type and read them: UTF-8 text, or hexadecimal with --hex.
//
// JSON never carries raw bytes: what is neither valid UTF-8 nor asked for in hexadecimal is the
// error `not_utf8`, in both directions.

#pragma once

#include <cstddef>
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

// `what` names the argument or field in an error.
[[nodiscard]] Result<base::Bytes, CommandError> parse_key(std::string_view typed,
                                                          KeyForm form,
                                                          std::string_view what);
[[nodiscard]] Result<base::Bytes, CommandError> parse_hex(std::string_view typed,
                                                          std::string_view what);

// Whether a key can be printed in this form.
[[nodiscard]] bool is_printable(base::ByteView key, KeyForm form) noexcept;

// The key in this form, which can print it.
void append_key(std::string& out, base::ByteView key, KeyForm form);

// Decimal digits and nothing else, at most 2^64 - 1.
[[nodiscard]] std::optional<std::uint64_t> parse_u64(std::string_view digits) noexcept;

// The same for an argument of the command line, where anything else is wrong usage.
[[nodiscard]] Result<std::uint64_t, CommandError> parse_argument_u64(std::string_view typed,
                                                                     std::string_view what);

// For a terminal: control characters, backslashes and bytes that are no UTF-8 as \xNN.
[[nodiscard]] std::string visible_text(std::string_view text);

// A key as a table shows it; "-" for an empty one, which is an open side of a range.
[[nodiscard]] std::string bound_text(base::ByteView key, KeyForm form);

// How many columns UTF-8 text takes, one for each code point.
[[nodiscard]] std::size_t column_count(std::string_view text) noexcept;

}  // namespace cadastre::cli
