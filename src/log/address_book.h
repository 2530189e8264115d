// AddressBook: where nodes are to be found (L-69).
//
// Three sources, of which a later one wins: the topology file, the context of a configuration change, what a node
// says of itself over an authenticated stream. It is a cache: a wrong address costs time, never safety. At most
// kPeersMax nodes; more are not taken in.
//
// A value; belongs to whoever locks it.

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "log/frame_bodies.h"
#include "log/types.h"

namespace cadastre::log {

// In the order of their weight.
enum class AddressSource : std::uint8_t {
  kTopology = 0,
  kConfiguration = 1,
  kNodeItself = 2,
};

struct PeerAddress {
  NodeId node = {};
  NodeAddress address = {};

  friend bool operator==(const PeerAddress&, const PeerAddress&) noexcept = default;
};

class AddressBook {
 public:
  // True: where the node is to be found has changed. An address that is none is not taken in.
  bool learn(AddressSource source, const PeerAddress& heard);
  // All that a source says now: nodes that it names no more are forgotten there. True: something has changed.
  bool replace(AddressSource source, const std::vector<PeerAddress>& all);

  [[nodiscard]] std::optional<NodeAddress> find(NodeId node) const;
  [[nodiscard]] std::vector<PeerAddress> all() const;  // By node.

 private:
  using Heard = std::array<std::optional<NodeAddress>, 3>;  // By source.

  [[nodiscard]] static const NodeAddress* best(const Heard& heard) noexcept;

  std::map<NodeId, Heard> nodes_;
};

}  // namespace cadastre::log
