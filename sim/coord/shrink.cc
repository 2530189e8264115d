#include "sim/coord/shrink.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "base/function_ref.h"
#include "sim/coord/simulation.h"
#include "sim/coord/step.h"
#include "sim/shrink/shrink_list.h"

namespace cadastre::sim {
namespace {

constexpr int kExitPassed = 0;
constexpr int kExitViolated = 1;

Ending in_child(base::FunctionRef<Report()> run) {
  const pid_t child = fork();
  CAD_CHECK(child >= 0, "a process can be started");
  if (child == 0) {
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    CAD_CHECK(nowhere >= 0, "the null device is there");
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

History shrink(History history, base::FunctionRef<bool(const History&)> fails) {
  return shrink_list(std::move(history), kShrinkAttemptsMax, fails);
}

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
