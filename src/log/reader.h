// Reader: reads old entries for slow peers, so that the log thread need not (1.3, L-39). At most one request for
// each peer of a group is on its way: an engine asks for no more.
//
//   log thread      ask(request) ─► take_finished()
//   reader thread   take() ─► LogStorage::read ─► finish(answer)

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "log/entry.h"
#include "log/limits.h"
#include "log/runner.h"
#include "log/storage.h"
#include "log/types.h"

namespace cadastre::log {

class Reader {
 public:
  struct Request {
    GroupId group;
    Incarnation incarnation;
    Index low;
    Index high;  // Included.
    std::uint64_t token = 0;
  };
  struct Task {
    Request request;
    std::size_t bytes_max = 0;
  };
  struct Answer {
    Request request;
    base::Result<std::vector<Entry>, LogReadError> entries;
  };

  explicit Reader(Runner& runner) noexcept : runner_(runner) {}

  void ask(const Request& request) CAD_EXCLUDES(mutex_) {
    {
      const base::MutexLock lock(mutex_);
      requests_.push_back(request);
    }
    runner_.wake_reader();
  }
  [[nodiscard]] std::optional<Task> take() CAD_EXCLUDES(mutex_) {
    const base::MutexLock lock(mutex_);
    if (requests_.empty()) return std::nullopt;
    const Task task{requests_.front(), std::max(kFetchBytesMin, kFetchBytesMax / requests_.size())};
    requests_.pop_front();
    return task;
  }
  void finish(Answer answer) CAD_EXCLUDES(mutex_) {
    {
      const base::MutexLock lock(mutex_);
      answers_.push_back(std::move(answer));
    }
    runner_.wake_log();
  }
  [[nodiscard]] std::vector<Answer> take_finished() CAD_EXCLUDES(mutex_) {
    const base::MutexLock lock(mutex_);
    return std::exchange(answers_, {});
  }

 private:
  Runner& runner_;
  base::Mutex mutex_;
  std::deque<Request> requests_ CAD_GUARDED_BY(mutex_);
  std::vector<Answer> answers_ CAD_GUARDED_BY(mutex_);
};

}  // namespace cadastre::log
