#include "sim/checkers/executions.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "sim/checkers/history.h"
#include "sim/checkers/history_text.h"
#include "sim/checkers/model.h"
#include "sim/schedule/sim_time.h"

namespace cadastre::sim::checkers {
namespace {

class Inspection {
 public:
  Inspection(std::span<const Operation> operations, std::span<const std::uint64_t> log)
      : operations_(operations), log_(log), by_place_(log.size() + 1) {}

  std::vector<Misdeed> run() {
    index_commands();
    walk_log();
    for (const Operation& operation : operations_) {
      if (operation.outcome != Outcome::kOk) continue;
      if (operation.call.argument) {
        check_acknowledged(operation);
      } else {
        place_read(operation);
      }
    }
    check_times();
    return std::move(found_);
  }

 private:
  struct Command {
    const Operation* operation;
    std::size_t place = 0;  // In the log, from 1; 0 if it is not there.
  };

  struct Place {
    const Operation* command = nullptr;
    std::vector<const Operation*> reads;  // Those that saw the log end here.
  };

  void note(Misexecution what, std::size_t place, const Operation& operation) {
    found_.push_back({what, fmt::format("place {}: {}", place, to_text(operation))});
  }

  void index_commands() {
    for (const Operation& operation : operations_) {
      const OpKind kind = operation.call.kind;
      const bool is_command = kind == OpKind::kAppend || kind == OpKind::kAppendAt;
      CAD_CHECK(is_command == operation.call.argument.has_value(), "only commands have a number");
      if (!is_command) continue;
      const bool is_new =
          commands_.try_emplace(*operation.call.argument, Command{&operation}).second;
      CAD_CHECK(is_new, "every command has a number of its own");
    }
  }

  void walk_log() {
    std::uint64_t digest = log_digest({});
    places_.emplace(digest, 0);
    for (std::size_t place = 1; place <= log_.size(); ++place) {
      digest = extended(digest, log_[place - 1]);
      places_.emplace(digest, place);
      const auto it = commands_.find(log_[place - 1]);
      if (it == commands_.end()) {
        found_.push_back(
            {Misexecution::kForeign, fmt::format("place {}: command {}", place, log_[place - 1])});
        continue;
      }
      Command& command = it->second;
      if (command.place != 0) {
        note(Misexecution::kTwice, place, *command.operation);
        continue;
      }
      command.place = place;
      by_place_[place].command = command.operation;
      if (command.operation->outcome == Outcome::kFailed)
        note(Misexecution::kThoughRefused, place, *command.operation);
    }
  }

  void check_acknowledged(const Operation& operation) {
    const std::size_t place = commands_.at(*operation.call.argument).place;
    if (place == 0) {
      note(Misexecution::kMissing, place, operation);
    } else if (operation.call.kind == OpKind::kAppendAt && operation.result != place) {
      note(Misexecution::kWrongAnswer, place, operation);
    }
  }

  void place_read(const Operation& operation) {
    std::size_t place = log_.size() + 1;
    if (operation.result && operation.call.kind == OpKind::kLength) {
      place = static_cast<std::size_t>(std::min<std::uint64_t>(*operation.result, place));
    } else if (operation.result) {
      const auto it = places_.find(*operation.result);
      if (it != places_.end()) place = it->second;
    }
    if (place > log_.size()) {
      note(Misexecution::kWrongAnswer, log_.size(), operation);
    } else {
      by_place_[place].reads.push_back(&operation);
    }
  }

  // An operation must not have returned before the call of one that the order has before it. Reads of
  // one place have no order among themselves.
  void check_times() {
    SimTime latest_call{};
    const auto check = [&](const Operation& operation, std::size_t place) {
      if (operation.outcome == Outcome::kOk && operation.returned < latest_call)
        note(Misexecution::kOutOfTime, place, operation);
    };
    for (std::size_t place = 0; place < by_place_.size(); ++place) {
      if (const Operation* command = by_place_[place].command) {
        check(*command, place);
        latest_call = std::max(latest_call, command->called);
      }
      for (const Operation* read : by_place_[place].reads)
        check(*read, place);
      for (const Operation* read : by_place_[place].reads)
        latest_call = std::max(latest_call, read->called);
    }
  }

  // Constant after construction.
  const std::span<const Operation> operations_;
  const std::span<const std::uint64_t> log_;

  std::unordered_map<std::uint64_t, Command> commands_;  // By number; looked up, never walked.
  std::unordered_map<std::uint64_t, std::size_t>
      places_;                   // By digest of the log up to there; likewise.
  std::vector<Place> by_place_;  // From 0, the empty log.
  std::vector<Misdeed> found_;
};

}  // namespace

std::vector<Misdeed> check_executions(std::span<const Operation> operations,
                                      std::span<const std::uint64_t> log) {
  return Inspection(operations, log).run();
}

}  // namespace cadastre::sim::checkers
