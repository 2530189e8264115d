#include "sim/coord/sweep.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/function_ref.h"
#include "sim/coord/faults.h"
#include "sim/coord/simulation.h"
#include "sim/coord/world.h"

namespace cadastre::sim {
namespace {

// What the signal handler prints; written before each seed.
constexpr std::size_t kNoteBytesMax = 256;
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): a handler has no arguments
std::array<char, kNoteBytesMax> abort_note{};
std::size_t abort_note_size = 0;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

extern "C" void print_abort_note(int /*signal*/) {
  std::ignore = write(STDERR_FILENO, abort_note.data(), abort_note_size);
}

// Says which seed it was if the process aborts during its life.
class AbortNote {
 public:
  explicit AbortNote(std::string_view text) noexcept {
    abort_note_size = std::min(text.size(), abort_note.size());
    std::copy_n(text.begin(), abort_note_size, abort_note.begin());
    before_ = std::signal(SIGABRT, print_abort_note);
  }
  AbortNote(const AbortNote&) = delete;
  AbortNote& operator=(const AbortNote&) = delete;
  ~AbortNote() { std::ignore = std::signal(SIGABRT, before_); }

 private:
  void (*before_)(int) = SIG_DFL;
};

}  // namespace

std::string repeat_command(const SimulationOptions& options) {
  return fmt::format("./dev sim --scenario coord --seed {} --level {} --steps {} --backend {}",
                     options.seed, name(options.level), options.safety_operations,
                     options.world.backend == SimBackend::kEtcd ? "etcd" : "memory");
}

SweepReport sweep(const SweepOptions& options, base::FunctionRef<bool()> goes_on) {
  SweepReport out;
  for (std::uint64_t i = 0; i < options.seeds && goes_on(); ++i) {
    const std::uint64_t seed = options.first_seed + i;
    const FaultLevel level = options.level.value_or(kFaultLevels[seed % kFaultLevels.size()]);
    SimulationOptions run = options_of(seed, level, options.operations);
    run.world.backend = options.backend;
    const AbortNote note(fmt::format("aborted; to see it again: {}\n", repeat_command(run)));
    Report report = simulate(run);
    ++out.seeds;
    out.operations += report.operations;
    out.simulated_time += report.end_time;
    out.events.add(report.events);
    if (!report.violations.empty()) {
      out.failure = std::move(report);
      break;
    }
  }
  return out;
}

std::string to_text(const SweepReport& report) {
  return fmt::format("{} seeds, {} operations, {} requests, simulated time {}, digest {:016x}\n{}",
                     report.seeds, report.operations, report.events.requests(),
                     report.simulated_time, report.events.digest(), report.events.to_text());
}

}  // namespace cadastre::sim
