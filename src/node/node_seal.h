// NodeSeal: whose data directory this is: which node of which cluster, how it began, and with which topology. What a
// start may do is decided against it, so that no voter quietly begins anew with an empty memory (S-8 to S-11).
//
//   DIR/NODE, version 1. Integers are little-endian.
//
//   offset  size  field
//        0     4  magic      "CDNS"
//        4     2  version    1
//        6     1  beginning  1: founder, 2: joiner
//        7     1  logged     1: the log was there once, and must be there
//        8     8  cluster
//       16     8  node
//       24     8  starts     of the node's process: peers refuse an older one than they know (L-68)
//       32    32  digest     of the topology file that it began with
//       64     4  crc32c     of bytes 0..63
//
//   DIR/TOPOLOGY   the topology file itself, as it was when the node began: what a later one is held against
//
// Whatever does not load, store or remove is a pure function.

#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "base/blake3.h"
#include "base/bytes.h"
#include "base/result.h"
#include "log/storage/records.h"
#include "log/types.h"
#include "server/topology.h"

namespace cadastre::node {

inline constexpr std::size_t kSealBytes = 68;

// What is left to do with a voter that has forgotten something (L-48).
inline constexpr std::string_view kRejoinAdvice =
    "remove the node from its groups, and join with an empty directory and a new raft_id";

enum class Beginning : std::uint8_t {  // Reaches the disk.
  kFounder = 1,
  kJoiner = 2,
};

struct NodeSeal {
  log::ClusterId cluster = {};
  log::NodeId node = {};
  Beginning beginning = Beginning::kFounder;
  bool logged = false;
  std::uint64_t starts = 0;
  base::Blake3Digest digest = {};

  friend bool operator==(const NodeSeal&, const NodeSeal&) = default;
};

[[nodiscard]] base::Bytes encode_seal(const NodeSeal& seal);
// Nothing if the bytes are not exactly a seal.
[[nodiscard]] std::optional<NodeSeal> decode_seal(base::ByteView bytes);

// What the operator asks for.
enum class StartMode : std::uint8_t {
  kRestart,    // Open what is there.
  kBootstrap,  // Found the cluster together with the other voters, once.
  kJoin,       // Begin with nothing, and wait for a leader to add the node.
};

// What the directory has.
struct Found {
  std::optional<NodeSeal> seal = std::nullopt;
  bool log = false;                                       // The log's files are there.
  std::optional<log::NodeIdentity> owner = std::nullopt;  // Whose log they say they are.
};

enum class SealError : std::uint8_t {
  kForeign,   // The directory is another node's, or no node's: the detail says whose.
  kRefused,   // What was asked for does not fit the directory: the detail says what to do.
  kDamaged,   // The log or the seal is gone or changed.
  kCannotIo,  // The operating system refuses.
};

// The seal to begin with, or why not to begin. `node` is in the topology.
[[nodiscard]] base::Result<NodeSeal, SealError> decide_start(const Found& found,
                                                             StartMode mode,
                                                             const server::Topology& topology,
                                                             log::NodeId node);

// Until a change of membership was committed, the file must be the one that the cluster began with, but for addresses
// (S-8, L-69). `began` is what load_first_topology() found.
[[nodiscard]] base::Result<void, SealError> check_topology(
    const NodeSeal& seal,
    const server::Topology& topology,
    const std::optional<server::Topology>& began,
    log::Index configuration);

// The topology that the node began with; nothing if it is not there, or not the seal's.
[[nodiscard]] std::optional<server::Topology> load_first_topology(
    const std::filesystem::path& directory, const NodeSeal& seal);
// Keeps the seal's own. Durable when it returns.
[[nodiscard]] base::Result<void, SealError> store_first_topology(
    const std::filesystem::path& directory, const server::Topology& topology);

[[nodiscard]] base::Result<std::optional<NodeSeal>, SealError> load_seal(
    const std::filesystem::path& directory);
// Durable when it returns.
[[nodiscard]] base::Result<void, SealError> store_seal(const std::filesystem::path& directory,
                                                       const NodeSeal& seal);
// The directory is no node's any more. Durable when it returns.
[[nodiscard]] base::Result<void, SealError> remove_seal(const std::filesystem::path& directory);

}  // namespace cadastre::node
