// Replica: what a replicated engine has beyond Engine: peers, membership, transfer. The log thread calls
// it as it calls the engine.
//
// A change of membership acts in two steps (L-55): it is proposed and committed like any entry, and takes
// effect when apply_conf is called. Its caller makes the new configuration durable before it takes the
// next output.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "log/conf_state.h"
#include "log/entry.h"
#include "log/snapshot.h"
#include "log/types.h"

namespace cadastre::log {

// What the loop must know of a peer's message before an engine sees it.
enum class MessageKind : std::uint8_t {
  kAppend,
  kHeartbeat,
  kSnapshot,
  kVoteRequest,  // And a request for a pre-vote.
  kHeartbeatAnswer,
  kOther,
};
struct MessageHead {
  NodeId from;
  Term term;
  MessageKind kind = MessageKind::kOther;
  bool forced = false;       // A vote request of a leadership transfer.
  std::size_t entries = 0;   // Of an append.
  Position snapshot = {};    // Of a snapshot: its position,
  base::ByteView data = {};  // and its data; borrowed from the message.
};

enum class StepError : std::uint8_t {
  kMalformed,    // The peer is broken or hostile: its streams end.
  kUnknownPeer,  // No member, as far as is known here.
  kIgnored,      // Nothing happened: the message asks for what peers may not.
};

enum class ConfError : std::uint8_t {
  kNotLeader,   // Nothing was appended: ask the leader.
  kBusy,        // Nothing was appended: not now. `detail` says what to wait for.
  kInvalid,     // Nothing was appended and never will be: the change makes no sense here.
  kStale,       // Nothing was appended: the membership is no longer what the caller saw; read it.
  kStopped,     // Nothing was appended: the group is closing or has halted on this node.
  kSuperseded,  // Another leader's entry took its place: certainly not done.
  kOutcomeUnknown,  // Appended, then we lost sight of it: read the membership before you decide.
};

enum class ConfOp : std::uint8_t {  // The shim's numbers.
  kAddVoter = 0,
  kRemove = 1,
  kAddLearner = 2,
};
struct ConfStep {
  ConfOp op = ConfOp::kAddVoter;
  NodeId node;
};
// One step is a simple change, several enter a joint configuration, none leaves it (L-87).
struct ConfChange {
  std::vector<ConfStep> steps = {};
  base::Bytes context = {};  // conf_context.h; at most kConfContextBytesMax.
};

enum class TransferError : std::uint8_t {
  kNotLeader,    // Ask the leader.
  kUnknownPeer,  // Not a voter of this group.
  kBehind,       // It lacks too much of the log: wait for it.
  kBusy,         // A change of membership or another transfer is under way: wait for it.
  kTimedOut,     // It did not take over in time; this node may lead on.
  kStopped,      // The group is closing or has halted on this node.
};

// A peer as the leader sees it.
enum class PeerState : std::uint8_t {
  kProbe = 0,
  kReplicate = 1,
  kSnapshot = 2,
};
struct PeerProgress {
  NodeId node;
  Index match;
  PeerState state = PeerState::kProbe;
  bool active = false;  // Heard from within an election timeout.
};

// Entries [low, high) that a peer needs and that are no longer in memory (L-39).
struct EntriesWant {
  NodeId peer;
  Index low;
  Index high;
  std::uint64_t token = 0;
};
// A snapshot of at least `least` that a peer needs (L-40).
struct SnapshotWant {
  NodeId peer;
  Index least;
};
struct Wants {
  std::vector<EntriesWant> entries;
  std::vector<SnapshotWant> snapshots;
};

class Replica {
 public:
  Replica() = default;
  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;
  virtual ~Replica() = default;

  // Nothing if the bytes are no message. Any thread.
  [[nodiscard]] virtual std::optional<MessageHead> look(base::ByteView message) const = 0;
  [[nodiscard]] virtual base::Result<void, StepError> step(base::ByteView message) = 0;
  virtual void report_unreachable(NodeId peer) = 0;

  [[nodiscard]] virtual base::Result<Position, ConfError> propose_conf(
      const ConfChange& change) = 0;
  // A committed change takes effect; the configuration from then on, with the context that it was proposed
  // with. At or below the newest durable configuration nothing changes (L-56). After its own removal an
  // engine does nothing any more.
  [[nodiscard]] virtual base::Result<ConfRecord, ConfError> apply_conf(const Entry& entry) = 0;

  [[nodiscard]] virtual base::Result<void, TransferError> transfer(NodeId to) = 0;

  [[nodiscard]] virtual Wants take_wants() = 0;
  // Nothing: they could not be read, and the peer is asked again later.
  virtual void fetched(std::uint64_t token, std::span<const Entry> entries) = 0;
  // Answers requests for a snapshot at or below its position, once for each peer (L-40). It is committed. Nothing
  // happens unless this node leads.
  virtual void set_snapshot(const Snapshot& snapshot) = 0;
  // Its files are gone: nobody is sent it any more.
  virtual void withdraw_snapshot() = 0;
  // Until then a peer that was sent one gets nothing else (L-75).
  virtual void report_snapshot(NodeId peer, SnapshotFate fate) = 0;
  // Drops entries from memory that lie below, but none above what is applied.
  virtual void shrink_cache(Index keep_from) = 0;
  [[nodiscard]] virtual std::uint64_t cache_bytes() const = 0;

  [[nodiscard]] virtual std::vector<PeerProgress> progress() const = 0;  // Leader: itself too.
  [[nodiscard]] virtual NodeId transferee() const = 0;  // 0: no transfer is pending.
};

}  // namespace cadastre::log
