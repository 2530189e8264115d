#include "node/applier_pool.h"

#include <algorithm>
#include <utility>

namespace cadastre::node {

void ApplierPool::start(int threads, Run run) {
  run_ = std::move(run);
  threads_max_ = static_cast<std::size_t>(threads);
  for (int i = 0; i < threads; ++i)
    threads_.emplace_back([this] { work(); });
}

int ApplierPool::enqueue(log::GroupId group) {
  states_[group] = State::kQueued;
  ready_.push_back(group);
  if (asleep_ == 0) return 0;
  --asleep_;  // It is as good as awake: the next one needs no second notification.
  return 1;
}

void ApplierPool::wake(std::span<const log::GroupId> groups) {
  int notify = 0;
  {
    const base::MutexLock lock(mutex_);
    for (const log::GroupId group : groups) {
      State& state = states_[group];
      if (state == State::kRunning) state = State::kRunningAgain;
      if (state == State::kIdle) notify += enqueue(group);
    }
  }
  for (; notify > 0; --notify)
    changed_.notify_one();
}

std::vector<log::GroupId> ApplierPool::take_share() {
  constexpr std::size_t kShareMax = 16;
  const std::size_t fair = (ready_.size() + threads_max_ - 1) / threads_max_;
  std::vector<log::GroupId> share;
  while (!ready_.empty() && share.size() < std::min(fair, kShareMax)) {
    share.push_back(ready_.front());
    ready_.pop_front();
    states_[share.back()] = State::kRunning;
  }
  return share;
}

void ApplierPool::work() {
  std::vector<log::GroupId> share;
  std::vector<bool> more;
  for (;;) {
    int notify = 0;
    {
      const base::MutexLock lock(mutex_);
      for (std::size_t i = 0; i < share.size(); ++i) {
        State& state = states_[share[i]];
        if (more[i] || state == State::kRunningAgain) {  // Behind the others: no group starves.
          notify += enqueue(share[i]);
        } else {
          state = State::kIdle;
        }
      }
      while (ready_.empty() && !stopping_) {
        ++asleep_;
        changed_.wait(mutex_);
      }
      if (stopping_) return;
      share = take_share();
    }
    for (; notify > 0; --notify)
      changed_.notify_one();
    more.assign(share.size(), false);
    for (std::size_t i = 0; i < share.size(); ++i)
      more[i] = run_(share[i]);
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
