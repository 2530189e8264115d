#include "server/topology.h"

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "log/types.h"
#include "server/limits.h"

namespace cadastre::server {
namespace {

constexpr std::string_view kNodes =
    R"(nodes { raft_id: 2 name: "b" peer_addr: "127.0.0.2:72" grpc_addr: "127.0.0.2:70" }
       nodes { raft_id: 1 name: "a" peer_addr: "127.0.0.1:72" grpc_addr: "127.0.0.1:70" }
       nodes { raft_id: 3 name: "c" peer_addr: "127.0.0.3:72" grpc_addr: "127.0.0.3:70" }
)";

std::string with(std::string_view rest) {
  return fmt::format("cluster_id: 7\n{}{}", kNodes, rest);
}

TEST(Topology, IsReadInOrderOfIds) {
  const auto read = parse_topology(with("groups { group_id: 4 voters: [3, 1] learners: 2 }"));
  ASSERT_TRUE(read) << read.error().detail;
  EXPECT_EQ(read->cluster, log::ClusterId{7});
  ASSERT_EQ(read->nodes.size(), 3U);
  EXPECT_EQ(read->nodes[0], (TopologyNode{log::NodeId{1}, "a", "127.0.0.1:72", "127.0.0.1:70"}));
  ASSERT_EQ(read->groups.size(), 1U);
  EXPECT_EQ(read->groups[0].voters, (std::vector{log::NodeId{1}, log::NodeId{3}}));
  EXPECT_TRUE(read->groups[0].has(log::NodeId{2}));
  EXPECT_EQ(read->coordination, log::GroupId{4});  // the lowest that is not 0
  EXPECT_EQ(read->node(log::NodeId{9}), nullptr);
}

TEST(Topology, NamesTheGroupOfCoordination) {
  const auto read = parse_topology(
      with("groups { group_id: 0 voters: 1 } groups { group_id: 1 voters: 1 } groups { group_id: 2 "
           "voters: 2 } coordination_group: 2"));
  ASSERT_TRUE(read) << read.error().detail;
  EXPECT_EQ(read->coordination, log::GroupId{2});
}

TEST(Topology, HasTheDigestOfItsBytes) {  // S-8
  const std::string text = with("groups { group_id: 1 voters: 1 }");
  EXPECT_EQ(parse_topology(text)->digest, parse_topology(text)->digest);
  EXPECT_NE(parse_topology(text)->digest, parse_topology(text + " ")->digest);
}

struct Refused {
  const char* why;
  std::string text;
  TopologyError code;
};

// store.md 1.3, the table of checks.
TEST(Topology, RefusesWhatNoClusterCanBeginWith) {
  const std::string groups = "groups { group_id: 1 voters: 1 }";
  const std::vector<Refused> cases = {
      {"no text of a topology", "cluster_id 7 {", TopologyError::kMalformed},
      {"an unknown field", with(groups + " colour: 1"), TopologyError::kMalformed},
      {"no cluster id", fmt::format("{}{}", kNodes, groups), TopologyError::kBadCluster},
      {"no nodes", "cluster_id: 7 " + groups, TopologyError::kBadNode},
      {"a node without an id",
       with(groups + R"( nodes { name: "d" peer_addr: "h:1" grpc_addr: "h:2" })"),
       TopologyError::kBadNode},
      {"an id twice",
       with(groups + R"( nodes { raft_id: 1 name: "d" peer_addr: "h:1" grpc_addr: "h:2" })"),
       TopologyError::kBadNode},
      {"a name twice",
       with(groups + R"( nodes { raft_id: 4 name: "a" peer_addr: "h:1" grpc_addr: "h:2" })"),
       TopologyError::kBadNode},
      {"a name that is none",
       with(groups + R"( nodes { raft_id: 4 name: "A B" peer_addr: "h:1" grpc_addr: "h:2" })"),
       TopologyError::kBadNode},
      {"an address that is none",
       with(groups + R"( nodes { raft_id: 4 name: "d" peer_addr: "h" grpc_addr: "h:2" })"),
       TopologyError::kBadNode},
      {"an address without a port",
       with(groups + R"( nodes { raft_id: 4 name: "d" peer_addr: "h:0" grpc_addr: "h:2" })"),
       TopologyError::kBadNode},
      {"an address twice",
       with(groups +
            R"( nodes { raft_id: 4 name: "d" peer_addr: "127.0.0.1:70" grpc_addr: "h:2" })"),
       TopologyError::kBadNode},
      {"no group", with(""), TopologyError::kBadGroup},
      {"group 0 alone", with("groups { group_id: 0 voters: 1 }"), TopologyError::kBadGroup},
      {"a group without a voter", with("groups { group_id: 1 learners: 1 }"),
       TopologyError::kBadGroup},
      {"a group twice", with(groups + groups), TopologyError::kBadGroup},
      {"a voter twice", with("groups { group_id: 1 voters: [1, 1] }"), TopologyError::kBadGroup},
      {"a voter that also learns", with("groups { group_id: 1 voters: 1 learners: 1 }"),
       TopologyError::kBadGroup},
      {"a voter that is no node", with("groups { group_id: 1 voters: 9 }"),
       TopologyError::kBadGroup},
      {"coordination nowhere", with(groups + " coordination_group: 2"), TopologyError::kBadGroup},
  };
  for (const Refused& each : cases) {
    const auto read = parse_topology(each.text);
    ASSERT_FALSE(read) << each.why;
    EXPECT_EQ(read.error().code, each.code) << each.why << ": " << read.error().detail;
    EXPECT_FALSE(read.error().detail.empty()) << each.why;
  }
}

TEST(Topology, RangesCoverEveryKeyOnce) {
  const std::string groups =
      "groups { group_id: 1 voters: 1 } groups { group_id: 2 voters: 1 } coordination_group: 1 ";
  EXPECT_TRUE(parse_topology(with(groups + "ranges { group_id: 2 }")));
  EXPECT_TRUE(parse_topology(
      with(groups + "ranges { end: 'm' group_id: 2 } ranges { start: 'm' group_id: 2 }")));
  for (const char* const ranges : {
           "ranges { start: 'a' group_id: 2 }",                                  // a gap before
           "ranges { end: 'm' group_id: 2 }",                                    // and behind
           "ranges { end: 'm' group_id: 2 } ranges { start: 'n' group_id: 2 }",  // and between
           "ranges { end: 'm' group_id: 2 } ranges { start: 'l' group_id: 2 }",  // overlapping
           "ranges { group_id: 2 } ranges { group_id: 2 }",                      // twice
           "ranges { start: 'm' group_id: 2 } ranges { end: 'm' group_id: 2 }",  // not sorted
           "ranges { end: 'm' group_id: 2 } ranges { start: 'm' end: 'm' group_id: 2 } "
           "ranges { start: 'm' group_id: 2 }",  // empty
           "ranges { group_id: 0 }",             // S-4
           "ranges { group_id: 1 }",             // coordination's
           "ranges { group_id: 3 }",             // nobody's
       }) {
    const auto read = parse_topology(with(groups + ranges));
    ASSERT_FALSE(read) << ranges;
    EXPECT_EQ(read.error().code, TopologyError::kBadRange) << ranges;
  }
}

TEST(Topology, IsBounded) {
  EXPECT_EQ(parse_topology(std::string(kTopologyBytesMax + 1, ' ')).error().code,
            TopologyError::kUnreadable);
  std::string many = "cluster_id: 1 groups { group_id: 1 voters: 1 } ";
  for (std::size_t i = 1; i <= kTopologyNodesMax + 1; ++i) {
    many += fmt::format(
        "nodes {{ raft_id: {0} name: 'n{0}' peer_addr: 'h:{0}' grpc_addr: 'g:{0}' }} ", i);
  }
  EXPECT_EQ(parse_topology(many).error().code, TopologyError::kBadNode);
}

TEST(Topology, OfAFileThatIsNotThereNamesIt) {
  const auto read = read_topology("no/such/file");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, TopologyError::kUnreadable);
  EXPECT_NE(read.error().detail.find("no/such/file"), std::string::npos);
}

}  // namespace
}  // namespace cadastre::server
