#include "cli/main.h"

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "cli/command.h"
#include "cli/command_error.h"
#include "cli/command_line.h"
#include "cli/options.h"
#include "cli/output.h"

namespace cadastre::cli {
namespace {

constexpr int kExitFailed = 1;

int report(const CommandError& error, Format format) {
  Output err(STDERR_FILENO);
  err.line(error_line(error, format));
  err.flush();
  return exit_status(error);
}

}  // namespace

int run(int argc, char** argv) {
  const std::span<char* const> all(argv, static_cast<std::size_t>(argc));
  std::vector<std::string> arguments = with_empty_values(all.subspan(all.empty() ? 0 : 1));
  const Format format = format_asked_for(arguments);
  Output out(STDOUT_FILENO);
  const base::SystemClock clock;
  base::OsSeededRandom random;
  const auto result =
      parse_and_run(std::move(arguments), [&](const Options& options, const Command& command) {
        Context context{options, out, STDIN_FILENO, clock, random};
        return command(context);
      });
  out.flush();
  if (!result) return report(result.error(), format);
  if (!out.failed()) return 0;
  if (*out.error() == EPIPE) return kExitFailed;
  return report(cannot_write(*out.error()), format);
}

}  // namespace cadastre::cli
