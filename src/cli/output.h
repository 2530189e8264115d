// Output: answers on their way to a file descriptor, collected into large writes.
//
// The first write that fails is remembered and everything after it is dropped; a command that
// prints much asks failed() and stops. A reader that has gone (EPIPE) is a failure like the others
// here; only the exit treats it quietly.

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cadastre::cli {

class Output {
 public:
  explicit Output(int descriptor);

  // `line` and its end. Written at the latest by the next flush().
  void line(std::string_view line);
  void flush();

  [[nodiscard]] bool failed() const noexcept { return error_.has_value(); }
  [[nodiscard]] std::optional<int> error() const noexcept { return error_; }  // of errno

 private:
  int descriptor_;
  std::string pending_;
  std::optional<int> error_;
};

}  // namespace cadastre::cli
