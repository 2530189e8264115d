// Executions: what became of the commands of one log, beside what their senders were told.
//
// Where the log itself is known, as it is in a simulation, nothing has to be searched: the order is
// given, and a history of kAppend, kAppendAt, kLength and kReadLog is linearizable with that order if
// and only if nothing is found here. Takes histories of any length and any number of unknown outcomes,
// which LogModel in check_linearizable() does not.
//
// Every command of a history has a number of its own. Pure.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/checkers/history.h"

namespace cadastre::sim::checkers {

enum class Misexecution : std::uint8_t {
  kMissing,        // Acknowledged, and not in the log.
  kTwice,          // In the log more than once.
  kThoughRefused,  // In the log, though its sender was told that it never will be.
  kForeign,        // In the log, and sent by nobody.
  kWrongAnswer,    // A place, a length or a content that the log never had.
  kOutOfTime,      // Returned before something was called that the log has before it.
};

struct Misdeed {
  Misexecution what;
  std::string detail;  // For people: the operation, and where it stands.
};

// `log` holds the commands of one key in the order in which they were executed; `operations` are all of
// that key. Every misdeed, in the order of the log and then of the history.
[[nodiscard]] std::vector<Misdeed> check_executions(std::span<const Operation> operations,
                                                    std::span<const std::uint64_t> log);

}  // namespace cadastre::sim::checkers
