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
//   50..52  c1  k3  acquire     -> 2
//   53..55  c1  k3  checkpoint 2 17 -> ok
//   56..57  c2  k3  shard       -> 2/17/active
//   58..59  c3  k3  release 1   -> stale
//
// What is asked of a shard under a fence answers ok, stale or terminal; `repeat` answers replayed or executed.
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
