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
#include "log/memory_snapshotter.h"
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

// As bytes: term, index, digest, then each command behind its length; all of eight bytes, little-endian.
[[nodiscard]] inline Bytes encode_ledger(const LedgerState& state) {
  Bytes bytes;
  const auto word = [&](std::uint64_t value) {
    bytes.resize(bytes.size() + 8);
    base::store_le(bytes.data() + bytes.size() - 8, value);
  };
  word(state.applied.term.value());
  word(state.applied.index.value());
  word(state.digest);
  for (const std::string& command : state.commands) {
    word(command.size());
    const ByteView text = base::as_bytes(command);
    bytes.insert(bytes.end(), text.begin(), text.end());
  }
  return bytes;
}
[[nodiscard]] inline LedgerState decode_ledger(ByteView bytes) {
  const auto word = [&] {
    const auto value = base::load_le<std::uint64_t>(bytes.data());
    bytes = bytes.subspan(8);
    return value;
  };
  LedgerState state;
  state.applied.term = Term{word()};
  state.applied.index = Index{word()};
  state.digest = word();
  while (!bytes.empty()) {
    const std::size_t size = word();
    state.commands.emplace_back(base::as_text(bytes.first(size)));
    bytes = bytes.subspan(size);
  }
  return state;
}

struct LedgerDisk {
  LedgerState flushed;
  CheckpointShelf* shelf = nullptr;  // Of the node; without it checkpoints hold nothing.
};

class LedgerMachine : public StateMachine {
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
      const CheckpointTarget& to) override {
    if (disk_.shelf != nullptr && !disk_.shelf->put(to.directory, encode_ledger(state_)))
      return base::fail(CheckpointError::kExists, to.directory.string());
    if (checkpoints_break) return base::fail(CheckpointError::kStorage, "the disk is full");
    return state_.applied;
  }
  [[nodiscard]] base::Result<void, InstallError> check(
      const StagedCheckpoint& staged) const override {
    const auto state = CAD_TRY(read(staged));
    if (state.applied == staged.manifest.at) return {};
    return base::fail(InstallError::kDamaged, "the checkpoint is at " + to_string(state.applied));
  }
  [[nodiscard]] base::Result<void, InstallError> install(const StagedCheckpoint& from) override {
    state_ = CAD_TRY(read(from));
    disk_.flushed = state_;
    ++installs;
    return {};
  }

  [[nodiscard]] const LedgerState& state() const noexcept { return state_; }

  std::string poison = "\x01poison";  // A command that halts the group.
  bool broken = false;                // apply() fails from now on.
  bool outdated = false;              // Checkpoints are of a newer release.
  int installs = 0;
  bool checkpoints_break = false;  // They fail when half of them is written.

 private:
  [[nodiscard]] base::Result<LedgerState, InstallError> read(const StagedCheckpoint& from) const {
    if (outdated) return base::fail(InstallError::kNewer, "of a release that is not known here");
    const Bytes* const content =
        disk_.shelf == nullptr ? nullptr : disk_.shelf->find(from.directory);
    if (content == nullptr) return base::fail(InstallError::kDamaged, from.directory.string());
    return decode_ledger(*content);
  }

  LedgerDisk& disk_;
  const Flush flush_;
  LedgerState state_;
};

}  // namespace cadastre::log
