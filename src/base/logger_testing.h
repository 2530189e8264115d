// CapturedLog: a sink that keeps its lines, for tests that need a Logger and for those of the Logger
// itself. Tests elsewhere do not assert on the text of lines. Safe from any thread.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/logger.h"
#include "base/mutex.h"

namespace cadastre::base {

class CapturedLog final : public LogSink {
 public:
  void write(LogLevel level, std::string_view line) override {
    const MutexLock lock(mutex_);
    levels_.push_back(level);
    lines_.emplace_back(line);
  }

  [[nodiscard]] std::vector<std::string> lines() const {
    const MutexLock lock(mutex_);
    return lines_;
  }
  [[nodiscard]] std::vector<LogLevel> levels() const {
    const MutexLock lock(mutex_);
    return levels_;
  }

 private:
  mutable Mutex mutex_;
  std::vector<std::string> lines_ CAD_GUARDED_BY(mutex_);
  std::vector<LogLevel> levels_ CAD_GUARDED_BY(mutex_);
};

}  // namespace cadastre::base
