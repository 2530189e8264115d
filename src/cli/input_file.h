// InputFile: a file that a command reads, or standard input where its name is "-".

#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "base/bytes.h"
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

  // All that is left of it; `file_too_large` if that is more than bytes_max.
  [[nodiscard]] Result<base::Bytes, CommandError> read_all(std::size_t bytes_max) const;

 private:
  InputFile(std::string name, int descriptor, bool owned) noexcept
      : name_(std::move(name)), descriptor_(descriptor), owned_(owned) {}

  std::string name_;
  int descriptor_;
  bool owned_;
};

}  // namespace cadastre::cli
