// Complaints: what failed though nobody waited for it, told to the operator at a bounded rate.
//
// Such failures cost at most the time until a lease ends by itself; a warning says that they happen, not each time.
// Of each chore one line is written in kComplaintEvery, with the number of those that were not written before it.
//
// Safe from any thread.

#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "base/logger.h"
#include "base/mutex.h"
#include "base/result.h"
#include "coord/errors.h"
#include "coord/etcd/store.h"

namespace cadastre::coord::etcd {

enum class Chore : std::uint8_t {
  kRevoke,     // a lease that nobody needs stays until its time has run out
  kKeepAlive,  // an owner key may end before its worker's deadline
  kHint,       // a worker does not learn how much is left
};

inline constexpr std::chrono::seconds kComplaintEvery{10};

class Complaints {
 public:
  // Borrows both. Without a log nothing is written.
  Complaints(const base::Clock& clock, const base::Logger* log) noexcept
      : clock_(&clock), log_(log) {}

  void add(Chore chore, const base::Error<StoreError>& error);
  void add(Chore chore, const InfraError& error);

 private:
  struct Kind {
    std::optional<base::Elapsed> written_at = std::nullopt;
    std::uint64_t unwritten = 0;
  };

  void add(Chore chore, std::string_view why) CAD_EXCLUDES(mutex_);
  // How many went unwritten, if this one is to be written.
  [[nodiscard]] std::optional<std::uint64_t> admit(Chore chore) CAD_EXCLUDES(mutex_);

  // Constant after construction.
  const base::Clock* clock_;
  const base::Logger* log_;

  base::Mutex mutex_;
  std::array<Kind, 3> kinds_ CAD_GUARDED_BY(mutex_);  // by chore
};

}  // namespace cadastre::coord::etcd
