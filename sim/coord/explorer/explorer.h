// Explorer: breadth-first through every state that a small world can reach, on the real code.
//
// A state is known by the digest of its records, its workers' beliefs and its clock, 64 bits of XXH3:
// among ten million states two collide with a chance of one in 400,000. It is rebuilt by doing again
// the actions that led to it, on a fresh backend; so a counterexample is the shortest there is.
//
// Every action is tried in every state, and judged by all oracles of the simulation; every new state
// is recounted (S11) and holds the properties of the formal model: MutualExclusion, ZombieRejection,
// TerminalUnleased, SplitAtomicity, FenceEpochSanity; each transition FenceMonotonicity (S2),
// TerminalIrreversibility (S3) and CursorMonotonicity (S5).

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/coord/explorer/action.h"
#include "sim/coord/explorer/bound.h"
#include "sim/coord/oracles/violation.h"

namespace cadastre::sim {

struct Exploration {
  Bound bound;
  std::size_t states = 0;
  std::size_t transitions = 0;  // actions tried
  std::size_t changes = 0;      // of them, those that led to another state
  std::size_t depth = 0;        // actions on the longest of the shortest ways
  bool complete = false;        // no state is left unexplored
  std::vector<Action> counterexample;
  Violations violations;
};

[[nodiscard]] Exploration explore(const Bound& bound);

[[nodiscard]] std::string to_text(const Exploration& exploration);

}  // namespace cadastre::sim
