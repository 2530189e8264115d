// RegisterMachine: numbered registers as a state machine of the log, and the disk its state is flushed to.
//
// A command has a number of its own. One that was executed answers again what it answered then, so that
// a command which reached the log twice takes effect once. The digest depends on every entry up to the
// applied one.
//
// A StateDisk outlives the machine: a crash leaves exactly what was last flushed. Checkpoints lie on the node's shelf.

#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "base/bytes.h"
#include "base/result.h"
#include "log/state_machine.h"
#include "sim/checkers/history.h"
#include "sim/log/piece_shelf.h"

namespace cadastre::sim {

struct RegisterCommand {
  std::uint64_t number = 0;
  checkers::OpKind kind = checkers::OpKind::kWrite;  // kWrite or kCompareAndSet
  std::uint64_t key = 0;
  checkers::Value expected;
  std::uint64_t argument = 0;
};

[[nodiscard]] base::Bytes encode(const RegisterCommand& command);

struct RegisterState {
  log::Position applied;
  std::uint64_t digest = 0;
  std::map<std::uint64_t, std::uint64_t> registers;
  std::map<std::uint64_t, checkers::Value> answers;  // by command
};

// As bytes, for checkpoints.
[[nodiscard]] base::Bytes encode(const RegisterState& state);
[[nodiscard]] RegisterState decode_state(base::ByteView bytes);

struct StateDisk {
  RegisterState flushed;
};

class RegisterMachine final : public log::StateMachine {
 public:
  // Both of the node.
  RegisterMachine(StateDisk& disk, PieceShelf& shelf)
      : disk_(disk), shelf_(shelf), state_(disk.flushed) {}

  [[nodiscard]] log::Position applied() const override { return state_.applied; }
  [[nodiscard]] log::Position durable() const override { return disk_.flushed.applied; }
  [[nodiscard]] base::Result<void, log::ApplyError> apply(std::span<const log::EntryView> round,
                                                          log::ResultSink& results) override;
  void request_flush() override { disk_.flushed = state_; }
  [[nodiscard]] base::Result<log::Position, log::CheckpointError> checkpoint(
      const log::CheckpointTarget& to) override;
  [[nodiscard]] base::Result<void, log::InstallError> check(
      const log::StagedCheckpoint& staged) const override;
  [[nodiscard]] base::Result<void, log::InstallError> install(
      const log::StagedCheckpoint& from) override;

  [[nodiscard]] const RegisterState& state() const noexcept { return state_; }
  [[nodiscard]] checkers::Value read(std::uint64_t key) const;

 private:
  [[nodiscard]] checkers::Value execute(const RegisterCommand& command);

  StateDisk& disk_;
  PieceShelf& shelf_;
  RegisterState state_;
};

// What apply() answered to a command.
[[nodiscard]] checkers::Value decode_result(base::ByteView result);

}  // namespace cadastre::sim
