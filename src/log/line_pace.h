// LinePace: how many lines of one kind an operator gets. So many in a window; the rest is counted and told when the next
// window begins. Pure: the caller brings the time.

#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "log/limits.h"

namespace cadastre::log {

class LinePace {
 public:
  struct Verdict {
    bool write = false;
    std::uint64_t left_out = 0;  // In the window that has ended.
  };

  [[nodiscard]] Verdict ask(base::Elapsed now) noexcept {
    Verdict verdict;
    if (!began_ || now - *began_ >= kLineWindow) {
      began_ = now;
      written_ = 0;
      verdict.left_out = std::exchange(left_out_, 0);
    }
    verdict.write = written_ < kLinesPerWindow;
    ++(verdict.write ? written_ : left_out_);
    return verdict;
  }

 private:
  std::optional<base::Elapsed> began_;
  std::uint64_t written_ = 0;
  std::uint64_t left_out_ = 0;
};

}  // namespace cadastre::log
