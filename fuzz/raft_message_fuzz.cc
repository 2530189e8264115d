// Messages of peers at the border to raft-rs: whatever the bytes are, cad_raft_head and cad_raft_step return, and what
// has no head is not stepped. The first byte says whether the node campaigns.
//
// Two well-formed lies end the process by design and are not tried (src/log/raft/DESIGN.md): a heartbeat that commits more
// than the log has, and the highest possible term.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include <cadastre_raft.h>

#include "base/bytes.h"
#include "base/check.h"
#include "fuzz/target.h"

namespace cadastre::fuzz {
namespace {

constexpr std::uint32_t kMsgHeartbeat = 8;
constexpr std::uint64_t kCommitField = 8;
constexpr std::uint64_t kLast = 1;  // Of the node's log.

cad_result read_nothing(void* /*self*/,
                        std::uint64_t /*low*/,
                        std::uint64_t /*high*/,
                        std::uint64_t /*bytes_max*/,
                        cad_entries** /*out*/) {
  return CAD_DROPPED;
}

void log_nothing(void* /*self*/, std::uint32_t /*level*/, cad_slice /*text*/) {}

std::optional<std::uint64_t> take_number(base::ByteView& bytes) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 70 && !bytes.empty(); shift += 7) {
    const auto byte = std::to_integer<std::uint64_t>(bytes.front());
    bytes = bytes.subspan(1);
    if (shift < 64) value |= (byte & 0x7fU) << shift;
    if ((byte & 0x80U) == 0) return value;
  }
  return std::nullopt;
}

// The last word counts, as with every number of protobuf.
std::uint64_t commit_of(base::ByteView bytes) {
  std::uint64_t commit = 0;
  while (!bytes.empty()) {
    const auto tag = take_number(bytes);
    if (!tag) break;
    const std::uint64_t form = *tag & 7U;
    if (form == 1 || form == 5) {
      const std::size_t width = form == 1 ? 8 : 4;
      if (bytes.size() < width) break;
      bytes = bytes.subspan(width);
      continue;
    }
    const auto value = take_number(bytes);
    if (!value) break;
    if (form == 0 && *tag >> 3U == kCommitField) commit = *value;
    if (form != 2) continue;
    if (*value > bytes.size()) break;
    bytes = bytes.subspan(*value);
  }
  return commit;
}

// Node 2 of three, as it is founded.
cad_raft* make_node() {
  static constexpr std::uint64_t kVoters[] = {1, 2, 3};
  cad_config config{};
  config.group = 7;
  config.id = 2;
  config.applied = kLast;
  config.election_tick = 20;
  config.heartbeat_tick = 2;
  config.max_inflight_msgs = 32;
  config.pre_vote = 1;
  config.check_quorum = 1;
  config.max_size_per_msg = 1U << 20U;
  config.max_uncommitted_size = 1U << 26U;
  config.max_committed_size_per_ready = 1U << 20U;
  config.hard_state = {1, 0, kLast};
  config.conf.voters = {kVoters, 3};
  config.conf_index = 1;
  config.truncated_index = kLast;
  config.truncated_term = 1;
  const cad_callbacks callbacks{nullptr, read_nothing, log_nothing};
  cad_raft* node = nullptr;
  CAD_CHECK(cad_raft_create(&config, &callbacks, &node) == CAD_OK, "a founding image is sound");
  return node;
}

void drain(cad_raft* node) {
  if (cad_raft_has_ready(node) == 0) return;
  cad_ready_free(cad_raft_take_ready(node));
}

}  // namespace

void run_one(base::ByteView input) {
  if (input.empty()) return;
  const base::ByteView bytes = input.subspan(1);
  const cad_slice message{reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
  cad_head head{};
  const cad_result looked = cad_raft_head(message, &head);
  if (looked == CAD_OK) {
    if (head.term == std::numeric_limits<std::uint64_t>::max()) return;
    if (head.type == kMsgHeartbeat && commit_of(bytes) > kLast) return;
  }
  cad_raft* const node = make_node();
  if ((input[0] & std::byte{1}) != std::byte{0}) {
    (void)cad_raft_campaign(node);
    drain(node);
  }
  const cad_result stepped = cad_raft_step(node, message);
  CAD_CHECK(looked == CAD_OK || stepped == CAD_MALFORMED, "what has no head is no message");
  drain(node);
  cad_raft_destroy(node);
}

}  // namespace cadastre::fuzz
