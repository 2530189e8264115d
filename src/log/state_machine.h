// StateMachine: what a group executes. Owned by an upper room; called on the group's applier only, one
// call at a time, and by the thread that opens the group before the applier exists.
//
// Its duties
//   1. apply is a function of its own state and the entries: it reads no clock, no random source, no
//      configuration and no other group (L-3). A refusal is a result, equal on every replica.
//   2. It stores `applied` (term and index) in the same atomic write as the effects (L-4), so that after
//      a crash durable() names exactly the entries whose effects are there.
//   3. A storage failure is no result: it returns an error, and the group halts on this node.

#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "base/bytes.h"
#include "base/result.h"
#include "log/checkpoint.h"
#include "log/entry.h"
#include "log/types.h"

namespace cadastre::log {

enum class ApplyError : std::uint8_t {
  kStorage,  // The state could not be read or written: the group halts, the others go on.
  kCommand,  // A command of an unknown kind: written by a newer release, start that one.
};

enum class CheckpointError : std::uint8_t {
  kExists,   // Something is at the target already: choose another.
  kStorage,  // Files could not be written: look at `detail`, try again.
  kBusy,     // Another checkpoint of this group is being made: wait for it.
  kStopped,  // The group is closing or has halted on this node.
};

enum class InstallError : std::uint8_t {
  kStorage,  // The state could not be written: the group halts, and a restart tries again.
  kDamaged,  // The files are not what the manifest promises: the same.
  kNewer,    // Written by a newer release: start that one.
};

// Where a checkpoint's files go. The directory does not exist; its parent does.
struct CheckpointTarget {
  std::filesystem::path directory;
};

// A checkpoint that is completely here, synced, and is what its manifest says.
struct StagedCheckpoint {
  std::filesystem::path directory;
  CheckpointManifest manifest;
};

// Takes one result for each command of the round, in order.
class ResultSink {
 public:
  ResultSink() = default;
  ResultSink(const ResultSink&) = delete;
  ResultSink& operator=(const ResultSink&) = delete;
  virtual ~ResultSink() = default;

  virtual void result(base::Bytes result) = 0;
};

class StateMachine {
 public:
  StateMachine() = default;
  StateMachine(const StateMachine&) = delete;
  StateMachine& operator=(const StateMachine&) = delete;
  virtual ~StateMachine() = default;

  // What has been executed, effects that a crash would lose included.
  [[nodiscard]] virtual Position applied() const = 0;
  // What a crash now would leave. Never above applied(), never going back.
  [[nodiscard]] virtual Position durable() const = 0;

  // Executes the entries, each one index above the one before; one result for each command. When it
  // returns, readers see all of it.
  [[nodiscard]] virtual base::Result<void, ApplyError> apply(std::span<const EntryView> round,
                                                             ResultSink& results) = 0;

  // Raises durable() to what is applied now, soon; does not wait for it.
  virtual void request_flush() = 0;

  // Files with exactly what is applied now, synced when it returns, and openable without the log. The
  // position they stand at.
  [[nodiscard]] virtual base::Result<Position, CheckpointError> checkpoint(
      const CheckpointTarget& to) = 0;

  // Whether install() would take what lies there: reads all of it, understands it, and finds the state at the
  // manifest's position. Changes nothing. Asked before the log makes way for a checkpoint (L-74): what is refused
  // here is offered anew; what install() refuses halts the group.
  [[nodiscard]] virtual base::Result<void, InstallError> check(
      const StagedCheckpoint& staged) const = 0;

  // Puts what lies there in place of the whole state, durably: applied() and durable() are the manifest's position
  // when it returns. On an error, and after a crash inside, the state is the old one or the new one, whole. Doing it
  // again does no harm (L-76).
  [[nodiscard]] virtual base::Result<void, InstallError> install(const StagedCheckpoint& from) = 0;
};

}  // namespace cadastre::log
