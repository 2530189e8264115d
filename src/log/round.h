// One round of an applier: entries in, effects and results out.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "log/entry.h"
#include "log/state_machine.h"

namespace cadastre::log {

enum class HaltReason : std::uint8_t {
  kDamaged,  // An entry is not what was proposed.
  kNewer,    // An entry or a command of a newer release.
  kStorage,  // The state could not be read or written.
};

// Decodes, checks and executes entries. Its lists are used again and again.
class Round final : public ResultSink {
 public:
  // Executes entries that follow what `machine` has applied. On an error nothing is said about what was
  // executed: the group halts.
  [[nodiscard]] base::Result<void, HaltReason> run(StateMachine& machine,
                                                   std::span<const Entry* const> entries);

  // One for each command of the last run, in order.
  [[nodiscard]] std::vector<base::Bytes>& results() noexcept { return results_; }

  // Of an entry of the last run, by its place in it.
  [[nodiscard]] std::size_t commands_of(std::size_t entry) const {
    return views_[entry].commands.size();
  }

  void result(base::Bytes result) override { results_.push_back(std::move(result)); }

 private:
  std::vector<std::vector<ByteView>> commands_;
  std::vector<EntryView> views_;
  std::vector<base::Bytes> results_;
};

}  // namespace cadastre::log
