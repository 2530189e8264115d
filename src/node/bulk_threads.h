// BulkThreads: the two threads on which files of checkpoints are made, hashed and moved (log.md 1.3).
//
// stop() runs what waits and joins; afterwards nothing may be given to them.

#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <functional>
#include <thread>
#include <utility>

#include "base/check.h"
#include "base/mutex.h"
#include "server/bulk_pool.h"

namespace cadastre::node {

class BulkThreads final : public server::BulkPool {
 public:
  static constexpr std::size_t kThreads = 2;
  // Seals, stagings and ranges under way are bounded, and each has one task; more is our own mistake.
  static constexpr std::size_t kTasksMax = 65'536;

  BulkThreads() {
    for (std::jthread& thread : threads_)
      thread = std::jthread([this] { work(); });
  }
  ~BulkThreads() override { stop(); }

  void run(std::move_only_function<void()> task) override CAD_EXCLUDES(mutex_) {
    const base::MutexLock lock(mutex_);
    CAD_CHECK(!stopping_, "nobody gives work to threads that end");
    CAD_CHECK(tasks_.size() < kTasksMax, "each user waits for its task");
    tasks_.push_back(std::move(task));
    changed_.notify_one();
  }

  void stop() CAD_EXCLUDES(mutex_) {
    {
      const base::MutexLock lock(mutex_);
      stopping_ = true;
      changed_.notify_all();
    }
    for (std::jthread& thread : threads_) {
      if (thread.joinable()) thread.join();
    }
  }

 private:
  void work() CAD_EXCLUDES(mutex_) {
    for (;;) {
      std::move_only_function<void()> task;
      {
        const base::MutexLock lock(mutex_);
        while (tasks_.empty() && !stopping_)
          changed_.wait(mutex_);
        if (tasks_.empty()) return;
        task = std::move(tasks_.front());
        tasks_.pop_front();
      }
      task();
    }
  }

  base::Mutex mutex_;
  base::CondVar changed_;
  std::deque<std::move_only_function<void()>> tasks_ CAD_GUARDED_BY(mutex_);
  bool stopping_ CAD_GUARDED_BY(mutex_) = false;
  std::array<std::jthread, kThreads> threads_;  // Last: they use what stands above.
};

}  // namespace cadastre::node
