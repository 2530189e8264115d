// A durable counter: commands go through the log, so that what was answered survives any crash.
//
//   log_counter DIRECTORY
//
// Adds 1 to 5, then reads. Run it again, or kill it in between: it goes on where the log stands.
// docs/log.md walks through it.

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <span>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/endian.h"
#include "base/logger.h"
#include "log/group.h"
#include "log/state_machine.h"
#include "node/local_log.h"

namespace {

using namespace cadastre;

// The state: a sum. It never flushes, so that every start replays the whole log; a real one flushes to its
// own storage, together with `applied`, and the log is truncated behind it.
class Counter final : public log::StateMachine {
 public:
  [[nodiscard]] log::Position applied() const override { return applied_; }
  [[nodiscard]] log::Position durable() const override { return {}; }
  [[nodiscard]] base::Result<void, log::ApplyError> apply(std::span<const log::EntryView> round,
                                                          log::ResultSink& results) override {
    for (const log::EntryView& entry : round) {
      for (const base::ByteView command : entry.commands) {
        if (command.size() != sizeof(std::uint64_t))
          return base::fail(log::ApplyError::kCommand, "a command has eight bytes");
        sum_ += base::load_le<std::uint64_t>(command.data());
        base::Bytes answer(sizeof sum_);
        base::store_le(answer.data(), sum_);
        results.result(std::move(answer));
      }
      applied_ = entry.at;
    }
    return {};
  }
  void request_flush() override {}
  [[nodiscard]] base::Result<log::Position, log::CheckpointError> checkpoint(
      const log::CheckpointTarget& /*to*/) override {
    return base::fail(log::CheckpointError::kStorage, "this counter keeps no files");
  }
  [[nodiscard]] base::Result<void, log::InstallError> check(
      const log::StagedCheckpoint& /*staged*/) const override {
    return base::fail(log::InstallError::kStorage, "this counter keeps no files");
  }
  [[nodiscard]] base::Result<void, log::InstallError> install(
      const log::StagedCheckpoint& /*from*/) override {
    return base::fail(log::InstallError::kStorage, "this counter keeps no files");
  }

 private:
  log::Position applied_;
  std::uint64_t sum_ = 0;
};

// Waits for the answer, as a caller without an event loop does.
log::Answer add(log::Group& group, std::uint64_t amount) {
  std::array<std::byte, sizeof amount> command;
  base::store_le(command.data(), amount);
  std::promise<log::Answer> answered;
  std::array proposals{log::Proposal{command, [&](log::Answer answer) {
                                       answered.set_value(std::move(answer));
                                     }}};
  group.propose(proposals, log::Class::kUser);
  return answered.get_future().get();
}

int run(const std::filesystem::path& directory) {
  const base::SystemClock clock;
  const auto sink = base::stderr_log_sink();
  const base::Logger logger(*sink, clock, base::LogForm::kText);
  Counter counter;
  auto log = node::LocalLog::open({.directory = directory}, clock, logger);
  if (!log) {
    fmt::print(stderr, "{}\n", log.error().detail);
    return EXIT_FAILURE;
  }
  auto group = (*log)->host().open_group({.group = log::GroupId{1}, .machine = counter});
  if (!group) {
    fmt::print(stderr, "{}\n", group.error().detail);
    return EXIT_FAILURE;
  }
  for (std::uint64_t amount = 1; amount <= 5; ++amount) {
    const log::Answer answer = add(**group, amount);
    if (!answer) {
      fmt::print(stderr, "{}: {}\n", name_of(answer.error().code), answer.error().detail);
      return EXIT_FAILURE;
    }
    fmt::print("added {} at entry {}: {}\n", amount, answer->at.index.value(),
               base::load_le<std::uint64_t>(answer->result.data()));
  }
  return (*log)->stop(std::chrono::seconds(10)) ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: log_counter DIRECTORY\n");
    return EXIT_FAILURE;
  }
  return run(argv[1]);
}
