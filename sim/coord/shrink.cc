#include "sim/coord/shrink.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "base/function_ref.h"
#include "sim/coord/simulation.h"
#include "sim/coord/step.h"

namespace cadastre::sim {
namespace {

constexpr int kExitPassed = 0;
constexpr int kExitViolated = 1;

History without(const History& history, std::size_t first, std::size_t count) {
  History rest;
  rest.reserve(history.size() - count);
  for (std::size_t i = 0; i < history.size(); ++i) {
    if (i < first || i >= first + count) rest.push_back(history[i]);
  }
  return rest;
}

// Once from front to back; whether a chunk could be left out.
bool leave_out_chunks(History& history,
                      std::size_t chunk,
                      base::FunctionRef<bool(const History&)> fails,
                      std::size_t& attempts_left) {
  bool shorter = false;
  for (std::size_t first = 0; first < history.size();) {
    if (attempts_left == 0) return false;
    --attempts_left;
    const std::size_t count = std::min(chunk, history.size() - first);
    History rest = without(history, first, count);
    if (fails(rest)) {
      history = std::move(rest);
      shorter = true;
    } else {
      first += count;
    }
  }
  return shorter;
}

}  // namespace

History shrink(History history, base::FunctionRef<bool(const History&)> fails) {
  std::size_t attempts_left = kShrinkAttemptsMax;
  for (std::size_t chunk = std::max<std::size_t>(history.size() / 2, 1); chunk > 0; chunk /= 2) {
    while (leave_out_chunks(history, chunk, fails, attempts_left)) {}
  }
  return history;
}

namespace {

Ending in_child(base::FunctionRef<Report()> run) {
  const pid_t child = fork();
  CAD_CHECK(child >= 0, "a process can be started");
  if (child == 0) {
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(nowhere, STDERR_FILENO);
    _exit(run().violations.empty() ? kExitPassed : kExitViolated);
  }
  int status = 0;
  CAD_CHECK(waitpid(child, &status, 0) == child, "the child ends");
  // NOLINTBEGIN(misc-include-cleaner): documented to come from <sys/wait.h>
  if (!WIFEXITED(status)) return Ending::kAborted;
  const int code = WEXITSTATUS(status);
  // NOLINTEND(misc-include-cleaner)
  if (code == kExitPassed) return Ending::kPassed;
  return code == kExitViolated ? Ending::kViolated : Ending::kAborted;
}

}  // namespace

Ending simulate_in_child(const SimulationOptions& options) {
  return in_child([&] { return simulate(options); });
}

Ending replay_in_child(const SimulationOptions& options, const History& history) {
  return in_child([&] { return replay(options, history); });
}

History history_of_abort(const SimulationOptions& options) {
  SimulationOptions shorter = options;
  std::uint64_t passing = 0;
  std::uint64_t aborting = options.safety_operations;
  while (aborting - passing > 1) {
    shorter.safety_operations = passing + (aborting - passing) / 2;
    const bool passed = simulate_in_child(shorter) == Ending::kPassed;
    (passed ? passing : aborting) = shorter.safety_operations;
  }
  shorter.safety_operations = passing;
  return look_ahead(shorter);
}

History shrink_failure(const SimulationOptions& options, const History& history, Ending ending) {
  return shrink(history, [&](const History& candidate) {
    return replay_in_child(options, candidate) == ending;
  });
}

std::string to_text(const History& history) {
  std::string text;
  for (std::size_t i = 0; i < history.size(); ++i)
    text += fmt::format("  {:4} {}\n", i + 1, to_text(history[i]));
  return text;
}

}  // namespace cadastre::sim
