// TransactionGate: who may have a transaction now. For backends, which ask here before they begin.
//
// Invariants
//   1. At most one writer is inside; a second one waits.
//   2. At most readers_max readers are inside, each with a slot of its own; one more is refused.
//   3. While the gate is closed nobody is inside, and whoever comes waits.
//
// Safe from any thread. A writer leaves in the thread that entered.

#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "kv/error.h"
#include "kv/store.h"

namespace cadastre::kv {

class TransactionGate {
 public:
  explicit TransactionGate(std::uint32_t readers_max);

  // The reader's slot, below readers_max: the one that was left last.
  [[nodiscard]] Result<std::uint32_t, Error> enter_read() CAD_EXCLUDES(mutex_);
  void leave_read(std::uint32_t slot) CAD_EXCLUDES(mutex_);
  // What the reader in a slot sees, and since when: for oldest_reader().
  void note_reader(std::uint32_t slot, std::uint64_t commit, base::Instant begun_at) noexcept;

  // kBusy if this thread has entered before.
  [[nodiscard]] Result<void, Error> enter_write() CAD_EXCLUDES(mutex_);
  void leave_write() CAD_EXCLUDES(mutex_);

  [[nodiscard]] Result<void, Error> close(OpenTransactions others) CAD_EXCLUDES(mutex_);
  void reopen() CAD_EXCLUDES(mutex_);

  [[nodiscard]] std::uint32_t readers_max() const noexcept;
  [[nodiscard]] std::uint32_t readers_open() const CAD_EXCLUDES(mutex_);
  [[nodiscard]] std::optional<OldestReader> oldest_reader(std::uint64_t last_commit,
                                                          base::Instant now) const;

 private:
  using ThreadId = decltype(std::this_thread::get_id());
  static constexpr std::uint64_t kNobody = UINT64_MAX;

  // Written by the slot's reader, read by whoever asks for the oldest.
  struct Slot {
    std::atomic<std::uint64_t> commit = kNobody;
    std::atomic<base::Instant> begun_at;
  };

  [[nodiscard]] bool is_empty() const CAD_REQUIRES(mutex_);

  std::vector<Slot> slots_;

  mutable base::Mutex mutex_;
  base::CondVar changed_;
  std::vector<std::uint32_t> free_slots_ CAD_GUARDED_BY(mutex_);  // The last one is next.
  std::optional<ThreadId> writer_ CAD_GUARDED_BY(mutex_);
  bool closed_ CAD_GUARDED_BY(mutex_) = false;
};

}  // namespace cadastre::kv
