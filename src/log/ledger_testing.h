// LedgerMachine: a state machine that remembers what it executed, in order, with a rolling digest. What
// it has flushed lies in a LedgerDisk, which outlives it as a disk outlives a process.
//
// The answer to a command is the number of commands executed up to it, eight bytes little-endian.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "base/endian.h"
#include "base/xxh3.h"
#include "log/state_machine.h"

namespace cadastre::log {

struct LedgerState {
  Position applied;
  std::uint64_t digest = 0;
  std::vector<std::string> commands;

  void execute(Position at, ByteView command) {
    const Bytes before = [&] {
      Bytes bytes(24);
      base::store_le(bytes.data(), digest);
      base::store_le(bytes.data() + 8, at.term.value());
      base::store_le(bytes.data() + 16, at.index.value());
      return bytes;
    }();
    Bytes both = before;
    both.insert(both.end(), command.begin(), command.end());
    digest = base::xxh3_64(both);
    commands.emplace_back(base::as_text(command));
  }
};

struct LedgerDisk {
  LedgerState flushed;
};

class LedgerMachine final : public StateMachine {
 public:
  enum class Flush : std::uint8_t {
    kWhenAsked,
    kEveryRound
  };

  explicit LedgerMachine(LedgerDisk& disk, Flush flush = Flush::kWhenAsked)
      : disk_(disk), flush_(flush), state_(disk.flushed) {}

  [[nodiscard]] Position applied() const override { return state_.applied; }
  [[nodiscard]] Position durable() const override { return disk_.flushed.applied; }

  [[nodiscard]] base::Result<void, ApplyError> apply(std::span<const EntryView> round,
                                                     ResultSink& results) override {
    for (const EntryView& entry : round) {
      CAD_CHECK(entry.at.index == state_.applied.index + 1, "each index once, in order");
      CAD_CHECK(entry.at.term >= state_.applied.term, "terms never go back");
      for (const ByteView command : entry.commands) {
        if (base::as_text(command) == poison)
          return base::fail(ApplyError::kCommand, "a command that nobody knows");
        state_.execute(entry.at, command);
        Bytes count(8);
        base::store_le(count.data(), std::uint64_t{state_.commands.size()});
        results.result(std::move(count));
      }
      state_.applied = entry.at;
    }
    if (broken) return base::fail(ApplyError::kStorage, "the state's disk is gone");
    if (flush_ == Flush::kEveryRound) request_flush();
    return {};
  }
  void request_flush() override { disk_.flushed = state_; }
  [[nodiscard]] base::Result<Position, CheckpointError> checkpoint(
      const CheckpointTarget&) override {
    return state_.applied;
  }

  [[nodiscard]] const LedgerState& state() const noexcept { return state_; }

  std::string poison = "\x01poison";  // A command that halts the group.
  bool broken = false;                // apply() fails from now on.

 private:
  LedgerDisk& disk_;
  const Flush flush_;
  LedgerState state_;
};

}  // namespace cadastre::log
