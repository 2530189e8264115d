// Engine: decides what is committed. One for each group and node; no I/O, no thread, no clock.
//
// The log thread feeds it (propose, tick, on_…) and carries out what it asks for (take_output). Each
// output has a number, and its parts have an order:
//
//   entries, state   written and synced, then on_persisted(number); sets complete in order
//   committed        executed in index order; they are persisted here already
//   reads            answered once the state machine has applied their index
//
// Order on one replica: truncated <= durable <= applied <= min(committed, persisted) <= last.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "log/entry.h"
#include "log/propose.h"
#include "log/types.h"

namespace cadastre::log {

// Reaches metrics: the values stay.
enum class Role : std::uint8_t {
  kFollower = 0,
  kPreCandidate = 1,
  kCandidate = 2,
  kLeader = 3,
  kLearner = 4,
  kHalted = 5,
};

// What a vote, a term and a commit index need to survive. Stored with the position of the last entry.
struct HardState {
  Term term;
  NodeId vote;   // 0: none.
  Index commit;  // 0 under an engine that commits what is synced.

  friend bool operator==(const HardState&, const HardState&) noexcept = default;
};

struct ReadContext {
  std::uint64_t sequence = 0;  // Unique in the life of the process.
};
struct ReadState {
  ReadContext context;
  Index index;
};

struct Output {
  OutputNumber number;
  std::optional<HardState> state;  // Nothing: unchanged.
  std::vector<Entry> entries;  // To persist; they replace whatever the log has from the first on.
  std::vector<Entry> committed;
  std::vector<ReadState> reads;

  [[nodiscard]] bool must_sync() const noexcept { return state.has_value() || !entries.empty(); }
};

struct EngineStatus {
  Role role = Role::kFollower;
  Term term;
  Index term_start;  // The entry that opened `term`, if this node leads in it.
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
  // Answered by Output::reads, or forgotten when leadership is lost.
  virtual void read_index(ReadContext context) = 0;
  virtual void tick() = 0;

  [[nodiscard]] virtual bool has_output() const = 0;
  [[nodiscard]] virtual Output take_output() = 0;
  virtual void on_persisted(OutputNumber upto) = 0;
  virtual void on_applied(Index upto) = 0;
  virtual void on_truncated(Position upto) = 0;

  [[nodiscard]] virtual EngineStatus status() const = 0;
};

}  // namespace cadastre::log
