#include "cli/output.h"

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string_view>

#include "cli/limits.h"

namespace cadastre::cli {

Output::Output(int descriptor) : descriptor_(descriptor) {
  pending_.reserve(kWriteBytes);
}

void Output::line(std::string_view line) {
  if (pending_.size() + line.size() >= kWriteBytes) flush();
  if (failed()) return;
  pending_ += line;
  pending_ += '\n';
}

void Output::flush() {
  std::string_view rest = pending_;
  while (!rest.empty() && !failed()) {
    const auto written = ::write(descriptor_, rest.data(), rest.size());
    if (written >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      error_ = errno;
    }
  }
  pending_.clear();
}

}  // namespace cadastre::cli
