#include "sim/coord/explorer/explorer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "coord/snapshot.h"
#include "sim/coord/explorer/action.h"
#include "sim/coord/explorer/bound.h"
#include "sim/coord/explorer/small_world.h"
#include "sim/coord/oracles/violation.h"

namespace cadastre::sim {
namespace {

class Search {
 public:
  explicit Search(const Bound& bound) : scratch_(std::make_unique<coord::AcquireScratch>()) {
    out_.bound = bound;
  }

  Exploration run() {
    const SmallWorld root(out_.bound, *scratch_);
    seen_.insert(root.digest());
    nodes_.push_back({});
    std::size_t next = 0;
    while (next < nodes_.size() && out_.violations.empty() &&
           nodes_.size() <= out_.bound.states_max) {
      expand(static_cast<std::uint32_t>(next++));
    }
    out_.complete = next == nodes_.size() && out_.violations.empty();
    out_.states = nodes_.size();
    out_.depth = path_to(static_cast<std::uint32_t>(nodes_.size() - 1)).size();
    return std::move(out_);
  }

 private:
  struct Node {
    std::uint32_t parent = 0;
    Action action;
  };

  [[nodiscard]] std::vector<Action> path_to(std::uint32_t node) const {
    std::vector<Action> path;
    for (; node != 0; node = nodes_[node].parent)
      path.push_back(nodes_[node].action);
    std::ranges::reverse(path);
    return path;
  }

  [[nodiscard]] std::optional<SmallWorld> rebuild(const std::vector<Action>& path) {
    std::optional<SmallWorld> world(std::in_place, out_.bound, *scratch_);
    for (const Action& action : path)
      world->follow(action);
    world->catch_up();
    return world;
  }

  // Tries every action in this state. A world is built anew only after an action that changed it.
  void expand(std::uint32_t node) {
    const std::vector<Action> path = path_to(node);
    auto world = rebuild(path);
    const std::uint64_t here = world->digest();
    for (const Action& action : world->actions()) {
      if (!world) world = rebuild(path);
      ++out_.transitions;
      const auto effect = world->perform(action);
      const bool clean = world->violations().empty();
      if (clean && effect == SmallWorld::Effect::kSame) continue;
      const std::uint64_t there = world->digest();
      if (clean && there == here) continue;
      ++out_.changes;
      if (seen_.insert(there).second) {
        nodes_.push_back({node, action});
        world->recount();
      }
      if (!world->violations().empty()) {
        out_.violations = world->violations();
        out_.counterexample = path;
        out_.counterexample.push_back(action);
        return;
      }
      world.reset();
    }
  }

  Exploration out_;
  std::unique_ptr<coord::AcquireScratch> scratch_;
  std::vector<Node> nodes_;
  std::unordered_set<std::uint64_t> seen_;
};

}  // namespace

Exploration explore(const Bound& bound) {
  return Search(bound).run();
}

std::string to_text(const Exploration& exploration) {
  std::string text = fmt::format(
      "{}: {} states, {} transitions tried, {} of them changed something, depth {}, {}\n",
      exploration.bound.name, exploration.states, exploration.transitions, exploration.changes,
      exploration.depth, exploration.complete ? "complete" : "not complete");
  for (const Violation& violation : exploration.violations)
    text += fmt::format("  {}: {}\n", violation.rule, violation.text);
  for (const Action& action : exploration.counterexample)
    text += fmt::format("    {}\n", to_text(action));
  return text;
}

}  // namespace cadastre::sim
