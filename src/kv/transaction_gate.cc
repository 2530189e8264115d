#include "kv/transaction_gate.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <thread>

#include "base/check.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "kv/error.h"
#include "kv/store.h"

namespace cadastre::kv {

TransactionGate::TransactionGate(std::uint32_t readers_max) : slots_(readers_max) {
  free_slots_.resize(readers_max);
  std::iota(free_slots_.rbegin(), free_slots_.rend(), 0U);
}

Result<std::uint32_t, Error> TransactionGate::enter_read() {
  const base::MutexLock lock(mutex_);
  while (closed_)
    changed_.wait(mutex_);
  if (free_slots_.empty()) return base::fail(Error{ErrorCode::kReadersFull});
  const std::uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  return slot;
}

void TransactionGate::leave_read(std::uint32_t slot) {
  slots_[slot].commit.store(kNobody);
  const base::MutexLock lock(mutex_);
  CAD_CHECK(free_slots_.size() < slots_.size(), "a reader leaves once");
  free_slots_.push_back(slot);
  if (is_empty()) changed_.notify_all();
}

void TransactionGate::note_reader(std::uint32_t slot,
                                  std::uint64_t commit,
                                  base::Instant begun_at) noexcept {
  slots_[slot].begun_at.store(begun_at);
  slots_[slot].commit.store(commit);
}

Result<void, Error> TransactionGate::enter_write() {
  const base::MutexLock lock(mutex_);
  if (writer_ == std::this_thread::get_id()) return base::fail(Error{ErrorCode::kBusy});
  while (closed_ || writer_)
    changed_.wait(mutex_);
  writer_ = std::this_thread::get_id();
  return {};
}

void TransactionGate::leave_write() {
  const base::MutexLock lock(mutex_);
  CAD_CHECK(writer_ == std::this_thread::get_id(), "a writer ends in the thread that began it");
  writer_.reset();
  changed_.notify_all();
}

Result<void, Error> TransactionGate::close(OpenTransactions others) {
  const base::MutexLock lock(mutex_);
  const bool is_free = !closed_ && is_empty();
  if (!is_free && others == OpenTransactions::kRefuse) return base::fail(Error{ErrorCode::kBusy});
  while (closed_)
    changed_.wait(mutex_);
  closed_ = true;
  while (!is_empty())
    changed_.wait(mutex_);
  return {};
}

void TransactionGate::reopen() {
  const base::MutexLock lock(mutex_);
  closed_ = false;
  changed_.notify_all();
}

std::uint32_t TransactionGate::readers_max() const noexcept {
  return static_cast<std::uint32_t>(slots_.size());
}

std::uint32_t TransactionGate::readers_open() const {
  const base::MutexLock lock(mutex_);
  return static_cast<std::uint32_t>(slots_.size() - free_slots_.size());
}

std::optional<OldestReader> TransactionGate::oldest_reader(std::uint64_t last_commit,
                                                           base::Instant now) const {
  std::optional<OldestReader> oldest;
  for (const Slot& slot : slots_) {
    const std::uint64_t commit = slot.commit.load();
    if (commit == kNobody) continue;
    if (!oldest) oldest.emplace();
    oldest->commits_behind =
        std::max(oldest->commits_behind, last_commit - std::min(last_commit, commit));
    oldest->age = std::max(oldest->age, now - slot.begun_at.load());
  }
  return oldest;
}

bool TransactionGate::is_empty() const {
  return !writer_ && free_slots_.size() == slots_.size();
}

}  // namespace cadastre::kv
