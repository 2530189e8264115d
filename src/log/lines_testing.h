// Lines: what an operator would have read, kept by event.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/logger.h"

namespace cadastre::log {

class Lines final : public base::LogSink {
 public:
  explicit Lines(const base::Clock& clock) : logger_(*this, clock, base::LogForm::kText) {}

  void write(base::LogLevel level, std::string_view line) override {
    all.emplace_back(level, std::string(line));
  }
  [[nodiscard]] const base::Logger* logger() const noexcept { return &logger_; }

  // Those of this level that say so.
  [[nodiscard]] std::vector<std::string> with(base::LogLevel level, std::string_view words) const {
    std::vector<std::string> found;
    for (const auto& [of, line] : all) {
      if (of == level && line.find(words) != std::string::npos) found.push_back(line);
    }
    return found;
  }

  std::vector<std::pair<base::LogLevel, std::string>> all;

 private:
  const base::Logger logger_;
};

}  // namespace cadastre::log
