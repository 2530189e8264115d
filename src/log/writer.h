// Writer: the log thread's hand. It carries one set at a time to the disk; sets complete in order (L-43).
//
//   log thread      hand_over(set) -> busy until take_finished() answers
//   writer thread   take() -> LogStorage::write -> finish(result)

#pragma once

#include <optional>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "log/runner.h"
#include "log/storage.h"

namespace cadastre::log {

using WriteResult = base::Result<void, WriteError>;

class Writer {
 public:
  explicit Writer(Runner& runner) noexcept : runner_(runner) {}

  void hand_over(WriteSet set) CAD_EXCLUDES(mutex_) {
    {
      const base::MutexLock lock(mutex_);
      CAD_CHECK(!set_ && !finished_, "one set is in the disk at a time");
      set_ = std::move(set);
    }
    runner_.wake_writer();
  }
  [[nodiscard]] std::optional<WriteSet> take() CAD_EXCLUDES(mutex_) {
    const base::MutexLock lock(mutex_);
    return std::exchange(set_, std::nullopt);
  }
  void finish(WriteResult result) CAD_EXCLUDES(mutex_) {
    {
      const base::MutexLock lock(mutex_);
      finished_ = std::move(result);
    }
    runner_.wake_log();
  }
  [[nodiscard]] std::optional<WriteResult> take_finished() CAD_EXCLUDES(mutex_) {
    const base::MutexLock lock(mutex_);
    return std::exchange(finished_, std::nullopt);
  }

 private:
  Runner& runner_;
  base::Mutex mutex_;
  std::optional<WriteSet> set_ CAD_GUARDED_BY(mutex_);
  std::optional<WriteResult> finished_ CAD_GUARDED_BY(mutex_);
};

}  // namespace cadastre::log
