#include "node/node_seal.h"

#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "log/types.h"
#include "server/topology.h"

namespace cadastre::node {
namespace {

server::Topology three(log::ClusterId cluster = log::ClusterId{7}) {
  server::Topology topology{.cluster = cluster, .coordination = log::GroupId{1}, .digest = {}};
  for (std::uint64_t id = 1; id <= 4; ++id)
    topology.nodes.push_back({log::NodeId{id}, "n" + std::to_string(id), "h:1", "h:2"});
  topology.groups.push_back(
      {log::GroupId{1}, {log::NodeId{1}, log::NodeId{2}, log::NodeId{3}}, {}});
  topology.digest[0] = std::byte{9};
  return topology;
}

NodeSeal founded() {
  return {log::ClusterId{7}, log::NodeId{1}, Beginning::kFounder, true, 5, three().digest};
}
NodeSeal joined() {
  NodeSeal seal = founded();
  seal.beginning = Beginning::kJoiner;
  return seal;
}
NodeSeal begun() {
  NodeSeal seal = founded();
  seal.logged = false;
  return seal;
}

constexpr log::NodeIdentity kOther{log::ClusterId{7}, log::NodeId{1}};

struct Case {
  const char* what;
  Found found;
  StartMode mode;
  std::uint64_t node;
  std::optional<SealError> refused;
};

// S-9, S-10, S-11
TEST(DecideStart, NeverFoundsTwiceAndNeverByItself) {
  using enum StartMode;
  const std::vector<Case> cases = {
      {"a founder begins when it is told to", {}, kBootstrap, 1, std::nullopt},
      {"a new node joins", {}, kJoin, 4, std::nullopt},
      {"a founder's id may join as well", {}, kJoin, 1, std::nullopt},
      {"nothing there and nothing asked for", {}, kRestart, 1, SealError::kRefused},
      {"who is no voter founds nothing", {}, kBootstrap, 4, SealError::kRefused},
      {"a single server's data", {std::nullopt, true}, kBootstrap, 1, SealError::kForeign},
      {"a cluster's node without its seal",
       {std::nullopt, true, kOther},
       kBootstrap,
       1,
       SealError::kDamaged},
      {"a restart", {founded(), true}, kRestart, 1, std::nullopt},
      {"a crash while it was founded", {begun(), false}, kRestart, 1, std::nullopt},
      {"the same, told again", {begun(), true}, kBootstrap, 1, std::nullopt},
      {"founded before", {founded(), true}, kBootstrap, 1, SealError::kRefused},
      {"a founder does not join", {founded(), true}, kJoin, 1, SealError::kRefused},
      {"a joiner starts again with its flag", {joined(), true}, kJoin, 1, std::nullopt},
      {"and without it", {joined(), true}, kRestart, 1, std::nullopt},
      {"another node's directory", {founded(), true}, kRestart, 2, SealError::kForeign},
      {"the log is gone", {founded(), false}, kRestart, 1, SealError::kDamaged},
  };
  for (const Case& each : cases) {
    const auto decided = decide_start(each.found, each.mode, three(), log::NodeId{each.node});
    ASSERT_EQ(decided.has_value(), !each.refused) << each.what;
    if (each.refused) {
      EXPECT_EQ(decided.error().code, *each.refused) << each.what;
      EXPECT_NE(decided.error().detail.find(": "), std::string::npos)
          << "says what to do: " << decided.error().detail;
    } else if (each.found.seal) {
      EXPECT_EQ(*decided, *each.found.seal) << each.what;
    }
  }
}

TEST(DecideStart, RefusesAnotherClustersDirectory) {
  const auto decided = decide_start({founded(), true}, StartMode::kRestart,
                                    three(log::ClusterId{8}), log::NodeId{1});
  ASSERT_FALSE(decided);
  EXPECT_EQ(decided.error().code, SealError::kForeign);
}

TEST(CheckTopology, HoldsTheFileUntilTheMembershipChanges) {  // S-8
  server::Topology other = three();
  other.digest[0] = std::byte{1};
  EXPECT_TRUE(check_topology(founded(), three(), std::nullopt, log::kFounding.index));
  EXPECT_FALSE(check_topology(founded(), other, std::nullopt, log::kFounding.index));
  EXPECT_TRUE(check_topology(founded(), other, std::nullopt, log::Index{5}));
  EXPECT_TRUE(check_topology(joined(), other, std::nullopt, log::Index{0}));
}

TEST(CheckTopology, LetsAddressesChangeAndNothingElse) {  // L-69
  const auto refuses = [](const std::function<void(server::Topology&)>& edit) {
    server::Topology edited = three();
    edited.digest[0] = std::byte{1};
    edit(edited);
    return !check_topology(founded(), edited, three(), log::kFounding.index);
  };
  EXPECT_FALSE(refuses([](server::Topology& file) { file.nodes[1].peer_address = "h:9"; }));
  EXPECT_FALSE(refuses([](server::Topology& file) { file.nodes[1].service_address = "h:9"; }));
  EXPECT_TRUE(refuses([](server::Topology& file) { file.nodes[1].id = log::NodeId{9}; }));
  EXPECT_TRUE(refuses([](server::Topology& file) { file.nodes[1].name = "other"; }));
  EXPECT_TRUE(refuses([](server::Topology& file) { file.nodes.pop_back(); }));
  EXPECT_TRUE(refuses([](server::Topology& file) { file.groups[0].voters.pop_back(); }));
  EXPECT_TRUE(refuses([](server::Topology& file) { file.coordination = log::GroupId{2}; }));
  EXPECT_TRUE(refuses([](server::Topology& file) { file.cluster = log::ClusterId{8}; }));
}

TEST(FirstTopology, IsReadBackIfItIsTheSeals) {
  const auto directory = std::filesystem::temp_directory_path() /
                         ("cadastre_first_topology." + std::to_string(::getpid()));
  std::filesystem::create_directories(directory);
  const auto topology = server::parse_topology(
      "cluster_id: 7\n"
      "nodes { raft_id: 1 name: \"n1\" peer_addr: \"h:1\" grpc_addr: \"h:2\" }\n"
      "groups { group_id: 1 voters: [1] }\n");
  ASSERT_TRUE(topology) << topology.error().detail;
  NodeSeal seal = founded();
  seal.digest = topology->digest;
  EXPECT_FALSE(load_first_topology(directory, seal));
  ASSERT_TRUE(store_first_topology(directory, *topology));
  ASSERT_TRUE(load_first_topology(directory, seal));
  EXPECT_EQ(load_first_topology(directory, seal)->nodes, topology->nodes);
  EXPECT_FALSE(load_first_topology(directory, founded()));
  std::filesystem::remove_all(directory);
}

TEST(NodeSeal, IsReadBackAndAnyOtherByteIsNot) {
  const base::Bytes bytes = encode_seal(joined());
  ASSERT_EQ(bytes.size(), kSealBytes);
  EXPECT_EQ(decode_seal(bytes), joined());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    base::Bytes changed = bytes;
    changed[i] ^= std::byte{1};
    EXPECT_FALSE(decode_seal(changed)) << i;
  }
  EXPECT_FALSE(decode_seal(base::ByteView(bytes).first(kSealBytes - 1)));
}

TEST(NodeSeal, SurvivesInItsDirectory) {
  const auto directory =
      std::filesystem::temp_directory_path() / ("cadastre_node_seal." + std::to_string(::getpid()));
  std::filesystem::create_directories(directory);
  EXPECT_EQ(*load_seal(directory), std::nullopt);
  ASSERT_TRUE(store_seal(directory, begun()));
  ASSERT_TRUE(store_seal(directory, founded()));
  EXPECT_EQ(*load_seal(directory), founded());
  std::filesystem::resize_file(directory / "NODE", kSealBytes - 1);
  ASSERT_FALSE(load_seal(directory));
  EXPECT_EQ(load_seal(directory).error().code, SealError::kDamaged);
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace cadastre::node
