// CommandQueue: the commands of one group on their way to the log thread, in the order in which they were
// accepted (L-5), collected into batches as they come (L-10, L-13).
//
// A submission enters whole or not at all, and its commands stay neighbours. A batch closes at
// kBatchCommandsMax or kBatchBytes; what is fenced by a term has a batch of its own. The bounds of 1.3 are
// held here, for what waits and for what is not applied yet. A bound in bytes admits one submission
// when nothing else is there.
//
// Safe from any thread; take() and close() belong to the log thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "log/body.h"
#include "log/intake.h"
#include "log/propose.h"
#include "log/types.h"

namespace cadastre::log {

// One entry to be, and who waits for it.
struct Batch {
  Body body;
  std::vector<Done> waiters;  // One for each command.
  Term term = kAnyTerm;       // The only term it may be appended in.
  base::Elapsed opened{};     // When its first command came.
};

class CommandQueue {
 public:
  struct Amount {
    std::size_t commands = 0;
    std::size_t bytes = 0;
    std::size_t entries = 0;  // Begun ones, too.
  };

  CommandQueue(GroupId group, Intake& intake) noexcept : group_(group), intake_(intake) {}

  struct Submission {
    std::span<Proposal> proposals;  // Emptied of their Done if they are accepted.
    Class cls = Class::kUser;
    Term term = kAnyTerm;
  };
  [[nodiscard]] base::Result<void, ProposeError> push(const Submission& submission,
                                                      base::Elapsed now) CAD_EXCLUDES(mutex_);

  // The oldest batches, at most kPassBatchesMax and so many bytes (but one, if there is one).
  [[nodiscard]] std::vector<Batch> take(std::uint64_t hint_ms,
                                        std::size_t bytes_max = kPassBytesMax) CAD_EXCLUDES(mutex_);

  // So much was applied, or will never be.
  void settled(Amount amount) CAD_EXCLUDES(mutex_);

  // Refuses everything from now on; what waited and was never taken.
  [[nodiscard]] std::vector<Done> close() CAD_EXCLUDES(mutex_);

  // What waits for the log thread, and what is not applied yet: those that wait included.
  struct Load {
    Amount queued;
    Amount unapplied;
  };
  [[nodiscard]] Load load() const CAD_EXCLUDES(mutex_);

  // Refuses user commands, with this reason, until it is called with none.
  void refuse_users(std::string reason) CAD_EXCLUDES(mutex_);

 private:
  struct OpenBatch {
    BodyBuilder body;
    std::vector<Done> waiters;
    Term term = kAnyTerm;
    base::Elapsed opened{};
  };

  [[nodiscard]] base::Result<void, ProposeError> admit(Amount amount, Class cls) const
      CAD_REQUIRES(mutex_);
  OpenBatch& batch_for(std::size_t command_bytes, Term term, base::Elapsed now)
      CAD_REQUIRES(mutex_);

  const GroupId group_;
  Intake& intake_;

  mutable base::Mutex mutex_;
  bool closed_ CAD_GUARDED_BY(mutex_) = false;
  std::string users_refused_ CAD_GUARDED_BY(mutex_);  // Empty: they are not.
  std::deque<OpenBatch> batches_ CAD_GUARDED_BY(mutex_);
  Amount queued_ CAD_GUARDED_BY(mutex_);
  Amount unapplied_ CAD_GUARDED_BY(mutex_);  // Queued ones included.
};

}  // namespace cadastre::log
