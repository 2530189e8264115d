// GroupCommit: changes of many threads in few transactions.
//
// A caller whose change finds no other at work carries it out at once; changes that arrive meanwhile
// wait, and the next one to go takes all of them into one transaction. Those whom the last commit has
// answered are likely to come back: where there were several, the next leader lets them run for a moment
// first. So a lone caller waits for nobody, and eight callers share the cost of a flush. A change that
// fails takes nobody with it: the transaction is given up and each of its changes runs again in one of
// its own.
//
// A change may run more than once, and only its last run counts. It runs in the thread of some caller.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/function_ref.h"
#include "base/mutex.h"
#include "base/result.h"
#include "bitmap/error.h"
#include "kv/store.h"

namespace cadastre::bitmap {

using Change = base::FunctionRef<base::Result<void, Error>(kv::WriteTransaction&)>;

struct GroupCommitStats {
  std::uint64_t changes = 0;
  std::uint64_t commits = 0;
  std::uint64_t retries = 0;  // runs again after a conflict or because the store had to grow
};

class GroupCommit {
 public:
  // Borrows the store.
  explicit GroupCommit(kv::Store& store) noexcept : store_(store) {}

  // Returns when the change is committed, or was not. Grows the store and retries conflicts, within
  // kRetriesMax. Never from inside a change.
  [[nodiscard]] base::Result<void, Error> run(Change change);

  [[nodiscard]] GroupCommitStats stats() const;

 private:
  static constexpr std::size_t kGroupMax = 64;
  static constexpr int kRetriesMax = 8;
  static constexpr int kYieldsMax = 32;  // of a leader that lets others come

  struct Waiting {
    Change change;
    std::optional<base::Result<void, Error>> result;  // once it is done
  };

  // Gives the processor away until as many changes wait as there were callers lately, or in vain.
  void let_others_come() CAD_EXCLUDES(mutex_);
  [[nodiscard]] std::vector<Waiting*> take_group() CAD_EXCLUDES(mutex_);
  void lead(std::vector<Waiting*>& group) CAD_EXCLUDES(mutex_);
  [[nodiscard]] base::Result<void, Error> commit_all(std::vector<Waiting*>& group);
  [[nodiscard]] base::Result<void, Error> commit_with_retries(std::vector<Waiting*>& group);
  // Whether another attempt may help.
  [[nodiscard]] bool recover(const Error& error);

  kv::Store& store_;
  mutable base::Mutex mutex_;
  base::CondVar changed_;
  std::deque<Waiting*> queue_ CAD_GUARDED_BY(mutex_);
  bool is_led_ CAD_GUARDED_BY(mutex_) = false;
  std::size_t callers_ CAD_GUARDED_BY(mutex_) = 1;  // when the last group was done
  GroupCommitStats stats_ CAD_GUARDED_BY(mutex_);
};

}  // namespace cadastre::bitmap
