#include "sim/log/membership_churn.h"

#include <algorithm>

#include "base/random.h"

namespace cadastre::sim {
namespace {

using log::ConfOp;
using log::ConfStep;
using log::NodeId;

constexpr std::size_t kMembersMin = 3;
constexpr std::uint64_t kJoinIn = 3;  // One change in so many lets somebody in, if there is one.

// One of them, and out of the list.
NodeId take_one(std::vector<NodeId>& ids, base::Random& random) {
  const auto at = ids.begin() + static_cast<std::ptrdiff_t>(random.below(ids.size()));
  const NodeId id = *at;
  ids.erase(at);
  return id;
}

}  // namespace

std::optional<log::ConfChange> next_change(const log::ConfState& conf,
                                           NodeId leader,
                                           std::span<const NodeId> strangers,
                                           std::uint64_t luck,
                                           std::size_t voters_min) {
  if (conf.joint()) return std::nullopt;  // It is left by whoever leads.
  base::SeededRandom random(luck);
  if (!strangers.empty() && random.below(kJoinIn) == 0) {
    const NodeId joiner = strangers[random.below(strangers.size())];
    return log::ConfChange{.steps = {{ConfOp::kAddLearner, joiner}}};
  }
  std::vector<NodeId> voters = conf.voters;
  std::vector<NodeId> learners = conf.learners;
  std::erase(voters, leader);
  const std::size_t wanted = 1 + random.below(3);  // More than one: joint.
  std::vector<ConfStep> steps;
  std::size_t left = conf.voters.size();
  while (steps.size() < wanted) {
    const bool promotes = !learners.empty() && (random.below(2) == 0 || left <= voters_min);
    if (promotes) {
      steps.push_back({ConfOp::kAddVoter, take_one(learners, random)});
      ++left;
    } else if (left > voters_min && !voters.empty()) {
      const std::size_t members = conf.voters.size() + conf.learners.size();
      const bool for_good = steps.empty() && members > kMembersMin && random.below(4) == 0;
      steps.push_back({for_good ? ConfOp::kRemove : ConfOp::kAddLearner, take_one(voters, random)});
      --left;
      if (for_good) break;
    } else {
      break;
    }
  }
  if (steps.empty()) return std::nullopt;
  return log::ConfChange{.steps = std::move(steps)};
}

std::vector<ConfStep> next_replacement(const log::ConfState& conf, NodeId lost, NodeId fresh) {
  if (conf.joint() || !conf.has(lost)) return {};
  if (!conf.has(fresh)) return {{ConfOp::kAddLearner, fresh}};
  if (std::ranges::find(conf.learners, fresh) != conf.learners.end())
    return {{ConfOp::kAddVoter, fresh}};
  return {{ConfOp::kRemove, lost}};
}

}  // namespace cadastre::sim
