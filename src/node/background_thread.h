// BackgroundThread: tasks that may take long, one after the other, on a thread of their own.
//
// At most kTasksMax wait: each user has at most one task under way, so a full queue is our own mistake.
// stop() runs what waits and joins; afterwards nothing may be given to it.

#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <thread>
#include <utility>

#include "base/check.h"
#include "base/mutex.h"
#include "coord/replicated/machine.h"

namespace cadastre::node {

class BackgroundThread final : public coord::replicated::Background {
 public:
  static constexpr std::size_t kTasksMax = 1024;

  BackgroundThread() : thread_([this] { work(); }) {}
  ~BackgroundThread() override { stop(); }

  void run(std::move_only_function<void()> task) override CAD_EXCLUDES(mutex_) {
    const base::MutexLock lock(mutex_);
    CAD_CHECK(!stopping_, "nobody gives work to a thread that ends");
    CAD_CHECK(tasks_.size() < kTasksMax, "each user waits for its task");
    tasks_.push_back(std::move(task));
    changed_.notify_one();
  }

  void stop() CAD_EXCLUDES(mutex_) {
    {
      const base::MutexLock lock(mutex_);
      stopping_ = true;
      changed_.notify_one();
    }
    if (thread_.joinable()) thread_.join();
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
  std::jthread thread_;  // Last: it uses what stands above.
};

}  // namespace cadastre::node
