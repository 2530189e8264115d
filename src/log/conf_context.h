// ConfContext: what a configuration says beside its members: where joiners are to be found (L-91), who was removed
// and never comes back (L-90), and whether the group was once continued without its quorum (L-93). Every change
// carries the whole of it, so that the newest record knows all that came before.
//
//   offset  size  field
//        0     2  version    1
//        2     2  flags      bit 0: recovered; other bits are zero
//        4     2  addresses  at most kContextAddressesMax
//        6     2  removed    at most kRemovedMax
//        8     .  addresses  u64 node, u16 n + n bytes of an address hint (frame_bodies.h); nodes ascending
//        .    8r  removed    u64 node; ascending
//
// Integers are little-endian. No bytes at all are the context of a group whose members never changed. A reader
// rejects an unknown version, an unknown flag and every length it does not expect. Pure.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "log/address_book.h"
#include "log/conf_state.h"
#include "log/limits.h"
#include "log/types.h"

namespace cadastre::log {

// Nodes that left a group. Full: nobody is removed any more; found a new group.
inline constexpr std::size_t kRemovedMax = 1'000;
inline constexpr std::size_t kContextAddressesMax = 2 * kMembersMax;
static_assert(8 + 8 * kRemovedMax <= kConfContextBytesMax / 2,
              "addresses keep half of a context for themselves");

struct ConfContext {
  bool recovered = false;
  std::vector<PeerAddress> addresses = {};  // By node.
  std::vector<NodeId> removed = {};         // Ascending.

  [[nodiscard]] bool has_left(NodeId node) const noexcept;

  friend bool operator==(const ConfContext&, const ConfContext&) noexcept = default;
};

// Both lists are as above, and within their bounds.
[[nodiscard]] base::Bytes encode_conf_context(const ConfContext& context);
// Nothing if the bytes are no such context.
[[nodiscard]] std::optional<ConfContext> decode_conf_context(base::ByteView bytes);

// Of a record: bytes that a newer release wrote say nothing here.
[[nodiscard]] ConfContext context_of(const ConfRecord& record);

}  // namespace cadastre::log
