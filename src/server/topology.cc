#include "server/topology.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include "cadastre/v1/topology.pb.h"

#include "base/blake3.h"
#include "base/bytes.h"
#include "base/result.h"
#include "log/limits.h"
#include "log/types.h"
#include "server/limits.h"
#include "server/listen_address.h"
#include "server/private_file.h"

namespace cadastre::server {
namespace {

template <class T>
using Parsed = base::Result<T, TopologyError>;

auto bad(TopologyError code, std::string detail) {
  return base::fail(code, std::move(detail));
}

// Keeps the first error. Lines and columns of protobuf begin at 0.
class FirstError final : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (text_.empty()) text_ = fmt::format("line {}, column {}: {}", line + 1, column + 1, message);
  }
  [[nodiscard]] std::string text() const { return text_.empty() ? "no topology" : text_; }

 private:
  std::string text_;
};

bool is_name(std::string_view text) noexcept {
  if (text.empty() || text.size() > kNodeNameBytesMax) return false;
  return std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
  });
}

Parsed<void> check_address(const v1::TopologyNode& node,
                           const char* field,
                           const std::string& text,
                           std::set<std::string>& taken) {
  const auto address = parse_listen_address(text);
  if (text.size() > kNodeAddressBytesMax || !address || address->port == 0) {
    return bad(TopologyError::kBadNode,
               fmt::format("node {}: {} is HOST:PORT with a port above 0", node.raft_id(), field));
  }
  if (!taken.insert(to_text(*address)).second) {
    return bad(TopologyError::kBadNode, fmt::format("node {}: {} {} is taken by another listener",
                                                    node.raft_id(), field, text));
  }
  return {};
}

Parsed<std::vector<TopologyNode>> nodes_of(const v1::Topology& message) {
  if (message.nodes().empty()) return bad(TopologyError::kBadNode, "there is no node");
  if (static_cast<std::size_t>(message.nodes_size()) > kTopologyNodesMax) {
    return bad(TopologyError::kBadNode,
               fmt::format("a cluster has at most {} nodes", kTopologyNodesMax));
  }
  std::vector<TopologyNode> nodes;
  std::set<std::uint64_t> ids;
  std::set<std::string> names;
  std::set<std::string> addresses;
  for (const v1::TopologyNode& node : message.nodes()) {
    if (node.raft_id() == 0) return bad(TopologyError::kBadNode, "a node has no raft_id, or 0");
    if (!ids.insert(node.raft_id()).second) {
      return bad(TopologyError::kBadNode,
                 fmt::format("node {}: another one has this raft_id", node.raft_id()));
    }
    if (!is_name(node.name()) || !names.insert(node.name()).second) {
      return bad(
          TopologyError::kBadNode,
          fmt::format("node {}: it needs a name of its own, of at most {} small letters, digits, "
                      "'-', '.' and '_'",
                      node.raft_id(), kNodeNameBytesMax));
    }
    CAD_TRY(check_address(node, "peer_addr", node.peer_addr(), addresses));
    CAD_TRY(check_address(node, "grpc_addr", node.grpc_addr(), addresses));
    if (!node.resp_addr().empty())
      CAD_TRY(check_address(node, "resp_addr", node.resp_addr(), addresses));
    nodes.push_back({log::NodeId{node.raft_id()}, node.name(), node.peer_addr(), node.grpc_addr()});
  }
  std::ranges::sort(nodes, {}, &TopologyNode::id);
  return nodes;
}

// Each id is one of the nodes and appears once in the group.
template <class Ids>
Parsed<std::vector<log::NodeId>> members_of(const Ids& ids,
                                            const Topology& topology,
                                            std::uint64_t group,
                                            std::set<std::uint64_t>& taken) {
  std::vector<log::NodeId> members;
  for (const std::uint64_t id : ids) {
    if (topology.node(log::NodeId{id}) == nullptr) {
      return bad(TopologyError::kBadGroup, fmt::format("group {}: there is no node {}", group, id));
    }
    if (!taken.insert(id).second) {
      return bad(TopologyError::kBadGroup,
                 fmt::format("group {}: node {} is named twice", group, id));
    }
    members.emplace_back(id);
  }
  std::ranges::sort(members);
  return members;
}

Parsed<std::vector<TopologyGroup>> groups_of(const v1::Topology& message,
                                             const Topology& topology) {
  if (static_cast<std::size_t>(message.groups_size()) > log::kGroupsMax) {
    return bad(TopologyError::kBadGroup,
               fmt::format("a cluster has at most {} groups", log::kGroupsMax));
  }
  std::vector<TopologyGroup> groups;
  std::set<std::uint64_t> ids;
  for (const v1::TopologyGroup& group : message.groups()) {
    const std::uint64_t id = group.group_id();
    if (!ids.insert(id).second) {
      return bad(TopologyError::kBadGroup, fmt::format("group {} is there twice", id));
    }
    if (group.voters().empty()) {
      return bad(TopologyError::kBadGroup, fmt::format("group {} has no voter", id));
    }
    std::set<std::uint64_t> taken;
    auto voters = CAD_TRY(members_of(group.voters(), topology, id, taken));
    auto learners = CAD_TRY(members_of(group.learners(), topology, id, taken));
    groups.push_back({log::GroupId{id}, std::move(voters), std::move(learners)});
  }
  std::ranges::sort(groups, {}, &TopologyGroup::id);
  return groups;
}

