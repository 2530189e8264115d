#include "log/address_book.h"

#include <ranges>

#include "log/frame_limits.h"

namespace cadastre::log {

const NodeAddress* AddressBook::best(const Heard& heard) noexcept {
  for (const auto& address : std::views::reverse(heard)) {
    if (address) return &*address;
  }
  return nullptr;
}

bool AddressBook::learn(AddressSource source, const PeerAddress& heard) {
  if (!is_address(heard.address.peer)) return false;
  if (!heard.address.service.empty() && !is_address(heard.address.service)) return false;
  if (!nodes_.contains(heard.node) && nodes_.size() >= kPeersMax) return false;
  const std::optional<NodeAddress> before = find(heard.node);
  nodes_[heard.node].at(static_cast<std::size_t>(source)) = heard.address;
  return find(heard.node) != before;
}

bool AddressBook::replace(AddressSource source, const std::vector<PeerAddress>& all_now) {
  const std::vector<PeerAddress> before = all();
  for (auto& [node, heard] : nodes_)
    heard.at(static_cast<std::size_t>(source)).reset();
  std::erase_if(nodes_, [](const auto& entry) { return best(entry.second) == nullptr; });
  for (const PeerAddress& heard : all_now)
    (void)learn(source, heard);
  return all() != before;
}

std::optional<NodeAddress> AddressBook::find(NodeId node) const {
  const auto heard = nodes_.find(node);
  if (heard == nodes_.end()) return std::nullopt;
  return *best(heard->second);
}

std::vector<PeerAddress> AddressBook::all() const {
  std::vector<PeerAddress> addresses;
  for (const auto& [node, heard] : nodes_)
    addresses.push_back({node, *best(heard)});
  return addresses;
}

}  // namespace cadastre::log
