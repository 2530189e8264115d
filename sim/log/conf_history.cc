#include "sim/log/conf_history.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"

namespace cadastre::sim {
namespace {

constexpr std::size_t kMembersMax = 12;

bool has_majority(const std::vector<log::NodeId>& voters,
                  const std::function<bool(log::NodeId)>& among) {
  const auto count = static_cast<std::size_t>(std::ranges::count_if(voters, among));
  return voters.empty() || count > voters.size() / 2;
}

}  // namespace

bool has_quorum(const log::ConfState& conf, const std::function<bool(log::NodeId)>& among) {
  return has_majority(conf.voters, among) && has_majority(conf.voters_outgoing, among);
}

bool quorums_intersect(const log::ConfState& one, const log::ConfState& other) {
  std::set<log::NodeId> ids;
  for (const auto* list :
       {&one.voters, &one.voters_outgoing, &other.voters, &other.voters_outgoing})
    ids.insert(list->begin(), list->end());
  const std::vector<log::NodeId> all(ids.begin(), ids.end());
  CAD_CHECK(all.size() <= kMembersMax, "worlds are small");
  for (std::size_t some = 0; some < std::size_t{1} << all.size(); ++some) {
    const auto inside = [&](log::NodeId id) {
      const auto at = std::ranges::lower_bound(all, id) - all.begin();
      return (some >> at & 1) != 0;
    };
    const auto outside = [&](log::NodeId id) {
      return !inside(id);
    };
    if (has_quorum(one, inside) && has_quorum(other, outside)) return false;
  }
  return true;
}

bool ConfHistory::in_force(log::Index index, const log::ConfState& conf) const {
  const auto above = confs_.upper_bound(index);
  return above != confs_.begin() && std::prev(above)->second == conf;
}

std::optional<std::string> ConfHistory::add(log::Index index, const log::ConfState& conf) {
  if (in_force(index, conf)) return std::nullopt;
  const auto [place, added] = confs_.try_emplace(index, conf);
  if (!added) {
    if (place->second == conf) return std::nullopt;
    return fmt::format("two configurations at {}", index.value());
  }
  const auto next = std::next(place);
  const bool before = place == confs_.begin() || quorums_intersect(std::prev(place)->second, conf);
  const bool behind = next == confs_.end() || quorums_intersect(conf, next->second);
  if (before && behind) return std::nullopt;
  return fmt::format("the quorums at {} need not meet those beside it", index.value());
}

bool ConfHistory::may_be_committed(log::Index index,
                                   const std::function<bool(log::NodeId)>& has) const {
  auto at = confs_.lower_bound(index);
  for (int back = 0; back < 2 && at != confs_.begin(); ++back) {
    --at;
    if (has_quorum(at->second, has)) return true;
  }
  return false;
}

}  // namespace cadastre::sim
