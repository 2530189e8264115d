// Bodies of the frames that are no engine's (L-68, L-69, L-75). Integers are little-endian.
//
//   snapshot report   u64 index of the snapshot, u8: 1 installed, 0 failed
//   address hint      u16 n + n bytes of the peer address, u16 n + n bytes of the service address
//   not here          u64 index of the configuration that the sender knows of the group; 0: none
//
// A reader rejects every length it does not expect. An address is 1 to kAddressBytesMax bytes of visible ASCII;
// a service address may be missing.
//
// Pure functions.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "log/types.h"

namespace cadastre::log {

struct SnapshotReport {
  Index index = {};
  bool installed = false;

  friend bool operator==(const SnapshotReport&, const SnapshotReport&) noexcept = default;
};

// Where a node is to be found.
struct NodeAddress {
  std::string peer = {};     // By other nodes.
  std::string service = {};  // By clients; empty: not known.

  friend bool operator==(const NodeAddress&, const NodeAddress&) noexcept = default;
};

[[nodiscard]] bool is_address(std::string_view text) noexcept;

[[nodiscard]] base::Bytes encode_snapshot_report(const SnapshotReport& report);
[[nodiscard]] std::optional<SnapshotReport> decode_snapshot_report(base::ByteView body);

// Both addresses are such, or the second is empty.
[[nodiscard]] base::Bytes encode_address_hint(const NodeAddress& address);
[[nodiscard]] std::optional<NodeAddress> decode_address_hint(base::ByteView body);

[[nodiscard]] base::Bytes encode_not_here(Index configuration);
[[nodiscard]] std::optional<Index> decode_not_here(base::ByteView body);

}  // namespace cadastre::log
