// Operations on shards, from typed arguments to a printed answer. Splits are in coord_splits.h.

#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "cli/command_error.h"
#include "cli/coord_request.h"
#include "cli/coord_session.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/states.h"

namespace cadastre::cli {

using base::Result;

[[nodiscard]] Result<std::string, CommandError> list_shards(CoordSession& session,
                                                            const Caller& caller,
                                                            coord::RunId run,
                                                            const ShardListing& listing);

[[nodiscard]] Result<std::string, CommandError> claim_shard(CoordSession& session,
                                                            const Caller& caller,
                                                            coord::RunId run,
                                                            coord::WorkerId worker);

[[nodiscard]] Result<std::string, CommandError> acquire_shard(CoordSession& session,
                                                              const Caller& caller,
                                                              const coord::ShardKey& key,
                                                              coord::WorkerId worker);

[[nodiscard]] Result<std::string, CommandError> renew_lease(CoordSession& session,
                                                            const Caller& caller,
                                                            const coord::Lease& lease);

[[nodiscard]] Result<std::string, CommandError> renew_leases(CoordSession& session,
                                                             const Caller& caller,
                                                             std::span<const coord::Lease> leases);

// What a worker says about its cursor.
enum class CursorOp : std::uint8_t {
  kCheckpoint,
  kComplete,
  kRelease,
};

struct CursorRequest {
  CursorOp kind = CursorOp::kCheckpoint;
  OwnedCursor cursor;
};

[[nodiscard]] Result<std::string, CommandError> move_cursor(CoordSession& session,
                                                            const Caller& caller,
                                                            const coord::Lease& lease,
                                                            const CursorRequest& request,
                                                            coord::OpId op);

[[nodiscard]] Result<std::string, CommandError> park_shard(CoordSession& session,
                                                           const Caller& caller,
                                                           const coord::Lease& lease,
                                                           coord::ParkReason reason,
                                                           coord::OpId op);

[[nodiscard]] Result<std::string, CommandError> unpark_shard(CoordSession& session,
                                                             const Caller& caller,
                                                             const coord::ShardKey& key,
                                                             coord::OpId op);

}  // namespace cadastre::cli
