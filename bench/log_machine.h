// A state machine that only counts: what is measured is the log.

#pragma once

#include <span>

#include "log/state_machine.h"

namespace cadastre::bench {

class CountingMachine final : public log::StateMachine {
 public:
  [[nodiscard]] log::Position applied() const override { return applied_; }
  [[nodiscard]] log::Position durable() const override { return durable_; }
  [[nodiscard]] base::Result<void, log::ApplyError> apply(std::span<const log::EntryView> round,
                                                          log::ResultSink& results) override {
    for (const log::EntryView& entry : round) {
      for (std::size_t i = 0; i < entry.commands.size(); ++i)
        results.result({});
      applied_ = entry.at;
    }
    return {};
  }
  void request_flush() override { durable_ = applied_; }
  [[nodiscard]] base::Result<log::Position, log::CheckpointError> checkpoint(
      const log::CheckpointTarget& /*to*/) override {
    return applied_;
  }

 private:
  log::Position applied_;
  log::Position durable_;
};

}  // namespace cadastre::bench
