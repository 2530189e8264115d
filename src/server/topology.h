// Topology: the nodes and groups that a cluster begins with (store.md 1.3), from the text of topology.proto.
//
// Invariants
//   1. Ids, names and addresses are unique; ids of nodes and of the cluster are not 0.
//   2. Every group has a voter; its members are nodes of the topology, none twice.
//   3. The coordination group exists, is not group 0 and owns no range.
//   4. Ranges, if there are any, lie side by side and cover every key; none is of group 0.
//
// The digest is that of the file's bytes: nodes that begin together have the same file. Later files may differ in
// addresses, which are where nodes are and not who they are. Pure but for read_topology().

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/blake3.h"
#include "base/result.h"
#include "log/types.h"

namespace cadastre::server {

struct TopologyNode {
  log::NodeId id = {};
  std::string name = {};
  std::string peer_address = {};     // HOST:PORT for other nodes.
  std::string service_address = {};  // HOST:PORT for clients.

  friend bool operator==(const TopologyNode&, const TopologyNode&) = default;
};

// Members ascending.
struct TopologyGroup {
  log::GroupId id = {};
  std::vector<log::NodeId> voters = {};
  std::vector<log::NodeId> learners = {};

  [[nodiscard]] bool has(log::NodeId node) const noexcept;
  friend bool operator==(const TopologyGroup&, const TopologyGroup&) = default;
};

struct TopologyRange {
  std::string start = {};
  std::string end = {};  // Empty: without end.
  log::GroupId group = {};

  friend bool operator==(const TopologyRange&, const TopologyRange&) = default;
};

struct Topology {
  log::ClusterId cluster = {};
  std::vector<TopologyNode> nodes = {};    // By id.
  std::vector<TopologyGroup> groups = {};  // By id.
  std::vector<TopologyRange> ranges = {};  // By start.
  log::GroupId coordination = {};          // The group that carries coordination.
  base::Blake3Digest digest = {};
  std::string text = {};  // The file.

  // Nothing if there is no such one.
  [[nodiscard]] const TopologyNode* node(log::NodeId id) const noexcept;
  [[nodiscard]] const TopologyGroup* group(log::GroupId id) const noexcept;
};

// Whether the two name the same nodes and groups of one cluster, wherever the nodes are.
[[nodiscard]] bool differ_in_addresses_only(const Topology& left, const Topology& right);

enum class TopologyError : std::uint8_t {
  kUnreadable,  // The file cannot be read, or is too long.
  kMalformed,   // It is not the text of a Topology: the detail names line and column.
  kBadCluster,  // The cluster's id is missing.
  kBadNode,     // The detail names the node and what is wrong with it.
  kBadGroup,    // The same of a group.
  kBadRange,    // The same of a range.
};

[[nodiscard]] base::Result<Topology, TopologyError> parse_topology(std::string_view text);
// The detail begins with the path.
[[nodiscard]] base::Result<Topology, TopologyError> read_topology(const std::string& path);

}  // namespace cadastre::server