Parsed<log::GroupId> coordination_of(const v1::Topology& message, const Topology& topology) {
  log::GroupId id{message.coordination_group()};
  if (id == log::GroupId{0}) {
    const auto first = std::ranges::find_if(
        topology.groups, [](const TopologyGroup& group) { return group.id != log::GroupId{0}; });
    if (first == topology.groups.end()) {
      return bad(TopologyError::kBadGroup, "there is no group but perhaps 0: name one, such as 1");
    }
    id = first->id;
  }
  if (topology.group(id) == nullptr) {
    return bad(TopologyError::kBadGroup,
               fmt::format("coordination_group {} is not among the groups", id.value()));
  }
  return id;
}

Parsed<TopologyRange> range_of(const v1::TopologyRange& range, const Topology& topology) {
  const log::GroupId group{range.group_id()};
  if (group == log::GroupId{0} || topology.group(group) == nullptr) {
    return bad(TopologyError::kBadRange,
               fmt::format("a range is of group {}, which {}", group.value(),
                           group == log::GroupId{0} ? "never owns one" : "is not there"));
  }
  if (group == topology.coordination) {
    return bad(TopologyError::kBadRange,
               fmt::format("a range is of group {}, which carries coordination", group.value()));
  }
  return TopologyRange{range.start(), range.end(), group};
}

Parsed<std::vector<TopologyRange>> ranges_of(const v1::Topology& message,
                                             const Topology& topology) {
  if (static_cast<std::size_t>(message.ranges_size()) > kTopologyRangesMax) {
    return bad(TopologyError::kBadRange,
               fmt::format("a cluster begins with at most {} ranges", kTopologyRangesMax));
  }
  std::vector<TopologyRange> ranges;
  for (const v1::TopologyRange& range : message.ranges())
    ranges.push_back(CAD_TRY(range_of(range, topology)));
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const std::string before = i == 0 ? "" : ranges[i - 1].end;
    if (ranges[i].start != before || (i > 0 && before.empty())) {
      return bad(TopologyError::kBadRange,
                 fmt::format("range {} does not start where the one before it ends", i + 1));
    }
    const bool last = i + 1 == ranges.size();
    if (last != ranges[i].end.empty() || (!last && ranges[i].end <= ranges[i].start)) {
      return bad(TopologyError::kBadRange,
                 fmt::format("range {} {}", i + 1,
                             last ? "is the last one and has no end"
                                  : "ends above its start, and only the last has no end"));
    }
  }
  return ranges;
}

}  // namespace

bool TopologyGroup::has(log::NodeId node) const noexcept {
  return std::ranges::find(voters, node) != voters.end() ||
         std::ranges::find(learners, node) != learners.end();
}

const TopologyNode* Topology::node(log::NodeId id) const noexcept {
  const auto found = std::ranges::find(nodes, id, &TopologyNode::id);
  return found == nodes.end() ? nullptr : &*found;
}

const TopologyGroup* Topology::group(log::GroupId id) const noexcept {
  const auto found = std::ranges::find(groups, id, &TopologyGroup::id);
  return found == groups.end() ? nullptr : &*found;
}

base::Result<Topology, TopologyError> parse_topology(std::string_view text) {
  if (text.size() > kTopologyBytesMax) {
    return bad(TopologyError::kUnreadable,
               fmt::format("a topology has at most {} bytes", kTopologyBytesMax));
  }
  v1::Topology message;
  FirstError error;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  parser.SetRecursionLimit(kTopologyDepthMax);
  if (!parser.ParseFromString(std::string(text), &message))
    return bad(TopologyError::kMalformed, error.text());
  if (message.cluster_id() == 0) {
    return bad(TopologyError::kBadCluster,
               "cluster_id is missing or 0: choose a number that no other cluster has");
  }
  Topology topology;
  topology.cluster = log::ClusterId{message.cluster_id()};
  topology.nodes = CAD_TRY(nodes_of(message));
  topology.groups = CAD_TRY(groups_of(message, topology));
  topology.coordination = CAD_TRY(coordination_of(message, topology));
  topology.ranges = CAD_TRY(ranges_of(message, topology));
  topology.digest = base::blake3(base::as_bytes(text));
  topology.text = text;
  return topology;
}

bool differ_in_addresses_only(const Topology& left, const Topology& right) {
  const auto same_node = [](const TopologyNode& one, const TopologyNode& other) {
    return one.id == other.id && one.name == other.name;
  };
  return left.cluster == right.cluster && left.coordination == right.coordination &&
         left.groups == right.groups && left.ranges == right.ranges &&
         std::ranges::equal(left.nodes, right.nodes, same_node);
}

base::Result<Topology, TopologyError> read_topology(const std::string& path) {
  const auto text = read_public_file(path.c_str(), kTopologyBytesMax);
  if (!text) return base::fail(TopologyError::kUnreadable, text.error().detail);
  auto topology = parse_topology(*text);
  if (!topology)
    return base::fail(topology.error().code, fmt::format("{}: {}", path, topology.error().detail));
  return topology;
}

}  // namespace cadastre::server
