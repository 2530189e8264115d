// RegisterMachine: numbered registers as a state machine of the log, durable in a file of its own, that tells a file of
// reports which digest it had at each index (sim/checkers/digest_text.h).
//
// A command is text: "put KEY VALUE" or "cas KEY EXPECTED VALUE", where EXPECTED may be nil. It is answered by "ok",
// "swapped" or "kept"; anything else by "error", on every replica alike. The digest depends on every entry up to the
// applied one.
//
// State file, version 1. Integers are little-endian.
//
//   offset  size  field
//        0     8  term     of the last entry executed
//        8     8  index    the same
//       16     8  digest
//       24     8  count    registers
//       32   16n  registers: key, value, by key
//   32 + 16n    4  crc32c   of everything before
//
// A flush writes a new file, syncs it, and renames it over the one before; one that fails, for want of room, leaves the
// one before. Threads: read() from any, the rest as StateMachine says.

#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "log/state_machine.h"

namespace cadastre::cluster {

class RegisterMachine final : public log::StateMachine {
 public:
  struct Files {
    std::filesystem::path state;
    std::filesystem::path reports;  // Added to.
  };
  RegisterMachine(Files files, log::NodeId node);
  ~RegisterMachine() override;

  [[nodiscard]] log::Position applied() const override { return applied_; }
  [[nodiscard]] log::Position durable() const override { return durable_; }
  [[nodiscard]] base::Result<void, log::ApplyError> apply(std::span<const log::EntryView> round,
                                                          log::ResultSink& results) override
      CAD_EXCLUDES(mutex_);
  void request_flush() override CAD_EXCLUDES(mutex_);
  [[nodiscard]] base::Result<log::Position, log::CheckpointError> checkpoint(
      const log::CheckpointTarget& to) override;
  [[nodiscard]] base::Result<void, log::InstallError> check(
      const log::StagedCheckpoint& staged) const override;
  [[nodiscard]] base::Result<void, log::InstallError> install(
      const log::StagedCheckpoint& from) override;

  [[nodiscard]] std::optional<std::uint64_t> read(std::uint64_t key) const CAD_EXCLUDES(mutex_);

 private:
  void load();
  [[nodiscard]] base::Bytes encoded() const CAD_EXCLUDES(mutex_);
  [[nodiscard]] std::string execute(std::string_view command) CAD_REQUIRES(mutex_);
  void report(std::string_view text) const;

  const Files files_;
  const log::NodeId node_;
  const int reports_;  // A file.
  log::Position applied_;
  log::Position durable_;
  std::uint64_t digest_ = 0;
  mutable base::Mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> registers_ CAD_GUARDED_BY(mutex_);
};

}  // namespace cadastre::cluster
