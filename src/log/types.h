// The nouns of the log: groups, terms, indexes, positions.
//
// A position is (term, index). Indexes of one group start at 1 and have no gaps; terms never go back.
// Pure values.

#pragma once

#include <compare>
#include <cstdint>
#include <ostream>
#include <string>

#include "base/strong.h"

namespace cadastre::log {

using GroupId = base::Strong<struct GroupIdTag>;
using NodeId = base::Strong<struct NodeIdTag>;
using ClusterId = base::Strong<struct ClusterIdTag>;
using Incarnation = base::Strong<struct IncarnationTag, std::uint32_t>;  // Never reused on a node.
using Term = base::Strong<struct TermTag>;                               // 0: none, or any.
using Index = base::Strong<struct IndexTag>;                // 0: before the first entry.
using OutputNumber = base::Strong<struct OutputNumberTag>;  // 1, 2, 3, ...
using SetNumber = base::Strong<struct SetNumberTag>;        // 1, 2, 3, ...

inline constexpr Term kAnyTerm{0};
inline constexpr NodeId kNoNode{0};

[[nodiscard]] constexpr Index operator+(Index index, std::uint64_t count) noexcept {
  return Index{index.value() + count};
}
// How many entries lie in (after, upto].
[[nodiscard]] constexpr std::uint64_t entries_between(Index after, Index upto) noexcept {
  return upto.value() > after.value() ? upto.value() - after.value() : 0;
}

struct Position {
  Term term;
  Index index;

  friend constexpr bool operator==(const Position&, const Position&) noexcept = default;
  friend std::ostream& operator<<(std::ostream& out, const Position& at) {
    return out << at.term << '/' << at.index;
  }
};

[[nodiscard]] inline std::string to_string(const Position& at) {
  return to_string(at.term) + "/" + to_string(at.index);
}

// Where every founder of a replicated group begins: truncated, committed and applied (L-85).
inline constexpr Position kFounding{Term{1}, Index{1}};

// Reaches the disk.
enum class EntryType : std::uint8_t {
  kNormal = 0,  // A body of commands, or an empty body: the engine's own entry that opens a term.
  kConfChange = 2,  // A change of membership, in the engine's own encoding.
};

}  // namespace cadastre::log
