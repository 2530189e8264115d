#include "node/node_seal.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/blake3.h"
#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/endian.h"
#include "base/result.h"
#include "coord/replicated/snapshot_store.h"
#include "log/types.h"
#include "node/local_log.h"
#include "server/topology.h"

namespace cadastre::node {
namespace {

constexpr std::string_view kSealName = "NODE";
constexpr std::string_view kTopologyName = "TOPOLOGY";
constexpr std::string_view kMagic = "CDNS";
constexpr std::uint16_t kVersion = 1;
constexpr std::size_t kSummedBytes = kSealBytes - 4;
constexpr std::size_t kDigestAt = 32;

// Durable when it returns; on an error the one before, or this one, is there.
base::Result<void, SealError> store(const std::filesystem::path& directory,
                                    std::string_view name,
                                    base::ByteView bytes) {
  coord::replicated::PosixSnapshotFiles files(directory);
  const std::string next = fmt::format("{}.new", name);
  auto stored = files.write_synced(next, bytes);
  if (stored) stored = files.rename(next, name);
  if (stored) stored = files.sync_names();
  if (!stored) return base::fail(SealError::kCannotIo, stored.error().detail);
  return {};
}

base::Result<NodeSeal, SealError> begin_anew(const Found& found,
                                             StartMode mode,
                                             const server::Topology& topology,
                                             log::NodeId node) {
  if (found.log && found.owner && !(*found.owner == LocalLogOptions{}.identity)) {
    return base::fail(
        SealError::kDamaged,
        fmt::format("the directory has the log of node {} of cluster {}, and its file "
                    "NODE is gone: if `cadastre node convert` was cut short, give it "
                    "again; else {}",
                    found.owner->node.value(), found.owner->cluster.value(), kRejoinAdvice));
  }
  if (found.log) {
    return base::fail(SealError::kForeign,
                      "the directory holds a server's own log: choose another --data, or convert "
                      "it with `cadastre node convert`");
  }
  const server::TopologyGroup& group = *topology.group(topology.coordination);
  switch (mode) {
    case StartMode::kRestart:
      return base::fail(
          SealError::kRefused,
          fmt::format("the directory has nothing of node {}: --bootstrap founds a new cluster "
                      "(once, on each of its voters), --join adds a new node to a running one; a "
                      "node that lost its directory joins under a new raft_id",
                      node.value()));
    case StartMode::kBootstrap:
      if (std::ranges::find(group.voters, node) == group.voters.end()) {
        return base::fail(SealError::kRefused,
                          fmt::format("node {} is no voter of group {} in the topology, so it "
                                      "founds nothing: start it with --join",
                                      node.value(), group.id.value()));
      }
      return NodeSeal{topology.cluster, node, Beginning::kFounder, false, 0, topology.digest};
    case StartMode::kJoin: break;
  }
  return NodeSeal{topology.cluster, node, Beginning::kJoiner, false, 0, topology.digest};
}

}  // namespace

base::Bytes encode_seal(const NodeSeal& seal) {
  base::Bytes bytes(kSealBytes);
  std::memcpy(bytes.data(), kMagic.data(), kMagic.size());
  base::store_le<std::uint16_t>(&bytes[4], kVersion);
  bytes[6] = static_cast<std::byte>(seal.beginning);
  bytes[7] = static_cast<std::byte>(seal.logged ? 1 : 0);
  base::store_le<std::uint64_t>(&bytes[8], seal.cluster.value());
  base::store_le<std::uint64_t>(&bytes[16], seal.node.value());
  base::store_le<std::uint64_t>(&bytes[24], seal.starts);
  std::ranges::copy(seal.digest, bytes.begin() + kDigestAt);
  base::store_le<std::uint32_t>(&bytes[kSummedBytes],
                                base::crc32c(base::ByteView(bytes).first(kSummedBytes)));
  return bytes;
}

std::optional<NodeSeal> decode_seal(base::ByteView bytes) {
  if (bytes.size() != kSealBytes || base::as_text(bytes.first(kMagic.size())) != kMagic)
    return std::nullopt;
  if (base::load_le<std::uint32_t>(&bytes[kSummedBytes]) !=
      base::crc32c(bytes.first(kSummedBytes))) {
    return std::nullopt;
  }
  const auto beginning = static_cast<std::uint8_t>(bytes[6]);
  const auto logged = static_cast<std::uint8_t>(bytes[7]);
  if (base::load_le<std::uint16_t>(&bytes[4]) != kVersion || logged > 1 || beginning < 1 ||
      beginning > 2) {
    return std::nullopt;
  }
  NodeSeal seal{log::ClusterId{base::load_le<std::uint64_t>(&bytes[8])},
                log::NodeId{base::load_le<std::uint64_t>(&bytes[16])},
                static_cast<Beginning>(beginning),
                logged == 1,
                base::load_le<std::uint64_t>(&bytes[24]),
                {}};
  std::ranges::copy(bytes.subspan(kDigestAt, seal.digest.size()), seal.digest.begin());
  return seal;
}

base::Result<NodeSeal, SealError> decide_start(const Found& found,
                                               StartMode mode,
                                               const server::Topology& topology,
                                               log::NodeId node) {
  if (!found.seal) return begin_anew(found, mode, topology, node);
  const NodeSeal& seal = *found.seal;
  if (seal.cluster != topology.cluster) {
    return base::fail(SealError::kForeign,
                      fmt::format("the directory belongs to cluster {}, and the topology is that "
                                  "of cluster {}: give the other --data or the other --topology",
                                  seal.cluster.value(), topology.cluster.value()));
  }
  if (seal.node != node) {
    return base::fail(SealError::kForeign,
                      fmt::format("the directory is that of node {}, not of node {}: give its own "
                                  "--data, or --node {}",
                                  seal.node.value(), node.value(), seal.node.value()));
  }
  if (seal.logged && !found.log) {
    return base::fail(
        SealError::kDamaged,
        fmt::format("the log of node {} is gone, and with it the votes that it gave: {}",
                    node.value(), kRejoinAdvice));
  }
  if (seal.logged && mode == StartMode::kBootstrap) {
    return base::fail(
        SealError::kRefused,
        fmt::format("node {} has been founded: start it without --bootstrap", node.value()));
  }
  if (mode == StartMode::kJoin && seal.beginning == Beginning::kFounder) {
    return base::fail(
        SealError::kRefused,
        fmt::format("node {} founded its cluster: start it without --join", node.value()));
  }
  return seal;
}

base::Result<void, SealError> check_topology(const NodeSeal& seal,
                                             const server::Topology& topology,
                                             const std::optional<server::Topology>& began,
                                             log::Index configuration) {
  const bool seed_active =
      seal.beginning == Beginning::kFounder && configuration <= log::kFounding.index;
  if (!seed_active || seal.digest == topology.digest) return {};
  if (began && server::differ_in_addresses_only(*began, topology)) return {};
  return base::fail(SealError::kRefused,
                    "the topology file is not the one that this node began with, and no change of "
                    "membership has been committed since: give the file as it was, the same on all "
                    "nodes, and change members with `cadastre node`");
}

std::optional<server::Topology> load_first_topology(const std::filesystem::path& directory,
                                                    const NodeSeal& seal) {
  const auto bytes = coord::replicated::PosixSnapshotFiles(directory).read(kTopologyName);
  if (!bytes || !*bytes) return std::nullopt;
  auto topology = server::parse_topology(base::as_text(**bytes));
  if (!topology || topology->digest != seal.digest) return std::nullopt;
  return *std::move(topology);
}

base::Result<void, SealError> store_first_topology(const std::filesystem::path& directory,
                                                   const server::Topology& topology) {
  return store(directory, kTopologyName, base::as_bytes(topology.text));
}

base::Result<std::optional<NodeSeal>, SealError> load_seal(const std::filesystem::path& directory) {
  std::error_code ignored;
  if (!std::filesystem::exists(directory / kSealName, ignored)) return std::nullopt;
  const auto bytes = coord::replicated::PosixSnapshotFiles(directory).read(kSealName);
  if (!bytes) return base::fail(SealError::kCannotIo, bytes.error().detail);
  if (!*bytes) return std::nullopt;
  const auto seal = decode_seal(**bytes);
  if (!seal) {
    return base::fail(SealError::kDamaged,
                      fmt::format("{} does not read as this release writes it: start the release "
                                  "that wrote it, or join with an empty directory and a new "
                                  "raft_id",
                                  (directory / kSealName).string()));
  }
  return seal;
}

base::Result<void, SealError> store_seal(const std::filesystem::path& directory,
                                         const NodeSeal& seal) {
  return store(directory, kSealName, encode_seal(seal));
}

base::Result<void, SealError> remove_seal(const std::filesystem::path& directory) {
  std::error_code code;
  std::filesystem::remove(directory / kSealName, code);
  if (code) return base::fail(SealError::kCannotIo, directory.string() + ": " + code.message());
  const auto synced = coord::replicated::PosixSnapshotFiles(directory).sync_names();
  if (!synced) return base::fail(SealError::kCannotIo, synced.error().detail);
  return {};
}

}  // namespace cadastre::node
