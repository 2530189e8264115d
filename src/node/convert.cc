#include "node/convert.h"

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/result.h"
#include "log/conf_context.h"
#include "log/conf_state.h"
#include "log/engine.h"
#include "log/storage.h"
#include "log/storage/records.h"
#include "log/storage/rocks_directory.h"
#include "log/types.h"
#include "node/closed_group.h"
#include "node/embedded_coordination.h"
#include "node/local_log.h"
#include "node/node_seal.h"
#include "server/topology.h"

namespace cadastre::node {
namespace {

using Done = base::Result<void, ClosedError>;

base::Result<server::Topology, ClosedError> topology_of(const std::string& path, log::NodeId node) {
  auto topology = server::read_topology(path);
  if (!topology) return base::fail(ClosedError::kRefused, topology.error().detail);
  if (topology->node(node) == nullptr) {
    return base::fail(ClosedError::kRefused, fmt::format("{} has no node {}", path, node.value()));
  }
  const server::TopologyGroup& group = *topology->group(topology->coordination);
  if (group.id != kCoordinationGroup || group.voters != std::vector{node} ||
      !group.learners.empty()) {
    return base::fail(ClosedError::kRefused,
                      fmt::format("{} must have group {} with voter {} alone: others are added "
                                  "afterwards, with `cadastre node add`",
                                  path, kCoordinationGroup.value(), node.value()));
  }
  return *std::move(topology);
}

// The records of a group with one voter. What the log has is committed, and its configuration holds from its end on.
Done make_replicated(ClosedGroup& group, log::NodeId node) {
  const log::GroupImage& image = group.image();
  if (image.last.index == log::Index{0}) {
    return base::fail(ClosedError::kRefused,
                      "the log is empty: start the node with --bootstrap and an empty directory");
  }
  log::GroupWrite write;
  write.created = log::EngineKind::kRaft;
  if (image.truncated.index == log::Index{0}) {
    // The entry that opened the first term is where founders begin, and a joiner must not be fed from below it.
    const bool begins = !image.terms.empty() && image.terms.front().first == log::kFounding.index &&
                        image.terms.front().term == log::kFounding.term;
    if (!begins)
      return base::fail(ClosedError::kDamaged, "the log does not begin with its first term");
    write.truncated = log::kFounding;
  }
  write.confs.push_back({image.last.index, {.voters = {node}}, {}});
  write.state = log::HardState{.term = image.state.term, .vote = node, .commit = image.last.index};
  return group.write(std::move(write));
}

// A conversion that was cut short has written this; anything else is a cluster's node that lost its seal.
Done check_begun(const log::GroupImage& image, log::NodeId node) {
  if (image.confs.back().conf == log::ConfState{.voters = {node}} && !image.removed) return {};
  return base::fail(
      ClosedError::kRefused,
      fmt::format("the log is that of a node of a cluster with other members, whose "
                  "file NODE is gone: remove node {} from its groups, and join with an "
                  "empty directory and a new raft_id",
                  node.value()));
}

Done make_local(ClosedGroup& group) {
  const log::GroupImage& image = group.image();
  const log::ConfRecord& record = image.confs.back();
  const bool alone = record.conf == log::ConfState{.voters = {group.owner().node}};
  if (!alone || image.removed) {
    return base::fail(ClosedError::kRefused,
                      fmt::format("node {} is not the only member of the group: remove the others "
                                  "first, with `cadastre node remove`",
                                  group.owner().node.value()));
  }
  if (log::context_of(record).recovered) {
    return base::fail(ClosedError::kRefused,
                      "the group was recovered, which a log on one disk cannot remember");
  }
  log::GroupWrite write;
  write.created = log::EngineKind::kLocal;
  for (const log::ConfRecord& each : image.confs)
    write.confs_dropped.push_back(each.index);
  write.state = log::HardState{.term = image.state.term, .vote = {}, .commit = {}};
  return group.write(std::move(write));
}

}  // namespace

base::Result<Converted, ClosedError> convert_to_raft(const std::filesystem::path& directory,
                                                     const std::string& topology_path,
                                                     log::NodeId node) {
  const server::Topology topology = CAD_TRY(topology_of(topology_path, node));
  const log::NodeIdentity identity{topology.cluster, node};
  const auto seal = load_seal(directory);
  if (!seal) return base::fail(translated(seal.error().code), seal.error().detail);
  if (*seal) {
    return base::fail(ClosedError::kRefused,
                      fmt::format("{} is that of node {} of cluster {} already", directory.string(),
                                  (*seal)->node.value(), (*seal)->cluster.value()));
  }
  const auto group = CAD_TRY(
      ClosedGroup::open(directory, {LocalLogOptions{}.identity, identity}, kCoordinationGroup));
  if (group->image().engine == log::EngineKind::kLocal) {
    CAD_TRY(make_replicated(*group, node));
  } else {
    CAD_TRY(check_begun(group->image(), node));
  }
  const log::Position last = group->image().last;
  CAD_TRY(group->give_to(identity));
  const auto stored = store_seal(directory, {.cluster = topology.cluster,
                                             .node = node,
                                             .beginning = Beginning::kFounder,
                                             .logged = true,
                                             .starts = 0,
                                             .digest = topology.digest});
  if (!stored) return base::fail(translated(stored.error().code), stored.error().detail);
  return Converted{topology.cluster, node, last};
}

base::Result<Converted, ClosedError> convert_to_local(const std::filesystem::path& directory) {
  const log::NodeIdentity own = LocalLogOptions{}.identity;
  std::vector<log::NodeIdentity> owners{own};
  if (const auto seal = load_seal(directory); seal && *seal)
    owners.insert(owners.begin(), {(*seal)->cluster, (*seal)->node});
  const auto group = CAD_TRY(ClosedGroup::open(directory, owners, kCoordinationGroup));
  const log::NodeIdentity before = group->owner();
  if (group->image().engine == log::EngineKind::kRaft) CAD_TRY(make_local(*group));
  const log::Position last = group->image().last;
  CAD_TRY(group->give_to(own));
  const auto removed = remove_seal(directory);
  if (!removed) return base::fail(translated(removed.error().code), removed.error().detail);
  return Converted{before.cluster, before.node, last};
}

}  // namespace cadastre::node
