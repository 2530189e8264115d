#include "cli/line_reader.h"

#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <functional>
#include <string_view>
#include <utility>

#include "cli/limits.h"

namespace cadastre::cli {

LineReader::LineReader(int descriptor,
                       std::function<void()> before_wait,
                       std::size_t line_bytes_max)
    : descriptor_(descriptor),
      before_wait_(std::move(before_wait)),
      line_bytes_max_(line_bytes_max),
      buffer_(kReadBytes) {}

LineRead LineReader::next() {
  std::size_t searched = 0;
  while (true) {
    const std::size_t found = unread().find('\n', searched);
    if (std::min(found, end_ - begin_) > line_bytes_max_) return skip_line();
    if (found != std::string_view::npos) {
      const std::string_view text = unread().substr(0, found);
      begin_ += found + 1;
      return {LineRead::Kind::kLine, text};
    }
    searched = end_ - begin_;
    switch (fill()) {
      case Fill::kMore: break;
      case Fill::kFailed: return {LineRead::Kind::kFailed, {}, error_};
      case Fill::kEnd: return last_line();
    }
  }
}

LineRead LineReader::last_line() {
  const std::string_view text = unread();
  begin_ = end_;
  if (text.empty()) return {LineRead::Kind::kEnd, {}};
  return {LineRead::Kind::kLine, text};
}

LineRead LineReader::skip_line() {
  while (true) {
    const std::size_t found = unread().find('\n');
    if (found != std::string_view::npos) {
      begin_ += found + 1;
      return {LineRead::Kind::kTooLong, {}};
    }
    begin_ = end_;
    switch (fill()) {
      case Fill::kMore: break;
      case Fill::kFailed: return {LineRead::Kind::kFailed, {}, error_};
      case Fill::kEnd: return {LineRead::Kind::kTooLong, {}};
    }
  }
}

LineReader::Fill LineReader::fill() {
  if (begin_ != 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (buffer_.size() - end_ < kReadBytes) {
    buffer_.resize(std::max(buffer_.size() * 2, end_ + kReadBytes));
  }
  before_wait_();
  while (true) {
    const ssize_t got = ::read(descriptor_, buffer_.data() + end_, kReadBytes);
    if (got > 0) {
      end_ += static_cast<std::size_t>(got);
      return Fill::kMore;
    }
    if (got == 0) return Fill::kEnd;
    if (errno != EINTR) {
      error_ = errno;
      return Fill::kFailed;
    }
  }
}

}  // namespace cadastre::cli
