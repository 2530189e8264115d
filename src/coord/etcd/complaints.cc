#include "coord/etcd/complaints.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "coord/errors.h"
#include "coord/etcd/store.h"

namespace cadastre::coord::etcd {
namespace {

std::string_view text_of(StoreError error) {
  switch (error) {
    case StoreError::kUnavailable: return "etcd is not available";
    case StoreError::kOutcomeUnknown: return "no answer came";
    case StoreError::kRefused: return "etcd refuses it";
    case StoreError::kCompacted: return "etcd has forgotten the revision";
    case StoreError::kNoLease: break;
  }
  return "the lease is gone";
}

}  // namespace

void Complaints::add(Chore chore, const base::Error<StoreError>& error) {
  add(chore, text_of(error.code));
}

void Complaints::add(Chore chore, const InfraError& error) {
  add(chore, error.kind == InfraError::Kind::kCorruption ? "a record is damaged"
                                                         : "etcd is not available");
}

std::optional<std::uint64_t> Complaints::admit(Chore chore) {
  const base::Elapsed at = clock_->elapsed();
  const base::MutexLock lock(mutex_);
  Kind& kind = kinds_.at(static_cast<std::size_t>(chore));
  if (kind.written_at && at - *kind.written_at < kComplaintEvery) {
    ++kind.unwritten;
    return std::nullopt;
  }
  kind.written_at = at;
  return std::exchange(kind.unwritten, 0);
}

void Complaints::add(Chore chore, std::string_view why) {
  if (log_ == nullptr) return;
  const auto unwritten = admit(chore);
  if (!unwritten) return;
  switch (chore) {
    case Chore::kRevoke:
      return log_->warn("etcd lease not revoked", {{"why", why}, {"unwritten", *unwritten}});
    case Chore::kKeepAlive:
      return log_->warn("etcd lease not kept alive", {{"why", why}, {"unwritten", *unwritten}});
    case Chore::kHint:
      return log_->warn("capacity not counted", {{"why", why}, {"unwritten", *unwritten}});
  }
}

}  // namespace cadastre::coord::etcd
