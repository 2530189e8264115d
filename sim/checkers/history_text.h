// Histories as text, one operation on each line, so that a failure can be read, and kept as a test:
//
//   # When, who, which key, what, and what came of it. Times are nanoseconds.
//   10..20  c1  k1  write 7     -> ok
//   15..30  c2  k1  read        -> nil
//   25..31  c3  k1  cas 7 8     -> swapped
//   32..35  c1  k1  write 9     -> failed
//   32..    c2  k1  write 5     -> unknown
//   40..41  c1  k2  append 3    -> ok
//   42..43  c1  k2  append-at 4 -> 2
//   44..45  c2  k2  read-log    -> [3 4]
//   44..45  c2  k2  length      -> 2
//
// `cas` answers swapped or kept. A log that was read is printed as its digest, such as #00c0ffee, for
// its commands are not in the history. Empty lines and lines that begin with # are skipped.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "sim/checkers/history.h"

namespace cadastre::sim::checkers {

[[nodiscard]] std::string to_text(const Operation& operation);
[[nodiscard]] std::string to_text(const History& history);

enum class TextError : std::uint8_t {
  kMalformed,  // `detail` has the line.
};

[[nodiscard]] base::Result<History, TextError> history_of(std::string_view text);

}  // namespace cadastre::sim::checkers
