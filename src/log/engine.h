// Engine: decides what is committed. One for each group and node; no I/O, no thread, no clock.
//
// The log thread feeds it (propose, tick, on_…) and carries out what it asks for (take_output). Each
// output has a number, and its parts have an order:
//
//   snapshot         in place of the whole log, written before the entries; persisted once the state machine has
//                    switched to it. Such an output has no committed entries (L-58, L-59)
//   messages         leave at once: a leader's, whose replication overlaps its own sync
//   entries, state   written and synced if must_sync, then on_persisted(number); sets complete in order
//   held             leave after this output and all before it are persisted (5.2, L-54)
//   committed        executed in index order; they are persisted here already
//   reads            answered once the state machine has applied their index
//
// An output that need not be synced counts as persisted once all before it are (L-44).
// Order on one replica: truncated <= durable <= applied <= min(committed, persisted) <= last.
//
// What only a replicated engine has is its Replica (replica.h).

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "log/entry.h"
#include "log/propose.h"
#include "log/snapshot.h"
#include "log/types.h"

namespace cadastre::log {

class Replica;

// Reaches metrics: the values stay.
enum class Role : std::uint8_t {
  kFollower = 0,
  kPreCandidate = 1,
  kCandidate = 2,
  kLeader = 3,
  kLearner = 4,
  kHalted = 5,
};

[[nodiscard]] std::string_view name_of(Role role) noexcept;

// What a vote, a term and a commit index need to survive. Stored with the position of the last entry.
struct HardState {
  Term term;
  NodeId vote;   // 0: none.
  Index commit;  // 0 under an engine that commits what is synced.

  friend bool operator==(const HardState&, const HardState&) noexcept = default;
};

// Names one round of reads in the life of a cluster (L-79).
struct ReadContext {
  NodeId node = {};
  std::uint64_t run = 0;       // Of the process: another one at each start.
  std::uint64_t sequence = 0;  // Unique in the life of the process.

  friend bool operator==(const ReadContext&, const ReadContext&) noexcept = default;
};
struct ReadState {
  ReadContext context;
  Index index;
};

// Appends go by the bulk lane, where heartbeats do not queue behind them (L-64).
enum class Lane : std::uint8_t {
  kControl,
  kBulk,
};

// To a peer, as bytes of the engine's own encoding.
struct PeerMessage {
  NodeId to;
  Lane lane = Lane::kControl;
  Body bytes;
  bool heartbeat = false;  // Its answer shows how long the way there and back is.
};

struct Output {
  OutputNumber number;
  bool must_sync = false;          // Else nothing here has to survive a crash.
  std::optional<HardState> state;  // Nothing: unchanged.
  std::optional<Snapshot> snapshot;
  std::vector<Entry> entries;  // To persist; they replace whatever the log has from the first on.
  std::vector<PeerMessage> messages;
  std::vector<PeerMessage> held;
  std::vector<Entry> committed;
  std::vector<ReadState> reads;
};

struct EngineStatus {
  Role role = Role::kFollower;
  Term term;
  NodeId leader;     // 0: not known.
  Index term_start;  // The entry that opened `term`, if this node leads in it and gave it out.
  Index last;
  Index persisted;
  Index committed;
};

class Engine {
 public:
  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  virtual ~Engine() = default;

  // Appends one entry for each body, all or none, in `term_or_any` or not at all (L-17). The position
  // of the first.
  [[nodiscard]] virtual base::Result<Position, ProposeError> propose(
      Term term_or_any, std::span<const Body> bodies) = 0;
  // Answered by Output::reads, or never: it may be lost, and is forgotten with leadership (L-82).
  virtual void read_index(const ReadContext& context) = 0;
  virtual void tick() = 0;

  [[nodiscard]] virtual bool has_output() const = 0;
  [[nodiscard]] virtual Output take_output() = 0;
  virtual void on_persisted(OutputNumber upto) = 0;
  virtual void on_applied(Index upto) = 0;
  virtual void on_truncated(Position upto) = 0;

  [[nodiscard]] virtual EngineStatus status() const = 0;

  // Its side towards peers; nothing if it has none.
  [[nodiscard]] virtual Replica* replica() noexcept = 0;
};

}  // namespace cadastre::log
