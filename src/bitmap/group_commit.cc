#include "bitmap/group_commit.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "bitmap/error.h"
#include "bitmap/stored.h"
#include "kv/error.h"
#include "kv/store.h"

namespace cadastre::bitmap {

using base::MutexLock;
using base::Result;

Result<void, Error> GroupCommit::run(Change change) {
  Waiting own{change, std::nullopt};
  {
    const MutexLock lock(mutex_);
    queue_.push_back(&own);
    stats_.changes += 1;
  }
  for (;;) {
    {
      const MutexLock lock(mutex_);
      while (!own.result && is_led_)
        changed_.wait(mutex_);
      if (own.result) return std::move(*own.result);
      is_led_ = true;
    }
    let_others_come();
    std::vector<Waiting*> group = take_group();
    lead(group);
  }
}

void GroupCommit::let_others_come() {
  for (int i = 0; i < kYieldsMax; ++i) {
    {
      const MutexLock lock(mutex_);
      if (queue_.size() >= callers_) return;
    }
    std::this_thread::yield();
  }
}

std::vector<GroupCommit::Waiting*> GroupCommit::take_group() {
  const MutexLock lock(mutex_);
  const auto end = queue_.begin() + static_cast<std::ptrdiff_t>(std::min(queue_.size(), kGroupMax));
  std::vector<Waiting*> group(queue_.begin(), end);
  queue_.erase(queue_.begin(), end);
  return group;
}

GroupCommitStats GroupCommit::stats() const {
  const MutexLock lock(mutex_);
  return stats_;
}

void GroupCommit::lead(std::vector<Waiting*>& group) {
  std::vector<Result<void, Error>> results;
  results.reserve(group.size());
  auto whole = commit_with_retries(group);
  if (whole || group.size() == 1) {
    results.assign(group.size(), whole);
  } else {
    for (Waiting* const one : group) {
      std::vector<Waiting*> alone{one};
      results.push_back(commit_with_retries(alone));
    }
  }
  const MutexLock lock(mutex_);
  for (std::size_t i = 0; i < group.size(); ++i)
    group[i]->result = std::move(results[i]);
  callers_ = std::min(group.size() + queue_.size(), kGroupMax);
  is_led_ = false;
  changed_.notify_all();
}

Result<void, Error> GroupCommit::commit_with_retries(std::vector<Waiting*>& group) {
  for (int attempt = 0;; ++attempt) {
    auto committed = commit_all(group);
    if (committed || attempt == kRetriesMax || !recover(committed.error())) return committed;
    const MutexLock lock(mutex_);
    stats_.retries += 1;
  }
}

Result<void, Error> GroupCommit::commit_all(std::vector<Waiting*>& group) {
  const auto txn = CAD_TRY(stored(store_.begin_write()));
  for (Waiting* const one : group)
    CAD_TRY(one->change(*txn));
  CAD_TRY(stored(txn->commit()));
  const MutexLock lock(mutex_);
  stats_.commits += 1;
  return {};
}

bool GroupCommit::recover(const Error& error) {
  const auto* const cause = std::get_if<kv::Error>(&error.cause);
  if (cause == nullptr) return false;
  if (cause->code == kv::ErrorCode::kConflict) return true;
  if (cause->code != kv::ErrorCode::kMapFull) return false;
  return store_.grow(kv::OpenTransactions::kWait).has_value();
}

}  // namespace cadastre::bitmap
