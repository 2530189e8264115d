// A state machine that only counts: what is measured is the log.

#pragma once

#include <cstdint>
#include <span>

#include "log/state_machine.h"

namespace cadastre::bench {

// Whether a flush raises what is durable. A machine that is opened again after a kill has nothing, and needs
// the whole log.
enum class Flushes : std::uint8_t {
  kAtOnce,
  kNever,
};

class CountingMachine final : public log::StateMachine {
 public:
  explicit CountingMachine(Flushes flushes = Flushes::kAtOnce) noexcept : flushes_(flushes) {}

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
  void request_flush() override {
    if (flushes_ == Flushes::kAtOnce) durable_ = applied_;
  }
  [[nodiscard]] base::Result<log::Position, log::CheckpointError> checkpoint(
      const log::CheckpointTarget& /*to*/) override {
    return applied_;
  }
  [[nodiscard]] base::Result<void, log::InstallError> check(
      const log::StagedCheckpoint& /*staged*/) const override {
    return {};
  }
  [[nodiscard]] base::Result<void, log::InstallError> install(
      const log::StagedCheckpoint& from) override {
    applied_ = durable_ = from.manifest.at;
    return {};
  }

 private:
  const Flushes flushes_;
  log::Position applied_;
  log::Position durable_;
};

}  // namespace cadastre::bench
