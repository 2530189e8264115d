#include "cli/input_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/result.h"
#include "cli/command_error.h"
#include "cli/limits.h"

namespace cadastre::cli {

Result<InputFile, CommandError> InputFile::open(const std::string& name, int standard_input) {
  if (name == "-") return InputFile("standard input", standard_input, false);
  const int descriptor = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return base::fail(cannot_read(name, errno));
  return InputFile(name, descriptor, true);
}

InputFile::InputFile(InputFile&& other) noexcept
    : name_(std::move(other.name_)),
      descriptor_(other.descriptor_),
      owned_(std::exchange(other.owned_, false)) {}

InputFile::~InputFile() {
  if (owned_) ::close(descriptor_);
}

Result<base::Bytes, CommandError> InputFile::read_all(std::size_t bytes_max) const {
  base::Bytes content;
  for (std::size_t filled = 0;;) {
    content.resize(std::max(filled + kReadBytes, content.size()));
    const auto got = ::read(descriptor_, content.data() + filled, content.size() - filled);
    if (got < 0 && errno != EINTR) return base::fail(cannot_read(name_, errno));
    filled += static_cast<std::size_t>(std::max<decltype(got)>(got, 0));
    if (filled > bytes_max) {
      return base::fail(CommandError{"file_too_large",
                                     fmt::format("{} has more than {} bytes", name_, bytes_max)});
    }
    if (got == 0) {
      content.resize(filled);
      return content;
    }
  }
}

}  // namespace cadastre::cli
