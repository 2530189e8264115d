// ClaimStream: waits for shards of a run to become free, without polling.
//
//   auto stream = remote->claims({tenant, run, worker, 8});
//   while (auto grant = CAD_TRY(stream->next())) work(*grant);      // nothing: the run has ended
//
// A grant that a lost connection swallowed is held until its lease ends; open another stream and go on. A
// server gives back what it could not deliver.
//
// One thread calls next(); any thread may cancel().

#pragma once

#include <optional>

#include "base/result.h"
#include "coord/errors.h"
#include "coord/worker_session.h"

namespace cadastre::client {

class ClaimStream {
 public:
  ClaimStream() = default;
  ClaimStream(const ClaimStream&) = delete;
  ClaimStream& operator=(const ClaimStream&) = delete;
  virtual ~ClaimStream() = default;

  // Waits for the next grant. Nothing once the run has ended or as many as were asked for were given; after
  // that, and after an error, always the same. NoneAvailable and Throttled never occur: it waits.
  [[nodiscard]] virtual base::Result<std::optional<coord::AcquiredShard>, coord::ClaimError>
  next() = 0;

  // Ends it: a next() that waits returns with kTransient.
  virtual void cancel() = 0;
};

}  // namespace cadastre::client
