// LineReader: lines of a file descriptor, of a bounded length each.
//
// Before each read(2), which may wait for more input, it calls `before_wait`: a batch flushes its
// answers there, so that whoever writes one request and waits for its answer gets it. Memory is
// bounded by the longest line seen, never by how many there are. The last line needs no end.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "cli/limits.h"

namespace cadastre::cli {

struct LineRead {
  enum class Kind : std::uint8_t {
    kLine,
    kTooLong,  // the line was skipped; the next one can be read
    kEnd,
    kFailed,  // error is errno
  };

  Kind kind;
  std::string_view text;  // without its end; valid until the next call
  int error = 0;
};

class LineReader {
 public:
  // Borrows the descriptor. `line_bytes_max` is the longest line that is handed out.
  explicit LineReader(int descriptor) : LineReader(descriptor, [] {}) {}
  LineReader(int descriptor,
             std::function<void()> before_wait,
             std::size_t line_bytes_max = kBatchLineBytesMax);

  [[nodiscard]] LineRead next();

 private:
  enum class Fill : std::uint8_t {
    kMore,
    kEnd,
    kFailed,
  };

  // Reads once, behind what is there.
  [[nodiscard]] Fill fill();
  [[nodiscard]] LineRead last_line();
  [[nodiscard]] LineRead skip_line();
  [[nodiscard]] std::string_view unread() const noexcept {
    return {buffer_.data() + begin_, end_ - begin_};
  }

  int descriptor_;
  std::function<void()> before_wait_;
  std::size_t line_bytes_max_;
  std::vector<char> buffer_;  // unread bytes are [begin_, end_)
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  int error_ = 0;
};

}  // namespace cadastre::cli
