// What a user would write with std::string: the same answers, a string for each. The output strings
// are reused by the caller, so that a short key costs no allocation.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cadastre::bench {

bool string_midpoint(std::string_view a, std::string_view b, std::string& out);
bool string_prefix_successor(std::string_view prefix, std::string& out);
void string_key_successor(std::string_view key, std::string& out);

// Big-endian, appended to `out`.
void append_u64(std::string& out, std::uint64_t value);

// `count - 1` keys between two bounds of at most 8 bytes, by 128-bit arithmetic.
std::vector<std::string> string_split_points(std::string_view a,
                                             std::string_view b,
                                             std::uint64_t count);

}  // namespace cadastre::bench
