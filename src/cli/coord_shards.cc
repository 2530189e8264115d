#include "cli/coord_shards.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/command_error.h"
#include "cli/coord_error.h"
#include "cli/coord_request.h"
#include "cli/coord_session.h"
#include "cli/coord_shard_answer.h"
#include "cli/options.h"
#include "coord/backend.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/limits.h"
#include "coord/shard_summary.h"
#include "coord/states.h"

namespace cadastre::cli {
namespace {

// The answer to a request that says no more than that it was carried out.
template <class Done>
Result<std::string, CommandError> answer_done(const Done& done, Form form) {
  if (!done) return base::fail(from_coord(done.error()));
  return outcome_answer(done->outcome(), form);
}

}  // namespace

// Summaries hold three keys in place each: a long list is fetched in pages.
Result<std::string, CommandError> list_shards(CoordSession& session,
                                              const Caller& caller,
                                              coord::RunId run,
                                              const ShardListing& listing) {
  ShardListAnswer answer(session.form, session.mode);
  std::vector<coord::ShardSummary> shards;
  coord::ShardPage page{.limit = 0, .after = listing.after};
  for (std::uint64_t left = listing.limit;; left -= shards.size()) {
    page.limit = static_cast<std::size_t>(std::min<std::uint64_t>(left, coord::kListLimitDefault));
    const auto listed = session.backend.list_shards_into(caller.now, caller.tenant, run,
                                                         listing.filter, page, shards);
    if (!listed) return base::fail(from_coord(listed.error()));
    for (const coord::ShardSummary& shard : shards)
      CAD_TRY(answer.add(shard));
    if (shards.empty() || shards.size() < page.limit) break;
    page.after = shards.back().shard;
  }
  return std::move(answer).finish();
}

Result<std::string, CommandError> claim_shard(CoordSession& session,
                                              const Caller& caller,
                                              coord::RunId run,
                                              coord::WorkerId worker) {
  const auto claimed = session.backend.claim_next_available(caller.now, caller.tenant, run, worker,
                                                            *session.scratch);
  if (!claimed) return base::fail(from_coord(claimed.error()));
  return acquired_answer(*claimed, session.form);
}

Result<std::string, CommandError> acquire_shard(CoordSession& session,
                                                const Caller& caller,
                                                const coord::ShardKey& key,
                                                coord::WorkerId worker) {
  const auto acquired = session.backend.acquire_and_restore_into(caller.now, caller.tenant, key,
                                                                 worker, *session.scratch);
  if (!acquired) return base::fail(from_coord(acquired.error()));
  return acquired_answer(*acquired, session.form);
}

Result<std::string, CommandError> renew_lease(CoordSession& session,
                                              const Caller& caller,
                                              const coord::Lease& lease) {
  const auto renewed = session.backend.renew(caller.now, caller.tenant, lease);
  if (!renewed) return base::fail(from_coord(renewed.error()));
  return renewed_answer(lease, *renewed, session.form);
}

Result<std::string, CommandError> renew_leases(CoordSession& session,
                                               const Caller& caller,
                                               std::span<const coord::Lease> leases) {
  const auto renewed = session.backend.renew_many(caller.now, caller.tenant, leases);
  if (!renewed) return base::fail(from_coord(renewed.error()));
  return renewed_many_answer(leases, *renewed, session.form);
}

Result<std::string, CommandError> move_cursor(CoordSession& session,
                                              const Caller& caller,
                                              const coord::Lease& lease,
                                              const CursorRequest& request,
                                              coord::OpId op) {
  coord::CoordinationFacade& backend = session.backend;
  const auto cursor = request.cursor.update();
  switch (request.kind) {
    case CursorOp::kCheckpoint:
      return answer_done(backend.checkpoint(caller.now, caller.tenant, lease, cursor, op),
                         session.form);
    case CursorOp::kComplete:
      return answer_done(backend.complete(caller.now, caller.tenant, lease, cursor, op),
                         session.form);
    case CursorOp::kRelease: break;
  }
  return answer_done(backend.release_shard(caller.now, caller.tenant, lease, cursor, op),
                     session.form);
}

Result<std::string, CommandError> park_shard(CoordSession& session,
                                             const Caller& caller,
                                             const coord::Lease& lease,
                                             coord::ParkReason reason,
                                             coord::OpId op) {
  return answer_done(session.backend.park_shard(caller.now, caller.tenant, lease, reason, op),
                     session.form);
}

Result<std::string, CommandError> unpark_shard(CoordSession& session,
                                               const Caller& caller,
                                               const coord::ShardKey& key,
                                               coord::OpId op) {
  const auto unparked = session.backend.unpark_shard(caller.now, caller.tenant, key, op);
  if (!unparked) return base::fail(from_coord(unparked.error()));
  return unparked_answer(*unparked, session.form);
}

}  // namespace cadastre::cli
