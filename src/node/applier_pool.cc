#include "node/applier_pool.h"

#include <utility>

namespace cadastre::node {

void ApplierPool::start(int threads, Run run) {
  run_ = std::move(run);
  for (int i = 0; i < threads; ++i)
    threads_.emplace_back([this] { work(); });
}

bool ApplierPool::enqueue(log::GroupId group) {
  states_[group] = State::kQueued;
  ready_.push_back(group);
  if (asleep_ == 0) return false;
  --asleep_;  // It is as good as awake: the next one needs no second notification.
  return true;
}

void ApplierPool::wake(log::GroupId group) {
  bool notify = false;
  {
    const base::MutexLock lock(mutex_);
    State& state = states_[group];
    switch (state) {
      case State::kQueued:
      case State::kRunningAgain: return;
      case State::kRunning: state = State::kRunningAgain; return;
      case State::kIdle: break;
    }
    notify = enqueue(group);
  }
  if (notify) changed_.notify_one();
}

void ApplierPool::work() {
  for (;;) {
    log::GroupId group;
    {
      const base::MutexLock lock(mutex_);
      while (ready_.empty() && !stopping_) {
        ++asleep_;
        changed_.wait(mutex_);
      }
      if (stopping_) return;
      group = ready_.front();
      ready_.pop_front();
      states_[group] = State::kRunning;
    }
    const bool more = run_(group);
    const base::MutexLock lock(mutex_);
    State& state = states_[group];
    if (more || state == State::kRunningAgain) {  // Behind the others: no group starves.
      if (enqueue(group)) changed_.notify_one();
    } else {
      state = State::kIdle;
    }
  }
}

void ApplierPool::stop() {
  {
    const base::MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  threads_.clear();
}

}  // namespace cadastre::node
