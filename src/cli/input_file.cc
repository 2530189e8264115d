#include "cli/input_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

#include "base/result.h"
#include "cli/command_error.h"

namespace cadastre::cli {

Result<InputFile, CommandError> InputFile::open(const std::string& name, int standard_input) {
  if (name == "-") return InputFile(standard_input, false);
  const int descriptor = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return base::fail(cannot_read(name, errno));
  return InputFile(descriptor, true);
}

InputFile::InputFile(InputFile&& other) noexcept
    : descriptor_(other.descriptor_), owned_(std::exchange(other.owned_, false)) {}

InputFile::~InputFile() {
  if (owned_) ::close(descriptor_);
}

}  // namespace cadastre::cli
