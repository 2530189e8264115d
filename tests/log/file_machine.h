// FileMachine: a state machine of numbers that is durable in a file of its own: a flush writes a new file,
// syncs it, and renames it over the one before. It flushes by itself now and then.
//
// A command is a number, eight bytes little-endian, and is answered by nothing.
//
// State file, version 1. Integers are little-endian.
//
//   offset  size  field
//        0     8  term     of the last entry executed
//        8     8  index    the same
//       16     8  digest   LedgerState's
//       24     8  count    numbers
//       32    8n  numbers  in the order of their execution
//   32 + 8n     4  crc32c   of everything before

#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "log/ledger_testing.h"
#include "log/state_machine.h"

namespace cadastre::log {

class FileMachine final : public StateMachine {
 public:
  // Flushes after every `flush_every` rounds; 0: only when asked.
  FileMachine(std::filesystem::path file, std::size_t flush_every);

  [[nodiscard]] Position applied() const override { return state_.applied; }
  [[nodiscard]] Position durable() const override { return durable_; }
  [[nodiscard]] base::Result<void, ApplyError> apply(std::span<const EntryView> round,
                                                     ResultSink& results) override;
  void request_flush() override;
  [[nodiscard]] base::Result<Position, CheckpointError> checkpoint(
      const CheckpointTarget& to) override;
  [[nodiscard]] base::Result<void, InstallError> check(
      const StagedCheckpoint& staged) const override;
  [[nodiscard]] base::Result<void, InstallError> install(const StagedCheckpoint& from) override;

  [[nodiscard]] std::uint64_t digest() const noexcept { return state_.digest; }
  [[nodiscard]] std::vector<std::uint64_t> numbers() const;

 private:
  void load();

  const std::filesystem::path file_;
  const std::size_t flush_every_;
  std::size_t rounds_ = 0;
  LedgerState state_;
  Position durable_;
};

[[nodiscard]] std::vector<std::uint64_t> numbers_of(const LedgerState& state);

}  // namespace cadastre::log
