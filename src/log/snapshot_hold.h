// SnapshotHold: the message of a leader that brings a snapshot, held until its files are here and understood (L-74).
//
//   arrived ─► staging ─► staged ─► understood ─► stepped ─► installed, or ignored by the engine
//                    └─► failed └─► refused by the state machine
//
// One at a time. The same checkpoint again changes nothing but the message, whose term may be newer; one that has only its
// name is dropped, and another one waits until the first has come to an end, whichever. Pure; belongs to the log thread.

#pragma once

#include <optional>
#include <utility>

#include "log/checkpoint.h"
#include "log/snapshotter.h"
#include "log/state_machine.h"
#include "log/transport.h"
#include "log/types.h"

namespace cadastre::log {

class SnapshotHold {
 public:
  struct Message {
    Frame frame;
    CheckpointManifest manifest;

    [[nodiscard]] CheckpointName name() const noexcept {
      return {manifest.group, manifest.node, manifest.id};
    }
  };
  struct Current {
    Message message;
    std::optional<StagedCheckpoint> staged = std::nullopt;
    bool understood = false;  // By the state machine, which would take it.
    bool stepped = false;
  };

  // True: stage it now.
  [[nodiscard]] bool arrived(Message message);

  [[nodiscard]] Current* current() noexcept { return current_ ? &*current_ : nullptr; }

  // The current one has come to an end. True: another one waits, and is to be staged now.
  [[nodiscard]] bool finish() {
    current_.reset();
    if (!next_) return false;
    current_ = Current{*std::exchange(next_, std::nullopt)};
    return true;
  }

 private:
  std::optional<Current> current_;
  std::optional<Message> next_;
};

}  // namespace cadastre::log
