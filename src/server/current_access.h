// CurrentAccess: the access table in force, which an operator may replace while calls are under way.
//
// Each decision is by one table, the old or the new. A server that began without tokens has none later, and the
// reverse: what callers must send does not change under them. Calls under way and open claim streams keep what they
// were allowed.
//
// Safe from any thread.

#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/mutex.h"
#include "coord/identity.h"
#include "server/access.h"

namespace cadastre::server {

class CurrentAccess {
 public:
  explicit CurrentAccess(AccessTable table)
      : needs_token_(table.needs_token()),
        table_(std::make_shared<const AccessTable>(std::move(table))) {}
  CurrentAccess(const CurrentAccess&) = delete;
  CurrentAccess& operator=(const CurrentAccess&) = delete;
  ~CurrentAccess() = default;

  [[nodiscard]] bool needs_token() const noexcept { return needs_token_; }

  [[nodiscard]] Access decide(std::string_view authorization, const coord::TenantId& tenant) const
      CAD_EXCLUDES(mutex_) {
    return needs_token_ ? table()->decide(authorization, tenant) : Access::kAllowed;
  }

  void replace(AccessTable table) CAD_EXCLUDES(mutex_) {
    CAD_CHECK(table.needs_token() == needs_token_, "tokens are needed for a server's whole life");
    auto next = std::make_shared<const AccessTable>(std::move(table));
    const base::MutexLock lock(mutex_);
    table_.swap(next);
  }

 private:
  [[nodiscard]] std::shared_ptr<const AccessTable> table() const CAD_EXCLUDES(mutex_) {
    const base::MutexLock lock(mutex_);
    return table_;
  }

  const bool needs_token_;
  mutable base::Mutex mutex_;
  std::shared_ptr<const AccessTable> table_ CAD_GUARDED_BY(mutex_);
};

}  // namespace cadastre::server
