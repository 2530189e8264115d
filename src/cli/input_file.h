// InputFile: a file that a command reads, or standard input where its name is "-".

#pragma once

#include <string>

#include "base/result.h"
#include "cli/command_error.h"

namespace cadastre::cli {

using base::Result;

// Closes what it opened; standard input stays open.
class InputFile {
 public:
  [[nodiscard]] static Result<InputFile, CommandError> open(const std::string& name,
                                                            int standard_input);
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&&) = delete;
  ~InputFile();

  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

 private:
  InputFile(int descriptor, bool owned) noexcept : descriptor_(descriptor), owned_(owned) {}

  int descriptor_;
  bool owned_;
};

}  // namespace cadastre::cli
