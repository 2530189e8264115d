// JSON as we write it: strings and 64-bit integers, appended to a line.
//
// Answers are composed by hand instead of through a tree, so that a plan of a million lines costs
// one reused string.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cadastre::cli {

// With its quotes. `text` is valid UTF-8: whoever has other bytes prints hexadecimal.
void append_json_string(std::string& out, std::string_view text);

// A number up to kJsonIntegerMax, a decimal string above.
void append_json_u64(std::string& out, std::uint64_t value);

// As decimal digits.
void append_decimal(std::string& out, std::uint64_t value);

}  // namespace cadastre::cli
